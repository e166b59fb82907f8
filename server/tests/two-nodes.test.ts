/** Two processes on one PostgreSQL act as one service. Only one process can open the embedded database, so this needs a server. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { findActingOperator } from '../src/admin/manage-operators.ts'
import { activatePolicy, approvePolicy, proposePolicy } from '../src/admin/manage-policies.ts'
import { readConfig } from '../src/config.ts'
import { openInstallation } from '../src/installation/installation.ts'
import { listOrganizations } from '../src/store/control/organizations.ts'
import { byOperator } from './acts.ts'
import { ConsoleClient, signedInOperator } from './console-client.ts'
import { exampleTransaction } from './example-transaction.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import {
  firstRunKey,
  postJson,
  runCli,
  runCliForJson,
  startServiceProcess,
  untilCachesExpire,
} from './service-process.ts'
import { createTestStorage, onPostgres } from './test-storage.ts'

const skip = !onPostgres && 'needs PostgreSQL: npm run test:postgres'

const testStorage = onPostgres ? await createTestStorage() : undefined
const nodes = testStorage
  ? [await startServiceProcess(testStorage.env), await startServiceProcess(testStorage.env)]
  : []
after(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await testStorage?.remove()
})
const key = testStorage ? firstRunKey(testStorage.dataDir) : ''

/** Posts to one of the nodes; any number names one, so that numbered requests are spread over both. */
function post(node: number, path: string, body: unknown, headers: Record<string, string> = {}) {
  return postJson({ port: nodes[node % 2]!.ports.sandbox, path }, { key, body, headers })
}

/** Posts as a client does that waits when a node has no capacity left, as `Retry-After` asks it to. */
async function postUntilAdmitted(...request: Parameters<typeof post>): ReturnType<typeof post> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await post(...request)
    if (attempt === 30 || answer.status !== 503 || JSON.parse(answer.text).error.code !== 'overloaded') return answer
    await setTimeout(1_000)
  }
}

async function get(node: number, path: string): Promise<string> {
  const url = `http://127.0.0.1:${nodes[node % 2]!.ports.sandbox}${path}`
  return (await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).text()
}

test('a hundred equal requests with one key, spread over two nodes, make one decision and get one answer', {
  skip,
}, async () => {
  const entity = JSON.parse((await post(0, '/v1/entities', { external_id: 'shared' })).text)
  const ask = (node: number) =>
    postUntilAdmitted(
      node,
      '/v1/underwrite',
      { entity_id: entity.id, product: 'marketplace_access' },
      { 'Idempotency-Key': 'one' },
    )
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(n)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})

test('equal requests with one key, spread over two nodes while keys are purged, make one decision', {
  skip,
}, async () => {
  const installation = await openInstallation(readConfig(testStorage!.env))
  try {
    const { idempotencyKeys } = installation.stores.sandbox
    const nextYear = new Date(Date.now() + 365 * 86_400_000).toISOString()
    let isDone = false
    const purging = (async () => {
      let purges = 0
      for (; !isDone; purges++) await idempotencyKeys.purge(nextYear)
      return purges
    })()
    const entity = JSON.parse((await post(0, '/v1/entities', { external_id: 'purged' })).text)
    const ask = { entity_id: entity.id, product: 'marketplace_access' }
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        postUntilAdmitted(n, '/v1/underwrite', ask, { 'Idempotency-Key': `purged-${n % 5}` }),
      ),
    )
    isDone = true
    assert.ok((await purging) > 0)
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    const decisions = await installation.storage.environments.sandbox.query(
      'SELECT id FROM decisions WHERE entity_id = $1',
      [entity.id],
    )
    assert.equal(decisions.length, 5)
    assert.equal(new Set(answers.map(({ text }) => text)).size, 5)
  } finally {
    await installation.close()
  }
})

test('simultaneous batches for one entity, spread over two nodes, are all written, each transaction once', {
  skip,
}, async () => {
  const entity = JSON.parse((await post(0, '/v1/entities', { external_id: 'busy' })).text)
  const batch = (n: number) =>
    postUntilAdmitted(
      n,
      `/v1/entities/${entity.id}/transactions`,
      { transactions: [exampleTransaction(`own-${n}`), exampleTransaction('shared')] },
      { 'Idempotency-Key': `b-${n}` },
    )
  const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => batch(n)))
  assert.deepEqual(
    new Set(answers.map(({ status }) => status)),
    new Set([201]),
    answers.find(({ status }) => status !== 201)?.text,
  )
  assert.equal(
    answers.reduce((sum, { text }) => sum + JSON.parse(text).accepted, 0),
    31,
  )
})

