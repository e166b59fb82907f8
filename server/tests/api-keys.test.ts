/** Authentication and scopes, for every endpoint of the route table. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { revokeKey } from '../src/admin/manage-keys.ts'
import { SCOPES } from '../src/security/scopes.ts'
import { byService } from './acts.ts'
import { exampleRequests } from './example-requests.ts'
import { startTestService } from './test-service.ts'

let clockAheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + clockAheadMs })
const acme = await api.newOrganization('Acme')
const { body: entity } = await acme.post('/v1/entities', { external_id: 'example' })
const { body: decision } = await acme.post(
  '/v1/underwrite',
  { entity_id: entity.id, product: 'marketplace_access' },
  { 'Idempotency-Key': 'example' },
)

for (const { endpoint, ...example } of exampleRequests({ entity_id: entity.id, decision_id: decision.id })) {
  const route = `${endpoint.method} ${endpoint.path}`

  test(`${route} succeeds with a key that has only its scope`, async () => {
    const { key } = await acme.newKey('sandbox', [endpoint.scope])
    const answer = await api.request('sandbox', example.path, { ...example, key })
    assert.ok(Object.keys(endpoint.succeeds).includes(String(answer.status)), answer.text)
  })

  test(`${route} refuses a key that has every scope but its own, and names the missing scope`, async () => {
    const { key } = await acme.newKey(
      'sandbox',
      SCOPES.filter((scope) => scope !== endpoint.scope),
    )
    const answer = await api.request('sandbox', example.path, { ...example, key })
    assert.equal(answer.status, 403)
    assert.equal(answer.body.error.code, 'insufficient_scope')
    assert.ok(answer.body.error.message.includes(endpoint.scope))
  })

  test(`${route} refuses a missing key, an invalid key and a key of the other environment`, async () => {
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
}

test('a revoked key is refused within a second', async () => {
  const { installation } = api.service
  const { id, key } = await acme.newKey('sandbox', SCOPES)
  assert.equal((await api.request('sandbox', '/v1/usage', { key })).status, 200)
  await revokeKey(installation, byService(acme.id), id)
  clockAheadMs += 1_000
  assert.equal((await api.request('sandbox', '/v1/usage', { key })).body.error.code, 'api_key_revoked')
})

test('an expired key is refused', async () => {
  const expiresAt = new Date(Date.now() + clockAheadMs + 60_000).toISOString()
  const { key } = await acme.newKey('sandbox', SCOPES, { expiresAt })
  assert.equal((await api.request('sandbox', '/v1/usage', { key })).status, 200)
  clockAheadMs += 60_000
  assert.equal((await api.request('sandbox', '/v1/usage', { key })).body.error.code, 'api_key_expired')
})
