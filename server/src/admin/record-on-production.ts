import type { AuditOnlyType } from '../core/audit/audit-data.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../installation/installation.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow, type NewAuditEntry } from '../store/write-path/record.ts'
import { recordContext } from './record-context.ts'

/** Writes an audit entry about operators or the live gate, which belong to no environment, to the production log. */
export async function recordOnProduction<T extends AuditOnlyType>(
  installation: Installation,
  by: { organizationId: string; actor: AdminActor },
  entry: NewAuditEntry<T>,
): Promise<void> {
  const auditEntry = auditEntryRow(recordContext(installation, by), entry)
  await commitOrThrow(installation.stores.production, { organizationId: by.organizationId, auditEntries: [auditEntry] })
}
