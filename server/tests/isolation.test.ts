import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCOPES } from '../src/security/scopes.ts'
import { exampleRequests } from './example-requests.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')
const other = await api.newOrganization('Other')
const { body: entity } = await acme.post('/v1/entities', { external_id: 'walled' })
const { body: decision } = await acme.post(
  '/v1/underwrite',
  { entity_id: entity.id, product: 'credit_line' },
  { 'Idempotency-Key': 'walled' },
)
const ids = { entity_id: entity.id as string, decision_id: decision.id as string }

for (const { endpoint, ...example } of exampleRequests(ids)) {
  const route = `${endpoint.method} ${endpoint.path}`

  test(`${route} succeeds with its scope alone`, async () => {
    const { key } = await acme.newKey('sandbox', [endpoint.scope])
    const answer = await api.request('sandbox', example.path, { ...example, key })
    assert.ok(Object.keys(endpoint.succeeds).includes(String(answer.status)), answer.text)
  })

  test(`${route} is refused with every scope but its own, and names the one it needs`, async () => {
    const { key } = await acme.newKey(
      'sandbox',
      SCOPES.filter((scope) => scope !== endpoint.scope),
    )
    const answer = await api.request('sandbox', example.path, { ...example, key })
    assert.equal(answer.status, 403)
    assert.equal(answer.body.error.code, 'insufficient_scope')
    assert.ok(answer.body.error.message.includes(endpoint.scope))
  })

  test(`${route} is refused without a key, with a bad one, and with one of the other environment`, async () => {
    for (const [key, code] of [
      [null, 'api_key_missing'],
      ['sk_sandbox_nonsense', 'api_key_invalid'],
      [`${acme.keys.sandbox.slice(0, -1)}${acme.keys.sandbox.endsWith('x') ? 'y' : 'x'}`, 'api_key_invalid'],
      [acme.keys.production, 'wrong_environment'],
    ] as const) {
      const answer = await api.request('sandbox', example.path, { ...example, key })
      assert.deepEqual([answer.status, answer.body.error.code], [401, code])
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
  })

  if (endpoint.path.includes('{')) {
    test(`${route} answers another organization and environment exactly as if the id had never existed`, async () => {
      const prefix = example.path.match(/\/([a-z]{3})_[0-9a-z]{26}/)![1]
      const unknownPath = example.path.replace(/_[0-9a-z]{26}/, `_0${'0'.repeat(25)}`)
      assert.ok(prefix)
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
        assert.deepEqual(stableHeaders(foreign.headers), stableHeaders(unknown.headers))
      }
    })
  }
}

test('nothing of one organization or environment is seen by another', async () => {
  const { body: twin } = await other.post('/v1/entities', { external_id: 'walled' })
  assert.notEqual(twin.id, entity.id)
  const production = await api.request('production', '/v1/entities', {
    method: 'POST',
    key: acme.keys.production,
    body: { external_id: 'walled' },
  })
  assert.equal(production.status, 201)
  assert.equal(production.body.environment, 'production')
  assert.equal((await other.get('/v1/usage')).body.totals.transactions, 0)
})

test('an idempotency key of one organization or route says nothing to another', async () => {
  const headers = { 'Idempotency-Key': 'the-same' }
  const mine = await acme.post('/v1/entities', { external_id: 'idem' }, headers)
  const theirs = await other.post('/v1/entities', { external_id: 'idem' }, headers)
  assert.equal(theirs.status, 201)
  assert.notEqual(theirs.body.id, mine.body.id)
  assert.equal(
    (await acme.post(`/v1/entities/${mine.body.id}/consents`, { purpose: 'marketing' }, headers)).status,
    201,
  )
})

test('a relationship cannot reach into another organization', async () => {
  const { body: theirs } = await other.post('/v1/entities', { external_id: 'target' })
  const link = { related_entity_id: theirs.id, relationship: 'owner', verification: { status: 'verified' } }
  const answer = await acme.post(`/v1/entities/${entity.id}/identity-links`, link)
  assert.deepEqual([answer.status, answer.body.error.param], [404, '/related_entity_id'])
})

test('a revoked key is refused within a second, and an expired one at once', async () => {
  const { revokeKey } = await import('../src/admin/manage-keys.ts')
  const { findApiKey } = await import('../src/store/queries/api-keys.ts')
  const { installation } = api.service
  const { id, key } = await acme.newKey('sandbox', SCOPES)
  assert.equal((await api.request('sandbox', '/v1/usage', { key })).status, 200)
  const row = await findApiKey(installation.storage.environments.sandbox, id)
  assert.equal(await revokeKey(installation, 'sandbox', { key: row!, actor: { type: 'system', id: 'test' } }), true)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.equal((await api.request('sandbox', '/v1/usage', { key })).body.error.code, 'api_key_revoked')

  const expired = await acme.newKey('sandbox', SCOPES, { expiresAt: '2026-01-01T00:00:00.000Z' })
  assert.equal((await api.request('sandbox', '/v1/usage', { key: expired.key })).body.error.code, 'api_key_expired')
})

function withoutRequestId(text: string): string {
  return text.replace(/req_[0-9a-z]{26}/, 'req')
}

/** Everything a caller could tell two answers apart by, apart from what differs between any two answers. */
function stableHeaders(headers: Headers): Record<string, string> {
  const { date: _date, 'request-id': _id, ratelimit: _limit, ...rest } = Object.fromEntries(headers)
  return rest
}
