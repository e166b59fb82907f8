import type { AuditEntry } from '../core/audit/audit-entry.ts'
import { CanonicalText } from '../core/canonical-json.ts'
import type { EventType } from '../core/webhooks/event-types.ts'
import { nodeId } from '../ids/node-id.ts'
import { auditEntryRow } from '../store/queries/audit-trail.ts'
import type { UsageCounter } from '../store/queries/usage.ts'
import type { RowOf } from '../store/schema/tables.ts'
import type { Change } from '../store/write-path/change.ts'
import type { RequestContext } from './define-endpoint.ts'

/** Something that happened to a subject. It goes on the audit trail and out as an event, both with the same thin data. */
export interface Happening {
  type: EventType
  subject: { type: string; id: string }
  /** The entity on whose trail it is listed. */
  trailId: string
  /** Ids, versions, verdicts: never personal data, because neither an entry nor an event can be taken back. */
  data: Record<string, unknown>
}

/** Completes a change with the audit entries, events and counts of what happened. */
export function record(
  context: Pick<RequestContext, 'caller' | 'now' | 'newId' | 'requestId'>,
  {
    happenings,
    counts = [],
    ...change
  }: Omit<Change, 'auditEntries' | 'usage'> & {
    happenings: Happening[]
    counts?: [counter: UsageCounter, count: number][]
  },
): Change {
  const { caller, now } = context
  const written = happenings.map((happening) => ({ ...happening, data: new CanonicalText(happening.data) }))
  return {
    ...change,
    rows: { ...change.rows, events: written.map((happening) => eventRow(context, happening)) },
    auditEntries: written.map((happening) => auditRow(context, happening)),
    usage: counts.map(([counter, count]) => ({
      org_id: caller.organizationId,
      day: now.slice(0, 10),
      node: nodeId,
      counter,
      count,
    })),
  }
}

type WrittenHappening = Omit<Happening, 'data'> & { data: CanonicalText }

function eventRow(
  { caller, newId, now }: Pick<RequestContext, 'caller' | 'newId' | 'now'>,
  { type, data }: WrittenHappening,
): RowOf<'events'> {
  return { org_id: caller.organizationId, id: newId('evt'), type, created_at: now, data: data.text }
}

function auditRow(
  context: Pick<RequestContext, 'caller' | 'newId' | 'now' | 'requestId'>,
  { type, subject, trailId, data }: WrittenHappening,
): RowOf<'audit_entries'> {
  const { caller, newId, now, requestId } = context
  const entry: AuditEntry = {
    actor: { id: caller.keyId, type: 'api_key' },
    data,
    id: newId('aud'),
    occurred_at: now,
    request_id: requestId,
    subject,
    trail_id: trailId,
    type,
  }
  return auditEntryRow(caller.organizationId, entry)
}
