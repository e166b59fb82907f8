import type { AuditData, AuditEntryType } from '../core/audit/audit-data.ts'
import type { AuditActor } from '../core/audit/audit-entry.ts'
import type { NewId } from '../ids/new-id.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { WebhookEndpoint } from '../store/environment/webhooks.ts'
import { commitUnlessForestalled } from '../store/write-path/commit-or-throw.ts'
import { type AuditEntryRow, auditEntryRow, type RecordContext } from '../store/write-path/record.ts'

/** Why a webhook endpoint is disabled, when, and by whom. */
export interface Disabling {
  actor: AuditActor
  why: string
  /** ISO 8601. */
  now: string
}

/** Disables a webhook endpoint and writes an audit entry; false if a concurrent change came first. */
export async function disableEndpoint(
  { store, newId, requestId = null }: { store: EnvironmentStore; newId: NewId; requestId?: string | null | undefined },
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
  const context = { actor, now, newId, requestId }
  const entry = endpointEntry(endpoint, context, { type: 'webhook_endpoint.disabled', data: { why } })
  return commitUnlessForestalled(store, {
    organizationId: endpoint.org_id,
    changedEndpoints: [next],
    auditEntries: [entry],
  })
}

/** Builds the audit entry of a change. It names the host only: the rest of the URL may hold a secret. */
export function endpointEntry<T extends WebhookEndpointEntryType>(
  endpoint: Pick<WebhookEndpoint, 'org_id' | 'id' | 'shown_url'>,
  context: Omit<RecordContext, 'organizationId'>,
  { type, data }: { type: T; data: Omit<AuditData<T>, 'host'> },
): AuditEntryRow {
  return auditEntryRow(
    { ...context, organizationId: endpoint.org_id },
    {
      type,
      trailId: endpoint.id,
      subject: { type: 'webhook_endpoint', id: endpoint.id },
      data: { host: new URL(endpoint.shown_url).host, ...data } as AuditData<T>,
    },
  )
}

/** The types of audit entries about a webhook endpoint. */
export type WebhookEndpointEntryType = Extract<AuditEntryType, `webhook_endpoint.${string}`>
