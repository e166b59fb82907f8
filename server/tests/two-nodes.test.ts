/** Several processes on one PostgreSQL are one service. The embedded database belongs to one process, so this needs a server. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findOperator } from '../src/admin/manage-operators.ts'
import { runCli, startServiceProcess } from './service-process.ts'
import { createTestStorage, onPostgres } from './test-storage.ts'

const skip = !onPostgres && 'needs PostgreSQL: npm run test:postgres'

const place = onPostgres ? await createTestStorage() : undefined
const nodes = place ? [await startServiceProcess(place.env), await startServiceProcess(place.env)] : []
after(async () => {
  for (const { child } of nodes) child.kill('SIGTERM')
  await Promise.all(nodes.map(({ exited }) => exited))
  await place?.remove()
})
const key = place ? /sk_sandbox_\w+/.exec(readFileSync(join(place.dataDir, 'first-run.txt'), 'utf8'))![0] : ''

async function post(node: number, path: string, body: unknown, headers: Record<string, string> = {}, bearer = key) {
  const response = await fetch(`http://127.0.0.1:${nodes[node % 2]!.ports.sandbox}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

async function get(node: number, path: string): Promise<string> {
  const url = `http://127.0.0.1:${nodes[node % 2]!.ports.sandbox}${path}`
  return (await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).text()
}

test('a hundred equal requests on one key, over two nodes, make one decision and get one answer', {
  skip,
}, async () => {
  const entity = JSON.parse((await post(0, '/v1/entities', { external_id: 'shared' })).text)
  const ask = (node: number) =>
    post(node, '/v1/underwrite', { entity_id: entity.id, product: 'credit_line' }, { 'Idempotency-Key': 'one' })
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(n)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})

test('batches that both nodes receive for one entity at once all count, each transaction once', { skip }, async () => {
  const entity = JSON.parse((await post(0, '/v1/entities', { external_id: 'busy' })).text)
  const transaction = (id: string) => ({
    external_id: id,
    occurred_at: '2026-10-01T00:00:00Z',
    amount: 1,
    currency: 'EUR',
    direction: 'credit',
  })
  const batch = (n: number) =>
    post(
      n,
      `/v1/entities/${entity.id}/transactions`,
      { transactions: [transaction(`own-${n}`), transaction('shared')] },
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

test('all who state one identifier at once, over two nodes, are linked with each other', { skip }, async () => {
  const entities = await Promise.all(
    Array.from({ length: 20 }, async (_, n): Promise<string> => {
      return JSON.parse((await post(n, '/v1/entities', { external_id: `ring-${n}` })).text).id
    }),
  )
  const link = { identifier: { type: 'device', value: 'one-phone' }, verification: { status: 'verified' } }
  const answers = await Promise.all(entities.map((id, n) => post(n, `/v1/entities/${id}/identity-links`, link)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  const ask = { entity_id: entities[0], product: 'credit_line' }
  const decision = JSON.parse((await post(0, '/v1/underwrite', ask, { 'Idempotency-Key': 'ring' })).text)
  const outcome = { type: 'fraud_confirmed', occurred_at: '2026-11-01T00:00:00Z' }
  assert.equal((await post(1, `/v1/decisions/${decision.id}/outcomes`, outcome)).status, 201)
  for (const id of entities.slice(1)) {
    const { trust } = JSON.parse(await get(0, `/v1/entities/${id}`))
    assert.ok(trust.negative_exposure > 0, id)
  }
})

test('a revoked key and a new policy are felt on both nodes within a second', { skip }, async () => {
  const cli = (...args: string[]) => {
    const result = runCli(place!.env, ...args)
    assert.equal(result.status, 0, result.stderr)
    return result.stdout
  }
  const created = JSON.parse(cli('keys', 'create', '--json'))
  const statuses = async () =>
    Promise.all(
      [0, 1].map(async (node) => (await post(node, '/v1/entities', { external_id: 'k' }, {}, created.key)).status),
    )
  assert.ok((await statuses()).every((status) => status < 300))
  cli('keys', 'revoke', created.id)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.deepEqual(await statuses(), [401, 401])

  const { openInstallation } = await import('../src/service/installation.ts')
  const { activatePolicy, approvePolicy, proposePolicy } = await import('../src/admin/manage-policies.ts')
  const { readConfig } = await import('../src/config.ts')
  const { listOrganizations } = await import('../src/store/queries/organizations.ts')
  for (const name of ['ann', 'ben']) cli('operators', 'add', `${name}@example.com`, '--name', name, '--role', 'admin')
  const installation = await openInstallation(readConfig(place!.env))
  try {
    const [organization] = await listOrganizations(installation.storage.control)
    const act = async (email: string) => {
      const operator = await findOperator(installation, organization!.id, email)
      assert.ok(!('problem' in operator))
      return { organizationId: organization!.id, environment: 'sandbox' as const, operator, reason: 'A test.' }
    }
    const source = readFileSync(join(import.meta.dirname, '../../policies/sandbox-policy-v1.yaml'), 'utf8').replace(
      /^version: .*$/m,
      'version: next',
    )
    assert.ok(!('problem' in (await proposePolicy(installation, await act('ann@example.com'), source))))
    assert.ok(!('problem' in (await approvePolicy(installation, await act('ben@example.com'), 'next'))))
    assert.ok(!('problem' in (await activatePolicy(installation, await act('ben@example.com'), 'next'))))
  } finally {
    await installation.close()
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const entity = JSON.parse((await post(0, '/v1/entities', { external_id: 'shared' })).text)
  for (const node of [0, 1]) {
    const { text } = await post(
      node,
      '/v1/underwrite',
      { entity_id: entity.id, product: 'credit_line' },
      { 'Idempotency-Key': `after-${node}` },
    )
    assert.equal(JSON.parse(text).policy_version, 'next')
  }
})

test('killing one node loses nothing that either acknowledged, and one log covers both', { skip }, async () => {
  const acknowledged: string[] = []
  const write = async (n: number) => {
    const answer = await post(n, '/v1/entities', { external_id: `kill-${n}` }).catch(() => undefined)
    if (answer?.status === 201) acknowledged.push(`kill-${n}`)
  }
  const writes = Array.from({ length: 200 }, (_, n) => write(n))
  nodes[1]!.child.kill('SIGKILL')
  await Promise.all(writes)
  assert.ok(acknowledged.length >= 90)
  for (const externalId of acknowledged)
    assert.equal((await post(0, '/v1/entities', { external_id: externalId })).status, 200)
  const verified = runCli(place!.env, 'audit', 'verify')
  assert.equal(verified.status, 0, verified.stdout)
})
