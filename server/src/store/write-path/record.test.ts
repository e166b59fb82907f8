import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAuditedEvent } from '../../core/audit/audit-data.ts'
import { leafHashOf } from '../../core/audit/audit-entry.ts'
import { EVENT_TYPES } from '../../core/webhooks/event-types.ts'
import {
  type AuditEntryRow,
  auditEntryRow,
  type DomainEvent,
  domainEventRows,
  eventIdOf,
  eventRow,
  type RecordContext,
} from './record.ts'

let ids = 0
const context: RecordContext = {
  organizationId: 'org_1',
  actor: { type: 'api_key', id: 'key_1' },
  now: '2026-11-15T09:30:00.000Z',
  requestId: 'req_1',
  newId: (prefix) => `${prefix}_${++ids}`,
}
const created: DomainEvent = {
  type: 'entity.created',
  trailId: 'ent_1',
  subject: { type: 'entity', id: 'ent_1' },
  data: { entity_id: 'ent_1' },
}

test('a domain event is one audit entry, and the event has the id of the entry with its own prefix', () => {
  const [entry, ...others] = domainEventRows(context, [created])
  assert.deepEqual(others, [])
  const { id, type, data, occurred_at } = entry!
  assert.deepEqual([type, data, occurred_at], ['entity.created', '{"entity_id":"ent_1"}', context.now])
  assert.equal(eventIdOf(id), id.replace('aud_', 'evt_'))
})

test('every type of event is stored once: as an audit entry, or as an event of its own', () => {
  const separate = EVENT_TYPES.filter((type) => !isAuditedEvent(type))
  assert.deepEqual(separate, [
    'entity.merged',
    'entity.erased',
    'decision.outcome_retracted',
    'policy.activated',
    'audit.checkpoint',
  ])
})

test('the leaf hash of an entry is that of the row as verification reads it back', () => {
  const [row] = domainEventRows(context, [created]) as [AuditEntryRow]
  const { id, trail_id, type, occurred_at, request_id } = row
  const read = {
    id,
    trail_id,
    type,
    occurred_at,
    request_id,
    actor: { type: 'api_key', id: row.actor_id } as const,
    subject: { type: row.subject_type, id: row.subject_id },
    data: JSON.parse(row.data),
  }
  assert.equal(row.leaf_hash, leafHashOf('org_1', read))
})

test('a type that is not in the catalogue, or data of another type, does not compile', () => {
  const entry = { trailId: 'ent_1', subject: created.subject }
  const wrong = [
    // @ts-expect-error no such type of event
    () => eventRow(context, 'entity.deleted', { entity_id: 'ent_1' }),
    // @ts-expect-error the data of another type
    () => eventRow(context, 'policy.activated', { decision_id: 'dec_1' }),
    // @ts-expect-error a type whose events are audit entries
    () => eventRow(context, 'entity.created', { entity_id: 'ent_1' }),
    // @ts-expect-error a type whose entries are events
    () => auditEntryRow(context, created),
    // @ts-expect-error no such type of audit entry
    () => auditEntryRow(context, { ...entry, type: 'entity.deleted', data: { entity_id: 'ent_1' } }),
    // @ts-expect-error a verdict that does not exist
    (): DomainEvent => ({ ...entry, type: 'decision.reviewed', data: { verdict: 'maybe' } }),
    // @ts-expect-error an operator's role is missing
    () => auditEntryRow(context, { ...entry, type: 'operator.added', data: {} }),
  ]
  assert.equal(wrong.length, 7)
})
