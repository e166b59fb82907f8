import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyConsent, type ConsentFact, emptyState } from '../core/facts/entity-state.ts'
import { stateOf } from './facts-of.ts'

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
