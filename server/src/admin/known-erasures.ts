/** What an operator does about the erasures that are known outside the database, after an older backup was restored. */
import { applyErasures, type ErasedAgain, type ErasureParts, isMissing } from '../audit/apply-erasures.ts'
import { ForeignErasure, MissingErasures } from '../audit/known-erasures.ts'
import { ENVIRONMENTS, type Environment } from '../config.ts'
import type { Installation } from '../installation/installation.ts'
import { listOrganizations } from '../store/control/organizations.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow, type RecordContext } from '../store/write-path/record.ts'
import { actorOf, type InstallationAct, type Reasoned, withReason } from './act.ts'
import { conflict, invalid } from './problem.ts'

/** What came of a file of erasures. */
export interface SuppliedErasures {
  environment: Environment
  /** How many of its erasures this node did not know. */
  supplied: number
  erased_again: ErasedAgain[]
}

/** A log on which the loss of the file is on record. */
export interface WaivedErasures {
  environment: Environment
  organization_id: string
}

/** What comparing the erasures of an environment needs. */
export function erasureParts(
  { storage, stores, knownErasures, knownHeads, newId, nowMs }: Installation,
  environment: Environment,
  actor: RecordContext['actor'],
): ErasureParts {
  return {
    environment,
    store: stores[environment],
    knownErasures: knownErasures[environment],
    knownHeads: knownHeads[environment],
    isEmbedded: storage.embedded,
    context: { actor, now: new Date(nowMs()).toISOString(), requestId: null, newId },
  }
}

/** Takes the erasures of a file, such as that of another node, and applies them to the database. */
export async function supplyErasures(
  installation: Installation,
  act: InstallationAct,
  { environment, file, text }: { environment: Environment; file: string; text: string },
): Promise<SuppliedErasures> {
  const parts = erasureParts(installation, environment, actorOf(act))
  parts.knownErasures.reload()
  try {
    const supplied = parts.knownErasures.supply(text, file)
    return { environment, supplied, erased_again: await applyErasures(parts) }
  } catch (error) {
    if (error instanceof ForeignErasure) throw invalid('erasures_foreign', `${error.message}.`)
    if (error instanceof MissingErasures) throw invalid('erasures_empty', `${error.message}.`)
    throw error
  }
}

/**
 * Goes on without the file of an environment that was lost: whom it named is not erased again. Every log has an entry about it.
 * Returns the logs; none if no file is missing.
 */
export async function waiveErasures(
  installation: Installation,
  asked: Reasoned<InstallationAct>,
): Promise<WaivedErasures[]> {
  const act = withReason(asked)
  const waived: WaivedErasures[] = []
  const organizations = await listOrganizations(installation.storage.control)
  for (const environment of ENVIRONMENTS) {
    const parts = erasureParts(installation, environment, actorOf(act))
    const { store, knownErasures, context } = parts
    const { place, comparedAt } = await store.erasures.compared()
    if (!(await isMissing(parts, { place, comparedAt }))) continue
    if (place === null)
      throw conflict('database_read_only', `The ${environment} database accepts no writes, so nothing can be recorded.`)
    for (const { id: organizationId } of organizations) {
      const entry = auditEntryRow(
        { ...context, organizationId },
        {
          type: 'audit_log.erasures_waived',
          trailId: organizationId,
          subject: { type: 'organization', id: organizationId },
          data: { reason: act.reason },
        },
      )
      await commitOrThrow(store, { organizationId, auditEntries: [entry] })
      waived.push({ environment, organization_id: organizationId })
    }
    knownErasures.make()
    await applyErasures(parts)
  }
  return waived
}
