import type { AuditEntry } from '../core/audit/audit-entry.ts'
import type { NewId } from '../ids/ids.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { auditEntryRow } from '../store/queries/audit-trail.ts'
import type { WebhookEndpoint } from '../store/queries/webhooks.ts'
import type { RowOf } from '../store/schema/tables.ts'

/** Why a webhook endpoint is disabled, when, and by whom. */
export interface Disabling {
  actor: AuditEntry['actor']
  why: string
  /** ISO 8601. */
  now: string
}

/** Disables a webhook endpoint and writes an audit entry; false if a concurrent change came first. Its pending deliveries stay. */
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

/** Builds the audit entry of a change of a webhook endpoint. It names the host only: the rest of the URL may hold a secret. */
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
