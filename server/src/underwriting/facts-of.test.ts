import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityRow } from '../../tests/entity-row.ts'
import { applyConsent, type ConsentFact, emptyState } from '../core/facts/entity-state.ts'
import { createNewId } from '../ids/new-id.ts'
import type { EntityToDecide } from '../store/environment/entities.ts'
import { factsOf, stateOf } from './facts-of.ts'

const consent: ConsentFact = {
  purpose: 'credit_underwriting',
  status: 'granted',
  dataCategories: ['transactions'],
  grantedAt: '2026-11-15T09:30:00.000Z',
}

test('an unchanged state is parsed once, and the shared object cannot be changed', () => {
  const state = JSON.stringify(applyConsent(emptyState(), consent))
  const read = stateOf({ state, graph: null })
  assert.deepEqual(read, JSON.parse(state))
  assert.equal(stateOf({ state, graph: null }), read)
  assert.throws(() => Object.assign(read, { format: 2 }), TypeError)
  assert.throws(() => Object.assign(read.consents, { another: {} }), TypeError)
  assert.throws(() => read.graph.paths.push({} as never), TypeError)
})

test('the exposure is added to the state, and the cached state stays as it was', () => {
  const state = JSON.stringify(emptyState())
  const graph = { ...emptyState().graph, evidenceCount: 3 }
  assert.deepEqual(stateOf({ state, graph: JSON.stringify(graph) }), { ...emptyState(), graph })
  assert.deepEqual(stateOf({ state, graph: null }), emptyState())
})

const AT_MS = Date.parse('2026-11-15T09:30:00.000Z')
const newId = createNewId(() => AT_MS)
const read = (id: string, over: Partial<EntityToDecide>): EntityToDecide => ({
  ...entityRow(id, new Date(AT_MS).toISOString()),
  graph: null,
  trust: null,
  exposed_at: null,
  merge_id: null,
  offers: null,
  offers_version: null,
  merged_at: null,
  newest_decisions: '',
  devices: '',
  ...over,
})
const factOf = (members: readonly EntityToDecide[], name: string, more: { madeAs?: string; now?: string } = {}) =>
  factsOf(
    { entity: members[0]!, members, state: emptyState(), offers: [] },
    { product: 'p' },
    { now: new Date(AT_MS).toISOString(), ...more },
  ).features[name]

test('a decision that is made again counts the requests before it, in the days before it', () => {
  const [first, second, third] = [newId('dec'), newId('dec'), newId('dec')]
  const members = [read('a', { newest_decisions: `${third} ${first}` }), read('b', { newest_decisions: second })]
  const later = new Date(AT_MS + 40 * 86_400_000).toISOString()
  assert.deepEqual(factOf(members, 'history.requests_30_days'), { value: 3 })
  assert.deepEqual(factOf(members, 'history.requests_30_days', { now: later }), { value: 0 })
  for (const [madeAs, value] of [
    [first, 0],
    [second, 1],
    [third, 2],
  ] as const)
    assert.deepEqual(factOf(members, 'history.requests_7_days', { madeAs, now: later }), { value })
})

test('merged entities that have the same device count as one of its holders', () => {
  const [one, other] = [read('a', { devices: 'd1:3 d2:2' }), read('b', { devices: 'd1:3' })]
  assert.deepEqual(factOf([one], 'graph.device_holders'), { value: 3 })
  assert.deepEqual(factOf([one, other], 'graph.device_holders'), { value: 2 })
  assert.deepEqual(factOf([read('a', {})], 'graph.device_holders'), { missing: 'no_data' })
  assert.deepEqual(factOf([read('a', { devices: 'd1:900' })], 'graph.device_holders'), { value: 25 })
})
