import type { AuditData, AuditEntryType } from '../core/audit/audit-data.ts'
import type { Installation } from '../service/installation.ts'
import { operatorsOfAccount } from '../store/queries/operators.ts'
import { recordOnProduction } from './record-on-production.ts'

/** Writes an audit entry about an account to the production log of every organization that it acts for. */
export async function recordForAccount<T extends AuditEntryType & `operator.${string}`>(
  installation: Installation,
  accountId: string,
  { type, data }: { type: T; data: AuditData<T> },
): Promise<void> {
  for (const { org_id, id } of await operatorsOfAccount(installation.storage.control, accountId))
    await recordOnProduction(
      installation,
      { organizationId: org_id, actor: { type: 'operator', id } },
      { type, trailId: id, subject: { type: 'operator', id }, data },
    )
}
