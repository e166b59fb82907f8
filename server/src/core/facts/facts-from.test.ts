import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveFacts } from './derive-facts.ts'
import { emptyState } from './entity-state.ts'
import { factsFrom } from './facts-from.ts'

test('without values, consents and history are those of an entity about which nothing was recorded', () => {
  const { features } = deriveFacts({
    state: emptyState(),
    entity: {},
    request: { product: 'default', requestedAmount: 1000, currency: 'EUR' },
    now: '2026-01-15T12:00:00.000Z',
  })
  const recorded = Object.keys(features).filter((name) => /^(consent|history)\./.test(name))
  assert.ok(recorded.length > 10)
  for (const name of recorded) {
    const [made, derived] = [factsFrom({}).features[name]!, features[name]!]
    assert.deepEqual('value' in made && made.value, 'value' in derived && derived.value, name)
  }
})

test('without values, the request is one for the default product in the middle of January and of every sample', () => {
  const { features, format } = factsFrom({})
  assert.equal(format, 1)
  assert.deepEqual(
    ['request.date', 'request.hash', 'request.product'].map((name) => features[name]),
    [{ value: '2026-01-15' }, { value: 5000 }, { value: 'default' }],
  )
})
