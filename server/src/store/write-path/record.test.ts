import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leafHashOf } from '../../core/audit/audit-entry.ts'
import { auditEntryRow, type DomainEvent, domainEventRows, eventRow, type RecordContext } from './record.ts'

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

test('a domain event is one event and one audit entry with the same type, time and data', () => {
  const { events, auditEntries } = domainEventRows(context, [created])
  const [event, entry] = [events[0]!, auditEntries[0]!]
  assert.equal(events.length + auditEntries.length, 2)
  const shared = { type: 'entity.created', data: '{"entity_id":"ent_1"}' }
  assert.deepEqual({ ...event, ...shared }, event)
  assert.deepEqual({ ...entry, ...shared }, entry)
  assert.equal(event.created_at, context.now)
  assert.equal(entry.occurred_at, context.now)
})

test('the leaf hash of an entry is that of the row as verification reads it back', () => {
  const row = auditEntryRow(context, created)
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
    () => eventRow(context, 'entity.created', { decision_id: 'dec_1' }),
    // @ts-expect-error no such type of audit entry
    () => auditEntryRow(context, { ...entry, type: 'entity.deleted', data: { entity_id: 'ent_1' } }),
    // @ts-expect-error a verdict that does not exist
    (): DomainEvent => ({ ...entry, type: 'decision.reviewed', data: { verdict: 'maybe' } }),
    // @ts-expect-error an operator's role is missing
    () => auditEntryRow(context, { ...entry, type: 'operator.added', data: {} }),
  ]
  assert.equal(wrong.length, 5)
})
