import type { AuditEntry } from '../core/audit/audit-entry.ts'
import type { NewId } from '../ids/ids.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { auditEntryRow } from '../store/queries/audit-trail.ts'
import type { WebhookEndpoint } from '../store/queries/webhooks.ts'
import type { RowOf } from '../store/schema/tables.ts'

/** Why an endpoint gets nothing any more, and on whose word. */
export interface Disabling {
  actor: AuditEntry['actor']
  why: string
  /** ISO 8601. */
  now: string
}

/** Disables an endpoint and puts it on record; false if somebody else changed it first. What waits for it is kept. */
export async function disableEndpoint(
  { store, newId }: { store: EnvironmentStore; newId: NewId },
  endpoint: WebhookEndpoint,
  { actor, why, now }: Disabling,
): Promise<boolean> {
  const next = {
    ...endpoint,
    state: 'disabled',
    disabled_at: now,
    disabled_why: why,
    version: endpoint.version + 1,
  }
  const entry = { id: newId('aud'), now, type: 'webhook_endpoint.disabled', actor, data: { why } }
  const { lost } = await store.commit({ changedEndpoints: [next], auditEntries: [endpointEntry(endpoint, entry)] })
  return lost === undefined
}

/** The audit entry of something that was done with an endpoint. Of its URL only the host is told: the rest may be secret. */
export function endpointEntry(
  endpoint: Pick<WebhookEndpoint, 'org_id' | 'id' | 'url'>,
  { id, now, type, actor, data }: { id: string; now: string; type: string } & Pick<AuditEntry, 'actor' | 'data'>,
): RowOf<'audit_entries'> {
  return auditEntryRow(endpoint.org_id, {
    id,
    trail_id: endpoint.id,
    type,
    occurred_at: now,
    actor,
    request_id: null,
    subject: { type: 'webhook_endpoint', id: endpoint.id },
    data: { host: new URL(endpoint.url).host, ...data },
  })
}
