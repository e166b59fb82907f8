import type { AuditData, AuditEntryType, AuditedEventType, AuditOnlyType } from '../../core/audit/audit-data.ts'
import { type AuditActor, type AuditEntry, type AuditSubject, leafHashOf } from '../../core/audit/audit-entry.ts'
import { CanonicalText, canonicalJson } from '../../core/canonical-json.ts'
import type { EventData, EventType } from '../../core/webhooks/event-types.ts'
import type { NewId } from '../../ids/new-id.ts'
import type { NewRow } from '../schema/tables.ts'
import { storeData } from './entry-data.ts'

/** The row of an audit entry, of a type of the catalogue, with its hash. The store adds its MAC when it writes the row. */
export type AuditEntryRow = Omit<NewRow<'audit_entries'>, 'mac'> & { type: AuditEntryType; leaf_hash: string }

/** The row of an audit entry with its MAC. */
export type AuthenticatedEntryRow = AuditEntryRow & { mac: Uint8Array }

/** The types of events that are stored as such. */
export type SeparateEventType = Exclude<EventType, AuditedEventType>

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

/** An audit entry that is an event too. */
export type DomainEvent = { [T in AuditedEventType]: NewAuditEntry<T> }[AuditedEventType]

/** That an open offer ended, or did not open, because a later request has the same reference. */
export type OfferReplaced = NewAuditEntry<'decision.offer_replaced'>

/** The row of an audit entry that is no event. This and `domainEventRows` are the only ways to write one. */
export function auditEntryRow<T extends AuditOnlyType>(context: RecordContext, entry: NewAuditEntry<T>): AuditEntryRow {
  return auditRow(context, entry)
}

/** The rows of domain events. The statement that writes them queues their deliveries. */
export function domainEventRows(context: RecordContext, domainEvents: readonly DomainEvent[]): AuditEntryRow[] {
  return domainEvents.map((event) => auditRow(context, event))
}

/** The row of an event that is not an audit entry. */
export function eventRow<T extends SeparateEventType>(
  { now, newId }: Pick<RecordContext, 'now' | 'newId'>,
  type: T,
  data: EventData<T>,
): EventRow {
  return { id: newId('evt'), type, created_at: now, data: canonicalJson(data) }
}

/** The types of entries that record a new object of the API. Each shares the random part of its id with the object. */
const RECORDING_TYPES: ReadonlySet<AuditEntryType> = new Set<AuditEntryType>([
  'entity.created',
  'identity_link.created',
  'consent.granted',
  'consent.revoked',
  'transactions.ingested',
  'feature_snapshot.created',
  'decision.created',
  'decision.reviewed',
  'decision.outcome_recorded',
])

/** The id of the entry that records an object: so the entry is found by its key, and no index has to lead to it. */
export function entryIdOf(recordId: string): string {
  return `aud_${recordId.slice(recordId.indexOf('_') + 1)}`
}

/** The id of the event that an audit entry is. */
export function eventIdOf(entryId: string): string {
  return `evt_${entryId.slice('aud_'.length)}`
}

function auditRow(
  { organizationId, actor, now, requestId, newId }: RecordContext,
  { type, trailId, subject, data: content }: NewAuditEntry<AuditEntryType>,
): AuditEntryRow {
  const id = RECORDING_TYPES.has(type) ? entryIdOf(subject.id) : newId('aud')
  const data = new CanonicalText(content) // serialized once, for the row and for its hash
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
    ...storeData(type, content, data.text),
    leaf_hash: leafHashOf(organizationId, entry),
  }
}
