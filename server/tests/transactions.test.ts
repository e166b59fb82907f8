import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CURRENCIES } from '../src/core/schema/iso-codes.ts'
import { exampleTransaction } from './example-transaction.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox

let entities = 0
async function newEntity(): Promise<string> {
  return (await acme.post('/v1/entities', { external_id: `e-${entities++}` })).body.id
}

let batches = 0
function ingest(id: string, transactions: unknown[]) {
  return acme.post(`/v1/entities/${id}/transactions`, { transactions }, { 'Idempotency-Key': `batch-${batches++}` })
}

test('a transaction with a known external id changes nothing, within a batch and across batches: a duplicate or a conflict', async () => {
  const id = await newEntity()
  const first = await ingest(id, [
    exampleTransaction('a'),
    exampleTransaction('b'),
    exampleTransaction('a', { amount: 99 }),
    exampleTransaction('a'),
  ])
  const { received, accepted, duplicates, conflicts, conflicting_ids } = first.body
  assert.deepEqual([first.status, received, accepted, duplicates, conflicts], [201, 4, 2, 1, 1])
  assert.deepEqual(conflicting_ids, ['a'])
  const second = await ingest(id, [exampleTransaction('b', { amount: 5 }), exampleTransaction('c')])
  assert.deepEqual([second.body.received, second.body.accepted, second.body.conflicts], [2, 1, 1])
  const rows = await database.query(
    'SELECT external_id, amount FROM transactions WHERE entity_id = $1 ORDER BY external_id',
    [id],
  )
  assert.deepEqual(
    rows.map((row) => [row.external_id, row.amount]),
    [
      ['a', '12.3400'],
      ['b', '12.3400'],
      ['c', '12.3400'],
    ],
    'the first transaction of each external id is kept',
  )
})

test('one invalid transaction refuses the whole batch with its index and writes nothing', async () => {
  const id = await newEntity()
  const count = async () => (await database.query('SELECT count(*) AS n FROM transactions'))[0]!.n
  const before = await count()
  for (const [bad, field] of [
    [{ amount: -5 }, 'amount'],
    [{ amount: 0.00001 }, 'amount'],
    [{ amount: 123456789012.3456 }, 'amount'],
    [{ occurred_at: '2999-01-01T00:00:00Z' }, 'occurred_at'],
    [{ occurred_at: '2026-02-31T00:00:00Z' }, 'occurred_at'],
    [{ occurred_at: '2026-02-29T00:00:00Z' }, 'occurred_at'],
    [{ currency: 'euro' }, 'currency'],
    [{ currency: 'ZZZ' }, 'currency'],
    [{ direction: 'up' }, 'direction'],
    [{ extra: 1 }, 'extra'],
  ] as const) {
    const refused = await ingest(id, [exampleTransaction('x'), exampleTransaction('y', bad)])
    assert.equal(refused.status, 400, JSON.stringify(bad))
    assert.equal(refused.body.error.param, `/transactions/1/${field}`)
  }
  assert.equal(await count(), before)
  assert.equal(
    (await acme.get(`/v1/entities/${id}/audit-trail`)).body.data.length,
    1,
    'only the creation is on the trail',
  )
})

test('simultaneous batches for one entity are all written, each transaction once', async () => {
  const id = await newEntity()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, batch) =>
      ingest(id, [exampleTransaction(`t-${batch}`), exampleTransaction('shared')]),
    ),
  )
  assert.ok(answers.every(({ status }) => status === 201))
  assert.equal(
    answers.reduce((sum, { body }) => sum + body.accepted, 0),
    21,
  )
  const [row] = await database.query('SELECT version FROM entities WHERE id = $1', [id])
  assert.equal(row!.version, 21, 'the state was updated once for each batch')
})

test('the answer to a batch counts the different categories that are not recognized', async () => {
  const { id } = (await acme.post('/v1/entities', { external_id: 'categories' })).body
  const categories = ['salary', 'LOAN_PAYMENTS_CAR_PAYMENT', 'Own transfer', 'mystery', 'mystery', '7995', undefined]
  const transactions = categories.map((category, n) => exampleTransaction(`c-${n}`, category ? { category } : {}))
  const { body } = await acme.post(`/v1/entities/${id}/transactions`, { transactions }, { 'Idempotency-Key': 'cat' })
  assert.deepEqual([body.accepted, body.unrecognized_categories], [7, 2])
})

test('an entity with transactions in too many currencies and days is refused more, with what to do', async () => {
  const id = await newEntity()
  const batchOf = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const place = first + index
      return exampleTransaction(`d-${place}`, {
        occurred_at: new Date(Date.UTC(2026, 0, 1 + Math.floor(place / 100))).toISOString(),
        currency: [...CURRENCIES][place % 100]!,
      })
    })
  for (const first of [0, 1_000, 2_000]) assert.equal((await ingest(id, batchOf(first, 1_000))).status, 201)
  assert.equal((await ingest(id, batchOf(3_000, 200))).status, 201)
  const refused = await ingest(id, batchOf(3_200, 1))
  assert.deepEqual([refused.status, refused.body.error.param], [400, '/transactions'])
  assert.match(refused.body.error.message, /transactions or statement balances on 3201 days .*it can have 3200/)
  const known = await ingest(id, [{ ...batchOf(0, 1)[0], external_id: 'another' }])
  assert.equal(known.status, 201, 'a further transaction on a day that is kept')
})
