import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow } from '../store/write-path/record.ts'
import { contextOf, type EnvironmentAct, type OperatorActor, permitted } from './act.ts'

/** Puts on the log that an operator reads rows for a file, and by which filter. What their role does not see is not in it. */
export const recordExport = permitted(
  'export data',
  async (
    installation,
    act: EnvironmentAct<OperatorActor>,
    { list, filter }: { list: string; filter: Readonly<Record<string, string | undefined>> },
  ): Promise<void> => {
    const { environment, organizationId } = act
    const entry = auditEntryRow(contextOf(installation, act), {
      type: 'data.exported',
      trailId: organizationId,
      subject: { type: 'organization', id: organizationId },
      data: { list, filter },
    })
    await commitOrThrow(installation.stores[environment], { organizationId, auditEntries: [entry] })
  },
)
