import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deriveFacts } from './derive-facts.ts'
import { applyIdentityLink, type EntityState, emptyState, type IdentityLinkFact } from './entity-state.ts'

const NOW = '2026-07-15T12:00:00.000Z'

function featureOf(state: EntityState, name: string) {
  return deriveFacts({ state, entity: {}, request: { product: 'default' }, now: NOW }).features[name]
}

describe('identity facts', () => {
  const link = (over: {
    type?: 'tax_id' | 'email'
    hash?: string
    status: 'verified' | 'failed'
    at: string
  }): IdentityLinkFact => ({
    identifier: { type: over.type ?? 'tax_id', hash: (over.hash ?? 'a').repeat(64) },
    verification: { status: over.status },
    createdAt: over.at,
  })
  const stateOf = (...links: IdentityLinkFact[]) => links.reduce(applyIdentityLink, emptyState())

  it('are missing, not zero, when no identifier was ever given', () => {
    assert.deepEqual(featureOf(emptyState(), 'identity.verified_strong'), { missing: 'no_data' })
  })

  it('count types of identifiers, so that ten devices are not ten proofs', () => {
    const state = stateOf(
      link({ status: 'verified', at: '2026-07-14T12:00:00.000Z' }),
      link({ type: 'email', hash: 'b', status: 'verified', at: '2026-07-10T12:00:00.000Z' }),
      link({ type: 'email', hash: 'c', status: 'verified', at: '2026-07-10T12:00:00.000Z' }),
    )
    assert.deepEqual(featureOf(state, 'identity.verified_strong'), { value: 1, age_days: 1 })
    assert.deepEqual(featureOf(state, 'identity.verified_weak'), { value: 1, age_days: 1 })
  })

  it('take a verification back when a later one fails', () => {
    const verified = link({ status: 'verified', at: '2026-07-01T00:00:00.000Z' })
    const state = stateOf(verified, link({ status: 'failed', at: '2026-07-02T00:00:00.000Z' }))
    assert.deepEqual(featureOf(state, 'identity.verified_strong'), { value: 0 })
    assert.deepEqual(featureOf(state, 'identity.failed'), { value: 1 })
  })

  it('see a conflict in two verified tax numbers', () => {
    const at = '2026-07-01T00:00:00.000Z'
    const state = stateOf(link({ status: 'verified', at }), link({ hash: 'b', status: 'verified', at }))
    assert.deepEqual(featureOf(state, 'identity.conflicts'), { value: 1 })
  })
})
