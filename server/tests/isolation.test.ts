/** Organizations and environments are isolated: neither sees the data of another, nor that it exists. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleRequests } from './example-requests.ts'
import { exampleTransaction } from './example-transaction.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')
const other = await api.newOrganization('Other')
const { body: entity } = await acme.post('/v1/entities', { external_id: 'isolated' })
const { body: decision } = await acme.post(
  '/v1/underwrite',
  { entity_id: entity.id, product: 'marketplace_access' },
  { 'Idempotency-Key': 'isolated' },
)

for (const { endpoint, ...example } of exampleRequests({ entity_id: entity.id, decision_id: decision.id })) {
  if (!endpoint.path.includes('{')) continue

  test(`${endpoint.method} ${endpoint.path} answers another organization and environment as if the id did not exist`, async () => {
    const unknownPath = example.path.replace(/_[0-9a-z]{26}/, `_0${'0'.repeat(25)}`)
    assert.notEqual(unknownPath, example.path)
    for (const [environment, key] of [
      ['sandbox', other.keys.sandbox],
      ['production', acme.keys.production],
    ] as const) {
      const foreign = await api.request(environment, example.path, {
        ...example,
        key,
        headers: { ...example.headers, 'Idempotency-Key': `f-${environment}` },
      })
      const unknown = await api.request(environment, unknownPath, {
        ...example,
        key,
        headers: { ...example.headers, 'Idempotency-Key': `u-${environment}` },
      })
      assert.equal(foreign.status, 404)
      assert.equal(withoutRequestId(foreign.text), withoutRequestId(unknown.text))
      assert.deepEqual(comparableHeaders(foreign.headers), comparableHeaders(unknown.headers))
    }
  })
}

test('one external id names another entity in each organization and environment', async () => {
  const { body: elsewhere } = await other.post('/v1/entities', { external_id: 'isolated' })
  const production = await api.request('production', '/v1/entities', {
    method: 'POST',
    key: acme.keys.production,
    body: { external_id: 'isolated' },
  })
  assert.deepEqual([production.status, production.body.environment], [201, 'production'])
  assert.equal(new Set([entity.id, elsewhere.id, production.body.id]).size, 3)
})

test('usage counts only the transactions of one organization and environment', async () => {
  const transactions = [exampleTransaction('t-1')]
  await acme.post(`/v1/entities/${entity.id}/transactions`, { transactions }, { 'Idempotency-Key': 'usage' })
  const production = await api.request('production', '/v1/usage', { key: acme.keys.production })
  assert.equal((await acme.get('/v1/usage')).body.totals.transactions, 1)
  assert.equal((await other.get('/v1/usage')).body.totals.transactions, 0)
  assert.equal(production.body.totals.transactions, 0)
})

test('an idempotency key is independent in each organization and on each route', async () => {
  const headers = { 'Idempotency-Key': 'the-same' }
  const mine = await acme.post('/v1/entities', { external_id: 'idempotent' }, headers)
  const theirs = await other.post('/v1/entities', { external_id: 'idempotent' }, headers)
  assert.equal(theirs.status, 201)
  assert.notEqual(theirs.body.id, mine.body.id)
  assert.equal(
    (await acme.post(`/v1/entities/${mine.body.id}/consents`, { purpose: 'marketing' }, headers)).status,
    201,
  )
})

test('a relationship to an entity of another organization is refused as unknown', async () => {
  const { body: theirs } = await other.post('/v1/entities', { external_id: 'target' })
  const link = { related_entity_id: theirs.id, relationship: 'owner', verification: { status: 'verified' } }
  const answer = await acme.post(`/v1/entities/${entity.id}/identity-links`, link)
  assert.deepEqual([answer.status, answer.body.error.param], [404, '/related_entity_id'])
})

function withoutRequestId(text: string): string {
  return text.replace(/req_[0-9a-z]{26}/, 'req')
}

/** The headers that are equal in any two equal answers. */
function comparableHeaders(headers: Headers): Record<string, string> {
  const { date: _date, 'request-id': _id, ratelimit: _limit, ...rest } = Object.fromEntries(headers)
  return rest
}
