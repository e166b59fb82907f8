import type { AuditData, AuditEntryType, AuditedEventType } from '../../core/audit/audit-data.ts'
import { type AuditActor, type AuditEntry, type AuditSubject, leafHashOf } from '../../core/audit/audit-entry.ts'
import { CanonicalText, canonicalJson } from '../../core/canonical-json.ts'
import type { EventData, EventType } from '../../core/webhooks/event-types.ts'
import type { NewId } from '../../ids/new-id.ts'
import type { NewRow } from '../schema/tables.ts'

/** The row of an audit entry, of a type of the catalogue. The store adds its MAC when it writes the row. */
export type AuditEntryRow = Omit<NewRow<'audit_entries'>, 'mac'> & { type: AuditEntryType }

/** The row of an audit entry with its MAC. */
export type AuthenticatedEntryRow = AuditEntryRow & { mac: string }

/** The row of an event, of a type of the catalogue. */
export type EventRow = NewRow<'events'> & { type: EventType }

/** What all audit entries and events of one act share: whose log they are on, who acted, and when. */
export interface RecordContext {
  organizationId: string
  actor: AuditActor
  /** ISO 8601. */
  now: string
  /** The request of the API or the console that caused it; null for commands and background work. */
  requestId: string | null
  newId: NewId
}

/** An audit entry before it has an id and a time. */
export interface NewAuditEntry<T extends AuditEntryType> {
  type: T
  /** The trail that lists it: an entity's, or its subject's own. */
  trailId: string
  subject: AuditSubject
  data: AuditData<T>
}

/** An event that is also on the audit log, both with the same data. */
export type DomainEvent = { [T in AuditedEventType]: NewAuditEntry<T> }[AuditedEventType]

/** The row of an audit entry. This and `domainEventRows` are the only ways to write one. */
export function auditEntryRow<T extends AuditEntryType>(
  context: RecordContext,
  entry: NewAuditEntry<T>,
): AuditEntryRow {
  return auditRow(context, { ...entry, data: new CanonicalText(entry.data) })
}

/** The row of an event that is not on the audit log with the same data. */
export function eventRow<T extends EventType>(
  { now, newId }: Pick<RecordContext, 'now' | 'newId'>,
  type: T,
  data: EventData<T>,
): EventRow {
  return { id: newId('evt'), type, created_at: now, data: canonicalJson(data) }
}

/** The rows of domain events: an audit entry and an event for each. Their shared data is serialized once. */
export function domainEventRows(
  context: RecordContext,
  domainEvents: readonly DomainEvent[],
): { auditEntries: AuditEntryRow[]; events: EventRow[] } {
  const { now, newId } = context
  const serialized = domainEvents.map((event) => ({ ...event, data: new CanonicalText(event.data) }))
  return {
    events: serialized.map(({ type, data }) => ({
      id: newId('evt'),
      type,
      created_at: now,
      data: data.text,
    })),
    auditEntries: serialized.map((event) => auditRow(context, event)),
  }
}

interface SerializedEntry {
  type: AuditEntryType
  trailId: string
  subject: AuditSubject
  data: CanonicalText
}

function auditRow(
  { organizationId, actor, now, requestId, newId }: RecordContext,
  { type, trailId, subject, data }: SerializedEntry,
): AuditEntryRow {
  const id = newId('aud')
  // Members in the order of their names, which spares the canonical form from sorting them.
  const entry: AuditEntry = {
    actor: { id: actor.id, type: actor.type },
    data,
    id,
    occurred_at: now,
    request_id: requestId,
    subject,
    trail_id: trailId,
    type,
  }
  return {
    id,
    trail_id: trailId,
    type,
    occurred_at: now,
    actor_type: actor.type,
    actor_id: actor.id,
    request_id: requestId,
    subject_type: subject.type,
    subject_id: subject.id,
    data: data.text,
    leaf_hash: leafHashOf(organizationId, entry),
  }
}
