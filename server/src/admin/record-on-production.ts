import type { AuditEntry } from '../core/audit/audit-entry.ts'
import type { Installation } from '../service/installation.ts'
import { auditEntryRow } from '../store/queries/audit-trail.ts'

/** Puts what belongs to no environment (operators, the live gate) on the log of production, where it matters. */
export async function recordOnProduction(
  { stores, newId, nowMs }: Installation,
  organizationId: string,
  entry: Pick<AuditEntry, 'trail_id' | 'type' | 'actor' | 'subject' | 'data'>,
): Promise<void> {
  const occurredAt = new Date(nowMs()).toISOString()
  const whole = { ...entry, id: newId('aud'), occurred_at: occurredAt, request_id: null }
  await stores.production.commit({ auditEntries: [auditEntryRow(organizationId, whole)] })
}
