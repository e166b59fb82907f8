import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox
const { body: entity } = await acme.post('/v1/entities', { external_id: 'idempotent' })
const path = `/v1/entities/${entity.id}/transactions`

function batch(externalId: string, amount = 1) {
  return {
    transactions: [
      { external_id: externalId, occurred_at: '2026-10-01T00:00:00Z', amount, currency: 'EUR', direction: 'debit' },
    ],
  }
}

async function rowCounts(): Promise<unknown> {
  const [row] =
    await database.query(`SELECT (SELECT count(*) FROM transactions) AS transactions, (SELECT count(*) FROM audit_entries) AS audit,
    (SELECT count(*) FROM events WHERE type <> 'audit.checkpoint') AS events, (SELECT count(*) FROM idempotency_keys) AS keys,
    (SELECT sum(version) FROM entities) AS versions`)
  return row
}

test('a hundred simultaneous equal requests on one key have one effect and one answer', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => acme.post(path, batch('race'), { 'Idempotency-Key': 'race' })),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length, 99)
  const [row] = await database.query("SELECT count(*) AS n FROM audit_entries WHERE type = 'transactions.ingested'")
  assert.equal(row!.n, 1)
})

test('a key that another node wrote in between loses to it and repeats its answer', async () => {
  // Another node is another set of turns and another queue on the same database: the race is decided by the database alone.
  const { openEnvironmentStore } = await import('../src/store/environment-store.ts')
  const elsewhere = openEnvironmentStore(database)
  const [kept] = await database.query<{ fingerprint: string; body: string }>(
    "SELECT fingerprint, body FROM idempotency_keys WHERE key = 'race'",
  )
  const row = {
    org_id: acme.id,
    route: 'POST /v1/entities/{entity_id}/transactions',
    key: 'race',
    fingerprint: kept!.fingerprint,
    status: 201,
    body: '{}',
    created_at: '2026-10-01T00:00:00.000Z',
  }
  const before = await rowCounts()
  assert.deepEqual(
    await elsewhere.commit({
      idempotencyKey: row,
      rows: { events: [{ org_id: acme.id, id: 'evt_lost', type: 'x', created_at: row.created_at, data: '{}' }] },
    }),
    {
      lost: 'idempotency_key',
    },
  )
  assert.deepEqual(await rowCounts(), before, 'nothing of the losing change was written')
})

test('a reused key with another body is refused and writes nothing', async () => {
  const first = await acme.post(path, batch('once'), { 'Idempotency-Key': 'reuse' })
  assert.equal(first.status, 201)
  const before = await rowCounts()
  const refused = await acme.post(path, batch('twice'), { 'Idempotency-Key': 'reuse' })
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'idempotency_key_reused'])
  assert.deepEqual(await rowCounts(), before)
})

test('the same body in another spelling is the same request', async () => {
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

test('a rotated API key does not break a retry', async () => {
  const { key } = await acme.newKey('sandbox', ['entities:write'])
  const headers = { 'Idempotency-Key': 'rotated' }
  const one = await acme.post('/v1/entities', { external_id: 'rotated' }, headers)
  const two = await api.request('sandbox', '/v1/entities', {
    method: 'POST',
    key,
    body: { external_id: 'rotated' },
    headers,
  })
  assert.equal(one.text, two.text)
})

test('a refused request does not use its key up', async () => {
  const headers = { 'Idempotency-Key': 'second-try' }
  assert.equal((await acme.post(path, { transactions: [] }, headers)).status, 400)
  assert.equal((await acme.post(path, batch('second-try'), headers)).status, 201)
})

test('a key is required where money moves, and must be printable', async () => {
  assert.equal((await acme.post(path, batch('none'))).body.error.code, 'idempotency_key_missing')
  for (const key of ['', 'x'.repeat(256), 'tab\tbed', 'caf\u00e9']) {
    const refused = await acme.post(path, batch('none'), { 'Idempotency-Key': key })
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'idempotency_key_invalid'], JSON.stringify(key))
  }
})

test('kept answers are forgotten after a day and not before', async () => {
  const store = api.service.installation.stores.sandbox
  const hours = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString()
  assert.equal(await store.purgeKeptAnswers(hours(23)), 0)
  assert.ok((await store.purgeKeptAnswers(hours(25))) > 0)
  assert.equal((await acme.post(path, batch('twice'), { 'Idempotency-Key': 'reuse' })).status, 201)
})
