/** An act that takes several steps is answered as recorded only once its last step is: a retry does what is left of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseUnavailable } from '../src/store/database/database.ts'
import { Authenticator } from './authenticator.ts'
import { PASSWORD, signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService({ env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' } })
const { installation } = api.service
const { sandbox, production } = installation.storage.environments
const { id: organizationId } = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId, email: 'ada@example.com', role: 'owner' })

for (const name of ['two-factor.end', 'two-factor.renew-recovery-codes']) {
  test(`${name} that fails after its recovery code was used is not answered as recorded`, async () => {
    const email = `${name}@example.com`
    const ben = await signedInOperator(api, { organizationId, email, role: 'viewer' })
    const begun = await ben.call('account/two-factor.begin', { password: PASSWORD })
    const code = new Authenticator(begun.body.secret).next(installation.nowMs())
    const { recovery_codes } = (await ben.call('account/two-factor.confirm', { code })).body
    const send = (recoveryCode: string) =>
      ben.call(`account/${name}`, { code: recoveryCode }, { 'Idempotency-Key': name })

    const { query } = production
    production.query = (sql, ...rest) => {
      if (!sql.includes('INSERT INTO audit_entries')) return query(sql, ...rest)
      throw new DatabaseUnavailable('connection reset', { endSession: async () => true })
    }
    const lost = await send(recovery_codes[0]).finally(() => {
      production.query = query
    })
    assert.equal(lost.status, 503)
    const again = await send(recovery_codes[0])
    assert.match(again.body.error.message, /^This code is not right/)
    assert.equal((await ben.call('account/account.show-security')).body.two_factor.recovery_codes_left, 9)
    const other = await send(recovery_codes[1])
    assert.equal(other.status, 200, JSON.stringify(other.body))
  })
}

test('deliveries beyond the first thousand are queued by a retry, if the first call failed in between', async () => {
  const endpoint = { url: 'http://127.0.0.1:9/hook', description: '', event_types: 'all' }
  const { id } = (await ada.call(`${organizationId}/sandbox/webhooks.add`, endpoint)).body
  const since = new Date(installation.nowMs()).toISOString()
  const ids = Array.from({ length: 1_001 }, () => installation.newId('evt'))
  await sandbox.query(
    `INSERT INTO events (org_id, id, type, created_at, data)
     SELECT $1, id, 'webhook.test', $3, '{}' FROM unnest($2::text[]) AS id`,
    [organizationId, ids, since],
  )
  const recover = () =>
    ada.call(
      `${organizationId}/sandbox/deliveries.recover`,
      { endpoint_id: id, since, reason: 'It was down.' },
      { 'Idempotency-Key': 'recover' },
    )
  const store = installation.stores.sandbox
  const { commit } = store
  let writes = 0
  store.commit = async (change) => {
    if (change.queuedDeliveries && ++writes === 2) throw new DatabaseUnavailable('connection reset')
    return commit(change)
  }
  const cut = await recover().finally(() => {
    store.commit = commit
  })
  assert.deepEqual([cut.status, writes], [503, 2])
  const again = await recover()
  assert.equal(again.status, 200, JSON.stringify(again.body))
  const [queued] = await sandbox.query(
    'SELECT count(*)::int AS deliveries FROM webhook_deliveries WHERE endpoint_id = $1 AND event_id = ANY($2::text[])',
    [id, ids],
  )
  assert.equal(queued!.deliveries, ids.length)
})

test('a revocation whose commits are all lost is not answered as done before', async () => {
  const input = { name: 'Leaked', scopes: ['usage:read'], expires_in_days: null }
  const { id } = (await ada.call(`${organizationId}/sandbox/api-keys.create`, input)).body
  const revoke = () => ada.call(`${organizationId}/sandbox/api-keys.revoke`, { id, reason: 'Leaked.' })
  const store = installation.stores.sandbox
  const { commit } = store
  store.commit = async (change) => (change.changedKeys ? { lost: 'no_answer' } : commit(change))
  const lost = await revoke().finally(() => {
    store.commit = commit
  })
  assert.equal(lost.status, 503, JSON.stringify(lost.body))
  assert.equal((await revoke()).status, 200)
})
