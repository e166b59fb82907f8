import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openEnvironmentStore } from '../src/store/environment/environment-store.ts'
import type { RowOf } from '../src/store/schema/tables.ts'
import { exampleTransaction } from './example-transaction.ts'
import { testKeys } from './test-keys.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox
const { body: entity } = await acme.post('/v1/entities', { external_id: 'idempotent' })
const path = `/v1/entities/${entity.id}/transactions`

function batch(externalId: string) {
  return { transactions: [exampleTransaction(externalId)] }
}

/** How many rows a request could have added, and the sum of the versions of all entities. */
async function rowCounts() {
  const [row] = await database.query<{
    transactions: number
    audit: number
    events: number
    keys: number
    versions: number
  }>(`SELECT (SELECT count(*) FROM transactions) AS transactions, (SELECT count(*) FROM audit_entries) AS audit,
    (SELECT count(*) FROM events WHERE type <> 'audit.checkpoint') AS events, (SELECT count(*) FROM idempotency_keys) AS keys,
    (SELECT sum(version) FROM entities) AS versions`)
  return row!
}

test('a hundred simultaneous equal requests with one key have one effect and one answer', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => acme.post(path, batch('race'), { 'Idempotency-Key': 'race' })),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length, 99)
  const [row] = await database.query("SELECT count(*) AS n FROM audit_entries WHERE type = 'transactions.ingested'")
  assert.equal(row!.n, 1)
})

/** Has another node commit this idempotency key while the next request is handled, before that request commits. */
function commitKeyElsewhere(changes: Partial<RowOf<'idempotency_keys'>>): void {
  const { sandbox } = api.service.installation.stores
  const { commit } = sandbox
  sandbox.commit = async (change) => {
    // Background jobs commit, too, and without a key.
    if (!change.idempotencyKey) return commit(change)
    sandbox.commit = commit
    // A second store on the same database has its own queue, as another node has: only the database decides the race.
    const key = { ...change.idempotencyKey, ...changes }
    assert.deepEqual(
      await openEnvironmentStore(database, testKeys).commit({
        organizationId: change.organizationId,
        idempotencyKey: key,
      }),
      {},
    )
    return commit(change)
  }
}

test('a request that loses its key to another node writes nothing and repeats the answer of that node', async () => {
  const before = (await acme.post(path, batch('other-node'), { 'Idempotency-Key': 'other-node' })).body
  const body = JSON.stringify({ ...before, received: 7 })
  const counts = await rowCounts()
  commitKeyElsewhere({ body })
  const answer = await acme.post(path, batch('lost'), { 'Idempotency-Key': 'lost' })
  assert.deepEqual([answer.status, answer.text, answer.headers.get('idempotent-replayed')], [201, body, 'true'])
  assert.deepEqual(
    await rowCounts(),
    { ...counts, keys: counts.keys + 1 },
    'only the key of the other node was written',
  )
})

test('a request that loses its key to another request of another node is refused and writes nothing', async () => {
  const counts = await rowCounts()
  commitKeyElsewhere({ fingerprint: Buffer.from('another request') })
  const refused = await acme.post(path, batch('refused'), { 'Idempotency-Key': 'refused' })
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'idempotency_key_reused'])
  assert.deepEqual(
    await rowCounts(),
    { ...counts, keys: counts.keys + 1 },
    'only the key of the other node was written',
  )
})

test('a reused key with another body is refused and writes nothing', async () => {
  const first = await acme.post(path, batch('once'), { 'Idempotency-Key': 'reuse' })
  assert.equal(first.status, 201)
  const before = await rowCounts()
  const refused = await acme.post(path, batch('twice'), { 'Idempotency-Key': 'reuse' })
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'idempotency_key_reused'])
  assert.deepEqual(await rowCounts(), before)
})

test('the same JSON in another spelling is the same request', async () => {
  const headers = { 'Idempotency-Key': 'spelling', 'Content-Type': 'application/json' }
  const one = await api.request('sandbox', '/v1/entities', {
    method: 'POST',
    key: acme.keys.sandbox,
    headers,
    rawBody: '{"external_id":"s","type":"person"}',
  })
  const two = await api.request('sandbox', '/v1/entities', {
    method: 'POST',
    key: acme.keys.sandbox,
    headers,
    rawBody: ' { "type" : "person", "external_id":"\\u0073" } ',
  })
  assert.equal(one.text, two.text)
  assert.equal(two.headers.get('idempotent-replayed'), 'true')
})

test('a retry with another API key of the organization repeats the answer', async () => {
  const { key } = await acme.newKey('sandbox', ['entities:write'])
  const headers = { 'Idempotency-Key': 'rotated' }
  const one = await acme.post('/v1/entities', { external_id: 'rotated' }, headers)
  const two = await api.request('sandbox', '/v1/entities', {
    method: 'POST',
    key,
    body: { external_id: 'rotated' },
    headers,
  })
  assert.deepEqual([one.status, two.status, two.text], [201, 201, one.text])
  assert.equal(two.headers.get('idempotent-replayed'), 'true')
})

test('a refused request does not use up its key', async () => {
  const headers = { 'Idempotency-Key': 'second-try' }
  assert.equal((await acme.post(path, { transactions: [] }, headers)).status, 400)
  assert.equal((await acme.post(path, batch('second-try'), headers)).status, 201)
})

test('a batch of transactions needs a key of 1 to 255 printable ASCII characters', async () => {
  assert.equal((await acme.post(path, batch('none'))).body.error.code, 'idempotency_key_missing')
  for (const key of ['', 'x'.repeat(256), 'tab\tbed', 'caf\u00e9']) {
    const refused = await acme.post(path, batch('none'), { 'Idempotency-Key': key })
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'idempotency_key_invalid'], JSON.stringify(key))
  }
})

test('a kept answer is deleted after a day and not before', async () => {
  const store = api.service.installation.stores.sandbox
  const hours = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString()
  assert.equal(await store.idempotencyKeys.purge(hours(23)), 0)
  assert.ok((await store.idempotencyKeys.purge(hours(25))) > 0)
  assert.equal((await acme.post(path, batch('twice'), { 'Idempotency-Key': 'reuse' })).status, 201)
})