test('entities that get one identifier at once, spread over two nodes, are all linked with each other', {
  skip,
}, async () => {
  const entities = await Promise.all(
    Array.from({ length: 20 }, async (_, n): Promise<string> => {
      return JSON.parse((await post(n, '/v1/entities', { external_id: `ring-${n}` })).text).id
    }),
  )
  const link = { identifier: { type: 'device', value: 'one-phone' }, verification: { status: 'verified' } }
  const answers = await Promise.all(
    entities.map((id, n) => postUntilAdmitted(n, `/v1/entities/${id}/identity-links`, link)),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  const ask = { entity_id: entities[0], product: 'marketplace_access' }
  const decision = JSON.parse((await post(0, '/v1/underwrite', ask, { 'Idempotency-Key': 'ring' })).text)
  const outcome = { type: 'fraud_confirmed', occurred_at: new Date().toISOString() }
  assert.equal((await post(1, `/v1/decisions/${decision.id}/outcomes`, outcome)).status, 201)
  for (const id of entities.slice(1)) {
    const { trust } = JSON.parse(await get(0, `/v1/entities/${id}`))
    assert.ok(trust.negative_exposure > 0, id)
  }
})

test('both nodes refuse a revoked key and decide under a newly activated policy within a second', {
  skip,
}, async () => {
  const cli = (...args: string[]) => runCliForJson(testStorage!.env, ...args)
  const created = cli('keys', 'create')
  const statuses = async () =>
    Promise.all(
      nodes.map(async ({ ports }) => {
        const request = { key: created.key, body: { external_id: 'shared' } }
        return (await postJson({ port: ports.sandbox, path: '/v1/entities' }, request)).status
      }),
    )
  assert.deepEqual(await statuses(), [200, 200])
  cli('keys', 'revoke', created.id)
  await untilCachesExpire()
  assert.deepEqual(await statuses(), [401, 401])

  for (const name of ['ann', 'ben']) cli('operators', 'add', `${name}@example.com`, '--name', name, '--role', 'admin')
  const installation = await openInstallation(readConfig(testStorage!.env))
  try {
    const [organization] = await listOrganizations(installation.storage.control)
    const act = async (email: string) => {
      const operator = await findActingOperator(installation, organization!.id, email)
      const by = { type: 'operator', operator, via: 'test (uid 0)' } as const
      return { ...byOperator(operator), by, channel: 'command_line' as const }
    }
    const source = sandboxPolicySource().replace(/^version: .*$/m, 'version: next')
    await proposePolicy(installation, await act('ann@example.com'), source)
    await approvePolicy(installation, await act('ben@example.com'), { version: 'next' })
    await activatePolicy(installation, await act('ben@example.com'), 'next')
  } finally {
    await installation.close()
  }
  await untilCachesExpire()
  const entity = JSON.parse((await post(0, '/v1/entities', { external_id: 'shared' })).text)
  for (const node of [0, 1]) {
    const { text } = await post(
      node,
      '/v1/underwrite',
      { entity_id: entity.id, product: 'marketplace_access' },
      { 'Idempotency-Key': `after-${node}` },
    )
    assert.equal(JSON.parse(text).policy_version, 'next')
  }
})

test('acts of the console with one key, spread over two nodes, happen once and get one answer', { skip }, async () => {
  const installation = await openInstallation(readConfig(testStorage!.env))
  try {
    const [organization] = await listOrganizations(installation.storage.control)
    const consoles = nodes.map(({ ports }) => ({
      service: { installation, urls: { console: `http://127.0.0.1:${ports.console}` } },
    }))
    const operator = { organizationId: organization!.id, email: 'oda@example.com', role: 'owner' } as const
    const oda = await signedInOperator(consoles[0]!, operator)
    const elsewhere = new ConsoleClient(consoles[1]!)
    elsewhere.cookie = oda.cookie
    const acts: [string, object, string][] = [
      ['api-keys.create', { name: 'Twice', scopes: ['usage:read'], expires_in_days: null }, 'key'],
      ['team.invite', { email: 'pia@example.com', name: 'Pia', role: 'viewer' }, 'link'],
    ]
    for (const [name, input, secret] of acts) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 ? elsewhere : oda).call(`${organization!.id}/sandbox/${name}`, input, { 'Idempotency-Key': name }),
        ),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.equal(new Set(answers.map(({ body }) => body[secret])).size, 1, name)
    }
    const { sandbox } = installation.storage.environments
    assert.equal((await sandbox.query("SELECT 1 FROM api_keys WHERE name = 'Twice'")).length, 1)
  } finally {
    await installation.close()
  }
})

test('after one node is killed, every write that either acknowledged is kept, and the audit log of both is intact', {
  skip,
}, async () => {
  const acknowledged: string[] = []
  const write = async (n: number) => {
    const answer = await post(n, '/v1/entities', { external_id: `kill-${n}` }).catch(() => undefined)
    if (answer?.status === 201) acknowledged.push(`kill-${n}`)
  }
  const writes = Array.from({ length: 200 }, (_, n) => write(n))
  nodes[1]!.child.kill('SIGKILL')
  await Promise.all(writes)
  assert.ok(acknowledged.length >= 100, 'the other node acknowledged all of its writes')
  for (const externalId of acknowledged)
    assert.equal((await post(0, '/v1/entities', { external_id: externalId })).status, 200)
  const verified = runCli(testStorage!.env, 'audit', 'verify')
  assert.equal(verified.status, 0, verified.stdout)
})
