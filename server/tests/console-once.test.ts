/** What an operator does in the console happens once for each idempotency key, and every call with the key gets its answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openEnvironmentStore } from '../src/store/environment/environment-store.ts'
import { ConsoleClient, signedInOperator } from './console-client.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { testKeys } from './test-keys.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const { sandbox, production } = installation.storage.environments
const acme = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'owner' })
const bob = await signedInOperator(api, { organizationId: acme.id, email: 'bob@example.com', role: 'owner' })

const act = (name: string, input: object, key: string, by: ConsoleClient = ada) =>
  by.call(`${acme.id}/sandbox/${name}`, input, { 'Idempotency-Key': key })
const newKey = (name: string) => ({ name, scopes: ['usage:read'], expires_in_days: null })
const keysNamed = async (name: string) =>
  (await sandbox.query('SELECT id FROM api_keys WHERE org_id = $1 AND name = $2', [acme.id, name])).length
const entries = async (type: string) =>
  (await production.query('SELECT id FROM audit_entries WHERE org_id = $1 AND type = $2', [acme.id, type])).length

test('twenty simultaneous calls with one key make one API key, and all get it', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => act('api-keys.create', newKey('Raced'), 'race')))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(new Set(answers.map(({ body }) => body.key)).size, 1)
  assert.equal(await keysNamed('Raced'), 1)
})

test('a retry after a lost answer gets the same secret, which no row holds in plain text', async () => {
  const first = await act('api-keys.create', newKey('Lost'), 'lost answer')
  const again = await act('api-keys.create', newKey('Lost'), 'lost answer')
  assert.deepEqual(again.body, first.body)
  assert.equal(await keysNamed('Lost'), 1)
  const rows = await sandbox.query('SELECT body FROM idempotency_keys WHERE org_id = $1', [acme.id])
  assert.ok(rows.length > 0)
  assert.equal(JSON.stringify(rows).includes(first.body.key), false)
})

test('another input, or another operation, under a used key is refused and changes nothing', async () => {
  await act('api-keys.create', newKey('Used'), 'used')
  const inputs: [string, object][] = [
    ['api-keys.create', newKey('Other')],
    ['deliveries.send-test', {}],
  ]
  for (const [name, input] of inputs) {
    const { status, body } = await act(name, input, 'used')
    assert.deepEqual([status, body.error.code], [409, 'idempotency_key_reused'])
  }
  assert.equal(await keysNamed('Other'), 0)
})

test('a key belongs to the account that sent it', async () => {
  const [mine, theirs] = [
    await act('api-keys.create', newKey('Ours'), 'same word'),
    await act('api-keys.create', newKey('Ours'), 'same word', bob),
  ]
  assert.notEqual(mine.body.id, theirs.body.id)
})

test('a refusal is not kept: the same key works once the reason for it is gone', async () => {
  const created = (await act('api-keys.create', newKey('Switched'), 'switched')).body
  const wanted = { id: created.id, reason: 'A test.' }
  assert.equal((await act('api-keys.enable', wanted, 'enable')).status, 409)
  await act('api-keys.disable', wanted, 'disable')
  assert.equal((await act('api-keys.enable', wanted, 'enable')).status, 200)
})

test('an act whose answer could not be kept is not repeated, and says that it was recorded', async () => {
  const store = installation.stores.sandbox
  const { keepAnswer } = store.idempotencyKeys
  store.idempotencyKeys.keepAnswer = () => Promise.reject(new Error('the node died here'))
  const first = await act('api-keys.create', newKey('Cut off'), 'cut off').finally(() => {
    store.idempotencyKeys.keepAnswer = keepAnswer
  })
  assert.equal(first.status, 200)
  const again = await act('api-keys.create', newKey('Cut off'), 'cut off')
  assert.deepEqual([again.status, again.body.error.code], [409, 'answer_lost'])
  assert.match(again.body.error.message, /^This was recorded on \d{4}-\d\d-\d\d at \d\d:\d\d UTC/)
  assert.equal(await keysNamed('Cut off'), 1)
})

test('a node whose lease ended loses to the node that carried the act out meanwhile', async () => {
  const store = installation.stores.sandbox
  const { commit } = store
  store.commit = async (change) => {
    if (!change.idempotencyKey) return commit(change)
    store.commit = commit
    // A second store on the same database has its own queue, as another node has: only the database decides the race.
    const elsewhere = openEnvironmentStore(sandbox, testKeys)
    await elsewhere.commit({ organizationId: acme.id, idempotencyKey: change.idempotencyKey })
    return commit(change)
  }
  const answer = await act('api-keys.create', newKey('Overtaken'), 'overtaken')
  assert.deepEqual([answer.status, answer.body.error.code], [409, 'answer_lost'])
  assert.equal(await keysNamed('Overtaken'), 0)
})

test('acts on people and on the caller’s account happen once, too', async () => {
  const invited = { email: 'cleo@example.com', name: 'Cleo', role: 'viewer' }
  const links = await Promise.all(Array.from({ length: 3 }, () => act('team.invite', invited, 'invite')))
  assert.equal(new Set(links.map(({ body }) => body.link)).size, 1)
  assert.equal(await entries('operator.invited'), 1)
  const cleo = new ConsoleClient(api)
  const opened = await cleo.call('open/invitation.show', { token: links[0]!.body.link.split('#')[1] })
  assert.equal(opened.status, 200, 'the answered link is the one that works')

  const elsewhere = new ConsoleClient(api)
  await elsewhere.signIn('ada@example.com')
  const end = () => ada.call('account/account.end-other-sessions', {}, { 'Idempotency-Key': 'end others' })
  const [first, second] = [await end(), await end()]
  assert.equal(first.status, 200)
  assert.deepEqual(second, { ...first, headers: second.headers })
  assert.equal(await entries('operator.session_ended'), 1)
})

test('a policy that is proposed, approved and activated twice with one key each goes through once', async () => {
  const source = sandboxPolicySource().replace(/^version: .*$/m, 'version: once-v1')
  const twice = async (name: string, input: object, by: ConsoleClient) => {
    const answers = [await act(name, input, name, by), await act(name, input, name, by)]
    assert.equal(answers[0]!.status, 200, JSON.stringify(answers[0]!.body))
    assert.deepEqual(answers[1]!.body, answers[0]!.body, name)
  }
  await twice('policies.propose', { source, reason: 'A test.' }, ada)
  await twice('policies.approve', { version: 'once-v1', shown_backtest: null, reason: 'Read it.' }, bob)
  await twice('policies.activate', { version: 'once-v1', reason: 'Go.' }, ada)
  const rows = await sandbox.query(
    "SELECT step.step FROM policy_steps AS step JOIN policies AS policy ON policy.id = step.policy_id WHERE policy.version = 'once-v1' ORDER BY step.number",
  )
  assert.deepEqual(
    rows.map(({ step }) => step),
    ['proposed', 'approved', 'activated'],
  )
})

test('calls of one node wait for each other without asking the database', async () => {
  const { query } = production
  let asked = 0
  production.query = (sql, params, ...rest) => {
    // The service renews its own leases meanwhile.
    if (sql.includes('INSERT INTO leases') && String(params?.[0]).startsWith('act ')) asked += 1
    return query(sql, params, ...rest)
  }
  const answers = await Promise.all(Array.from({ length: 8 }, () => act('api-keys.create', newKey('Queued'), 'queued')))
  production.query = query
  assert.equal(new Set(answers.map(({ body }) => body.key)).size, 1)
  assert.equal(asked, answers.length)
})

test('the lease of an act that takes long is renewed', async (t) => {
  const leasedUntil = async () => {
    const [row] = await production.query<{ leased_until: string }>('SELECT leased_until FROM leases WHERE name = $1', [
      `act ${ada.accountId} slow`,
    ])
    return row?.leased_until ?? ''
  }
  const store = installation.stores.sandbox
  const { commit } = store
  const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  store.commit = async (change) => {
    begun.resolve()
    await mayEnd.promise
    return commit(change)
  }
  t.mock.timers.enable({ apis: ['setInterval'] })
  const answer = act('api-keys.create', newKey('Slow'), 'slow')
  await begun.promise
  const before = await leasedUntil()
  t.mock.timers.tick(5_000)
  while ((await leasedUntil()) <= before) await nextTurn()
  mayEnd.resolve()
  assert.equal((await answer).status, 200)
  assert.equal(await leasedUntil(), '', 'a renewal does not outlive the act')
  store.commit = commit
})

test('a malformed key is refused', async () => {
  const { status, body } = await act('api-keys.create', newKey('Malformed'), 'é')
  assert.deepEqual([status, body.error.code], [400, 'idempotency_key_invalid'])
})
