/** API keys through the operations of the console: their states as the API sees them, and on the audit log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { type ConsoleClient, signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

let clockAheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + clockAheadMs })
const acme = await api.newOrganization('Acme')
const other = await api.newOrganization('Other')
const dora = await signedInOperator(api, { organizationId: acme.id, email: 'dora@example.com', role: 'developer' })
const olga = await signedInOperator(api, { organizationId: acme.id, email: 'olga@example.com', role: 'owner' })
const adam = await signedInOperator(api, { organizationId: acme.id, email: 'adam@example.com', role: 'admin' })
const victor = await signedInOperator(api, { organizationId: acme.id, email: 'victor@example.com', role: 'viewer' })
const HOUR_MS = 3_600_000

const keys = (name: string, input: unknown = {}, client: ConsoleClient = dora) =>
  client.call(`${acme.id}/sandbox/api-keys.${name}`, input)
const newKey = async (input = {}) =>
  (await keys('create', { name: 'Checkout', scopes: ['usage:read'], expires_in_days: null, ...input })).body
const listed = async (id: string) => (await keys('list')).body.keys.find((key: { id: string }) => key.id === id)
const use = async (key: string) => {
  clockAheadMs += 1_000 // a node caches a key for half a second
  const { status, body } = await api.request('sandbox', '/v1/usage', { key })
  return status === 200 ? 200 : [status, body.error.code, body.error.message]
}
const entriesOf = (id: string) =>
  api.service.installation.storage.environments.sandbox.query<{ type: string; actor_id: string; data: string }>(
    'SELECT type, actor_id, data FROM audit_entries WHERE trail_id = $1 ORDER BY seq',
    [id],
  )

test('a created key works for its scopes, and is listed with prefix, last four, maker and last use, never with its hash', async () => {
  const created = await newKey({ scopes: ['usage:read', 'entities:read'], expires_in_days: 30 })
  assert.match(created.key, /^sk_sandbox_/)
  assert.equal(await use(created.key), 200)
  const denied = await api.request('sandbox', '/v1/webhook-test', { method: 'POST', key: created.key })
  assert.equal(denied.body.error.code, 'insufficient_scope')
  const answer = await keys('list')
  const key = answer.body.keys[0]
  assert.deepEqual(
    [key.id, key.prefix, key.last_four, key.state, key.created_by, key.scopes],
    [created.id, 'sk_sandbox_', created.key.slice(-4), 'active', 'Test', ['entities:read', 'usage:read']],
  )
  const days = (Date.parse(key.expires_at) - Date.parse(key.created_at)) / (24 * HOUR_MS)
  assert.equal(Math.round(days * 1_000) / 1_000, 30)
  assert.doesNotMatch(JSON.stringify(answer.body), new RegExp(`hash|${created.key}`))
  const [entry] = await entriesOf(created.id)
  assert.deepEqual([entry!.type, entry!.actor_id], ['api_key.created', dora.operatorId])
})

test('a rotated key and its successor both work until the grace period ends', async () => {
  const old = await newKey({ name: 'Nightly import', expires_in_days: 10 })
  const rotated = (await keys('rotate', { id: old.id, grace: '1h', reason: 'Yearly rotation' })).body
  assert.notEqual(rotated.key, old.key)
  assert.deepEqual([rotated.name, rotated.scopes], ['Nightly import', ['usage:read']])
  assert.equal(await use(old.key), 200)
  assert.equal(await use(rotated.key), 200)
  assert.equal((await listed(old.id)).state, 'retiring')
  assert.equal((await listed(old.id)).replaced_by, rotated.id)
  const again = await keys('rotate', { id: old.id, grace: 'now', reason: 'Twice' })
  assert.equal(again.status, 409)
  assert.match(again.body.error.message, /was rotated already/)
  clockAheadMs += HOUR_MS
  assert.deepEqual(await use(old.key), [
    401,
    'api_key_expired',
    'This API key was rotated and its grace period is over. Use the key that replaced it.',
  ])
  assert.equal(await use(rotated.key), 200)
  assert.equal((await listed(old.id)).state, 'replaced')
  const successor = await listed(rotated.id)
  assert.equal(successor.replaces, old.id)
  const lifetime = (Date.parse(successor.expires_at) - Date.parse(successor.created_at)) / (24 * HOUR_MS)
  assert.equal(Math.round(lifetime * 1_000) / 1_000, 10, 'same lifetime')
  const [, entry] = await entriesOf(old.id)
  assert.equal(entry!.type, 'api_key.rotated')
  assert.deepEqual(JSON.parse(entry!.data), {
    name: 'Nightly import',
    reason: 'Yearly rotation',
    replaced_by: rotated.id,
    retires_at: rotated.retires_at,
  })
})

test('a disabled key is refused within a second and works again when it is enabled', async () => {
  const key = await newKey()
  assert.equal((await keys('disable', { id: key.id, reason: 'Looks leaked' })).status, 200)
  assert.deepEqual(await use(key.key), [
    401,
    'api_key_revoked',
    'This API key is disabled. Use another key, or ask an operator to enable it in the console.',
  ])
  assert.equal((await listed(key.id)).state, 'disabled')
  assert.equal((await keys('disable', { id: key.id, reason: 'Again' })).status, 409)
  assert.equal((await keys('enable', { id: key.id, reason: 'It was not' })).status, 200)
  assert.equal(await use(key.key), 200)
  assert.equal((await keys('enable', { id: key.id, reason: 'Again' })).status, 409)
  assert.deepEqual(
    (await entriesOf(key.id)).map(({ type }) => type),
    ['api_key.created', 'api_key.disabled', 'api_key.enabled'],
  )
})

test('a revoked key never works again, whatever is tried with it', async () => {
  const key = await newKey()
  await keys('disable', { id: key.id, reason: 'First' })
  assert.equal((await keys('revoke', { id: key.id, reason: 'For good' })).status, 200)
  const refused = await use(key.key)
  assert.ok(Array.isArray(refused))
  assert.deepEqual(refused.slice(0, 2), [401, 'api_key_revoked'])
  for (const name of ['enable', 'disable', 'revoke'])
    assert.equal((await keys(name, { id: key.id, reason: 'Back' })).status, 409, name)
  assert.equal((await keys('rotate', { id: key.id, grace: '7d', reason: 'Back' })).status, 409)
  assert.deepEqual(await use(key.key), refused)
})

test('a viewer sees keys and changes none; keys of another organization or environment do not exist', async () => {
  const key = await newKey()
  assert.equal((await keys('list', {}, victor)).status, 200)
  for (const [name, more] of [
    ['disable', {}],
    ['enable', {}],
    ['revoke', {}],
    ['rotate', { grace: 'now' }],
  ] as const) {
    const input = { id: key.id, reason: 'Because', ...more }
    assert.equal((await keys(name, input, victor)).status, 403)
    assert.equal((await dora.call(`${acme.id}/production/api-keys.${name}`, input)).status, 404)
    assert.equal((await dora.call(`${other.id}/sandbox/api-keys.${name}`, input)).status, 404)
    assert.equal((await keys(name, { ...input, reason: '  ' })).status, 400, 'a reason is needed')
  }
  assert.equal(await use(key.key), 200)
})

test('audit verify finds a key whose state was changed in the database', async () => {
  const { installation } = api.service
  const { sandbox } = installation.storage.environments
  const disabled = await newKey()
  await keys('disable', { id: disabled.id, reason: 'Leaked' })
  await keys('enable', { id: disabled.id, reason: 'Not leaked' })
  await keys('disable', { id: disabled.id, reason: 'Leaked after all' })
  const rotated = await newKey()
  const successor = (await keys('rotate', { id: rotated.id, grace: '24h', reason: 'Yearly' })).body
  const verify = () =>
    verifyAuditLog({
      organizationId: acme.id,
      environment: 'sandbox',
      store: installation.stores.sandbox,
      people: installation.stores.production,
      control: installation.storage.control,
      publicKeys: [installation.masterKey.auditSigningKey('sandbox').publicKey],
    })
  await until('all entries are sealed', async () => (await verify()).unsealed === 0)
  const problems = async () => (await verify()).problems.join('\n')
  assert.equal(await problems(), '')
  for (const [sql, id] of [
    ['UPDATE api_keys SET disabled_at = NULL WHERE id = $1', disabled.id],
    ['UPDATE api_keys SET retires_at = NULL WHERE id = $1', rotated.id],
    ['UPDATE api_keys SET replaces = NULL WHERE id = $1', successor.id],
  ]) {
    await sandbox.query(sql!, [id])
    assert.match(await problems(), new RegExp(`The API key ${id} was changed`))
  }
})

test('a developer gives no scope that lets a key speak for a reviewer, and the list says which roles may', async () => {
  const wanted = { name: 'Case tool', scopes: ['decisions:read', 'reviews:write'], expires_in_days: null }
  const refused = await keys('create', wanted)
  assert.equal(refused.status, 403)
  assert.equal(
    refused.body.error.message,
    'dora@example.com is developer. Only owner, admin may give reviews:write to an API key. Leave it out, or ask one of them.',
  )
  for (const manager of [olga, adam]) assert.equal((await keys('create', wanted, manager)).status, 200)
  const offered = async (client: ConsoleClient) =>
    (await keys('list', {}, client)).body.scopes.filter(({ may_give }: { may_give: boolean }) => !may_give)
  assert.deepEqual(
    (await offered(dora)).map(({ name, given_by }: { name: string; given_by: string[] }) => [name, given_by]),
    [['reviews:write', ['owner', 'admin']]],
  )
  assert.deepEqual(await offered(olga), [])
})

test('a developer neither rotates nor enables a key with wider scopes, and may still stop it', async () => {
  const wanted = { name: 'Case tool', scopes: ['reviews:write'], expires_in_days: null }
  const { id } = (await keys('create', wanted, olga)).body
  const rotated = await keys('rotate', { id, grace: '24h', reason: 'To learn its text' })
  assert.equal(rotated.status, 403)
  assert.match(rotated.body.error.message, /Only owner, admin may give reviews:write to an API key/)
  assert.equal((await keys('disable', { id, reason: 'Seen in a log' })).status, 200)
  assert.equal((await keys('enable', { id, reason: 'It was harmless' })).status, 403)
  assert.equal((await listed(id)).state, 'disabled')
  assert.equal((await keys('enable', { id, reason: 'It was harmless' }, adam)).status, 200)
  assert.equal((await keys('rotate', { id, grace: 'now', reason: 'Yearly' }, adam)).status, 200)
  const other = (await keys('create', wanted, olga)).body
  assert.equal((await keys('revoke', { id: other.id, reason: 'Not used' })).status, 200)
  const types = (await entriesOf(id)).map(({ type }) => type)
  assert.deepEqual(types, ['api_key.created', 'api_key.disabled', 'api_key.enabled', 'api_key.rotated'])
})
