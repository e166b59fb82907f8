import { entriesForAccount } from '../admin/entries.ts'
import type { AuditData, AuditEntryType } from '../core/audit/audit-data.ts'
import type { Installation } from '../installation/installation.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'

/** Writes an audit entry about an account to the production log of every organization that it acts for. */
export async function recordForAccount<T extends Extract<AuditEntryType, `operator.${string}`>>(
  installation: Installation,
  accountId: string,
  { type, data }: { type: T; data: AuditData<T> },
): Promise<void> {
  const entriesOf = await entriesForAccount(installation, accountId)
  for (const { organizationId, entry } of entriesOf(type, data))
    await commitOrThrow(installation.stores.production, { organizationId, auditEntries: [entry] })
}
