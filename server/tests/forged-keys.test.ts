/** Rows of API keys that were written with SQL, without the master key: each is refused as if it did not exist. */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { disableKey, enableKey, revokeKey, rotateKey } from '../src/admin/manage-keys.ts'
import { generateApiKey } from '../src/security/api-key.ts'
import type { ApiKey } from '../src/store/environment/api-keys.ts'
import { byService } from './acts.ts'
import { startTestService } from './test-service.ts'

let clockAheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + clockAheadMs })
const { installation } = api.service
const database = installation.storage.environments.sandbox
const acme = await api.newOrganization()

/** Reads a key past the node's cache. */
async function answerTo(key: string): Promise<string> {
  clockAheadMs += 1_000
  const { status, body } = await api.request('sandbox', '/v1/usage', { key })
  return status === 200 ? 'works' : body.error.code
}

async function stored(id: string): Promise<ApiKey> {
  const [row] = await database.query('SELECT * FROM api_keys WHERE id = $1', [id])
  return row as unknown as ApiKey
}

/** Puts an earlier version of a row back, as a person with a copy of the table could. */
async function putBack(row: ApiKey): Promise<void> {
  const columns = Object.keys(row)
  await database.query('DELETE FROM api_keys WHERE id = $1', [row.id])
  await database.query(
    `INSERT INTO api_keys (${columns.join(', ')}) VALUES (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(row),
  )
}

const alarms = (id: string) => api.logs.filter((line) => line.includes('"alarm":"row_refused"') && line.includes(id))

test('a key whose row was inserted with SQL does not work, and raises an alarm', async () => {
  const honest = await acme.newKey('sandbox', ['usage:read'])
  const key = generateApiKey('sandbox')
  const row = { ...(await stored(honest.id)), id: 'key_forged', key_hash: hash('sha256', key) }
  await putBack(row)
  assert.equal(await answerTo(key), 'api_key_invalid')
  assert.equal(await answerTo(honest.key), 'works')
  assert.equal(await installation.stores.sandbox.apiKeys.byId('key_forged'), undefined)
  assert.equal(alarms('key_forged').length, 1)
  await database.query("DELETE FROM api_keys WHERE id = 'key_forged'")
})

test('a key does not work with a hash, scopes, an organization or an expiry that were changed with SQL', async () => {
  const other = await api.newOrganization()
  for (const change of [
    `scopes = scopes || ' decisions:write'`,
    `org_id = '${other.id}'`,
    `expires_at = now() + interval '9 years'`,
  ]) {
    const { id, key } = await acme.newKey('sandbox', ['usage:read'], {
      expiresAt: new Date(Date.now() + 9e9).toISOString(),
    })
    assert.equal(await answerTo(key), 'works')
    await database.query(`UPDATE api_keys SET ${change} WHERE id = $1`, [id])
    assert.equal(await answerTo(key), 'api_key_invalid', change)
  }
})

for (const [ended, end] of [
  ['revoked', revokeKey],
  ['disabled', disableKey],
] as const)
  test(`the earlier row of a key that was ${ended} does not work when it is put back`, async () => {
    const { id, key } = await acme.newKey('sandbox', ['usage:read'])
    const before = await stored(id)
    await end(installation, byService(acme.id), id)
    assert.equal(await answerTo(key), 'api_key_revoked')
    await putBack(before)
    assert.equal(await answerTo(key), 'api_key_invalid')
    assert.equal(alarms(id).length, 1)
  })

test('the earlier row of a rotated key does not outlive its grace period when it is put back', async () => {
  const { id, key } = await acme.newKey('sandbox', ['usage:read'])
  const before = await stored(id)
  await rotateKey(installation, byService(acme.id), { id, grace: 'now' })
  assert.equal(await answerTo(key), 'api_key_expired')
  await putBack(before)
  assert.equal(await answerTo(key), 'api_key_invalid')
})

test('a key that was disabled and enabled again works, and cannot be rotated from an earlier version', async () => {
  const { id, key } = await acme.newKey('sandbox', ['usage:read'])
  const before = await stored(id)
  await disableKey(installation, byService(acme.id), id)
  await enableKey(installation, byService(acme.id), id)
  assert.equal(await answerTo(key), 'works')
  // Reads the earlier version, as a node does whose read was overtaken.
  const { apiKeys } = installation.stores.sandbox
  const { ofOrganization } = apiKeys
  apiKeys.ofOrganization = async () => before
  const rotating = rotateKey(installation, byService(acme.id), { id, grace: '1h' })
  await assert.rejects(rotating, { code: 'changed_meanwhile' })
  apiKeys.ofOrganization = ofOrganization
})
