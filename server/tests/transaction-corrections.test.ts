/** Transactions that are corrected or voided: what changes, what is kept, and who is told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TRANSACTIONS_READ_MAX } from '../src/api/transactions/next-cashflow.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { canonicalJson } from '../src/core/canonical-json.ts'
import { applyTransactions, emptyState, type TransactionFact } from '../src/core/facts/entity-state.ts'
import { exampleTransaction } from './example-transaction.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'
import { booked, monthly, verifiedApplicant } from './verified-applicant.ts'
import { until } from './webhook-receiver.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox
const now = new Date().toISOString()

let entities = 0
async function newEntity(): Promise<string> {
  return (await acme.post('/v1/entities', { external_id: `e-${entities++}` })).body.id
}

async function send(id: string, transactions: object[], status = 201) {
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const answer = await acme.post(`/v1/entities/${id}/transactions`, { transactions }, headers)
  assert.equal(answer.status, status, answer.text)
  return answer.body
}

/** The counts of a batch in the order accepted, duplicates, conflicts, corrected, voided. */
async function counts(id: string, transactions: object[]): Promise<number[]> {
  const batch = await send(id, transactions)
  const each = [batch.accepted, batch.duplicates, batch.conflicts, batch.corrected, batch.voided]
  assert.equal(
    each.reduce((sum, count) => sum + count),
    batch.received,
  )
  return each
}

test('other content is a conflict that is reported and changes nothing, and the same content is a duplicate', async () => {
  const id = await newEntity()
  const full = { balance_after: 5, category: 'rent', description: 'May', counterparty: { name: 'Landlord' } }
  await send(id, [exampleTransaction('a', full)])
  const before = await stateOf(id)
  assert.deepEqual(await counts(id, [exampleTransaction('a', full)]), [0, 1, 0, 0, 0])
  const spelled = { ...full, occurred_at: '2026-10-01T14:00:00+02:00' }
  assert.deepEqual(await counts(id, [exampleTransaction('a', spelled)]), [0, 1, 0, 0, 0])
  for (const other of [
    { amount: 12.35 },
    { occurred_at: '2026-10-01T11:59:00Z' },
    { occurred_at: '2026-10-01T12:02:00Z' },
    { currency: 'USD' },
    { direction: 'debit' },
    { balance_after: 5.01 },
    { category: 'groceries' },
    { description: 'June' },
    { counterparty: { name: 'Another' } },
  ]) {
    const batch = await send(id, [exampleTransaction('a', { ...full, ...other })])
    assert.deepEqual([batch.conflicts, batch.conflicting_ids], [1, ['a']], JSON.stringify(other))
  }
  assert.deepEqual(await counts(id, [exampleTransaction('a')]), [0, 0, 1, 0, 0], 'content that is left out')
  assert.equal(await stateOf(id), before)
})

test('a time ahead of the clock was recorded as now, and is a duplicate when it is sent again', async () => {
  const id = await newEntity()
  const ahead = exampleTransaction('ahead', { occurred_at: new Date(Date.now() + 120_000).toISOString() })
  assert.deepEqual(await counts(id, [ahead]), [1, 0, 0, 0, 0])
  assert.deepEqual(await counts(id, [ahead]), [0, 1, 0, 0, 0])
})

test('a correction by two minutes moves a transaction to the next day', async () => {
  const id = await newEntity()
  await send(id, [exampleTransaction('a', { occurred_at: '2026-10-01T23:59:00Z' })])
  const moved = { occurred_at: '2026-10-02T00:01:00Z' }
  assert.deepEqual(await counts(id, [exampleTransaction('a', { ...moved, corrects: true })]), [0, 0, 0, 1, 0])
  assert.equal(await stateOf(id), fromScratch([exampleTransaction('a', moved)]))

  const secondsAgo = (seconds: number) => ({ occurred_at: new Date(Date.now() - seconds * 1000).toISOString() })
  await send(id, [exampleTransaction('new', secondsAgo(30))])
  const later = exampleTransaction('new', { ...secondsAgo(1), corrects: true })
  assert.deepEqual(await counts(id, [later]), [0, 0, 0, 1, 0], 'also of one that happened just now')
})

test('a correction replaces the recorded transaction, a void takes it out, and either may be sent again', async () => {
  const id = await newEntity()
  await send(id, [exampleTransaction('a'), exampleTransaction('b', { amount: 50 })])
  const correction = exampleTransaction('a', { amount: 20, corrects: true })
  assert.deepEqual(await counts(id, [correction, { external_id: 'b', voided: true }]), [0, 0, 0, 1, 1])
  assert.equal(await stateOf(id), fromScratch([exampleTransaction('a', { amount: 20 })]))
  assert.deepEqual(await counts(id, [correction, { external_id: 'b', voided: true }]), [0, 2, 0, 0, 0])
  assert.deepEqual(await counts(id, [exampleTransaction('a', { amount: 20 })]), [0, 1, 0, 0, 0])
  assert.deepEqual(await counts(id, [exampleTransaction('a')]), [0, 0, 1, 0, 0], 'what it was before')
  assert.deepEqual(
    await counts(id, [exampleTransaction('b', { amount: 50 })]),
    [0, 0, 1, 0, 0],
    'a voided transaction does not come back by itself',
  )
  assert.deepEqual(await counts(id, [exampleTransaction('b', { amount: 50, corrects: true })]), [0, 0, 0, 1, 0])
  assert.equal(
    await stateOf(id),
    fromScratch([exampleTransaction('a', { amount: 20 }), exampleTransaction('b', { amount: 50 })]),
  )
})

test('one transaction of a batch may correct or void another before it', async () => {
  const id = await newEntity()
  assert.deepEqual(
    await counts(id, [
      exampleTransaction('a'),
      exampleTransaction('a', { amount: 7, corrects: true }),
      exampleTransaction('b'),
      { external_id: 'b', voided: true },
    ]),
    [2, 0, 0, 1, 1],
  )
  assert.equal(await stateOf(id), fromScratch([exampleTransaction('a', { amount: 7 })]))
})

test('a correction names the account, and what is recorded on another account stays as it is', async () => {
  const id = await newEntity()
  await send(id, [exampleTransaction('a', { account: { id: 'one' } })])
  const unknown = await send(id, [exampleTransaction('a', { corrects: true })], 400)
  assert.equal(unknown.error.param, '/transactions/0/external_id')
  const voided = { external_id: 'a', account: { id: 'one' }, voided: true }
  assert.deepEqual(await counts(id, [exampleTransaction('a'), voided]), [1, 0, 0, 0, 1])
  assert.equal(await stateOf(id, { withoutAccounts: true }), fromScratch([exampleTransaction('a')]))
})

test('a correction or a void that cannot be meant is refused with what to do, and nothing of its batch is written', async () => {
  const id = await newEntity()
  await send(id, [exampleTransaction('a')])
  const before = await stateOf(id)
  const refused = async (transaction: object) => {
    const { error } = await send(id, [exampleTransaction('new'), transaction], 400)
    assert.equal(error.code, 'validation_failed')
    return error.details.map(({ param, message }: { param: string; message: string }) => `${param} ${message}`)
  }
  assert.deepEqual(await refused(exampleTransaction('b', { corrects: true })), [
    '/transactions/1/external_id There is no transaction with this external_id to correct on this account. Leave out corrects to record it, or name the account that it was recorded on.',
  ])
  assert.deepEqual(await refused({ external_id: 'b', voided: true }), [
    '/transactions/1/external_id There is no transaction with this external_id to void on this account. Leave it out, or name the account that it was recorded on.',
  ])
  assert.deepEqual(await refused(exampleTransaction('a', { corrects: true, voided: true })), [
    '/transactions/1/corrects corrects and voided contradict each other. Leave out corrects to void the transaction, or voided to replace it.',
  ])
  assert.deepEqual(await refused({ external_id: 'a', corrects: true, amount: 5 }), [
    '/transactions/1/occurred_at transactions[1].occurred_at is required.',
    '/transactions/1/currency transactions[1].currency is required.',
    '/transactions/1/direction transactions[1].direction is required.',
  ])
  assert.deepEqual(
    (await refused({ external_id: 'a', voided: 'yes' })).at(-1),
    '/transactions/1/voided transactions[1].voided must be a boolean.',
  )
  assert.equal(await stateOf(id), before)
})

test('the record of what was replaced is kept, its entry on the log has its hash, and an event announces it', async () => {
  const id = await newEntity()
  const first = await send(id, [exampleTransaction('a', { description: 'Before' }), exampleTransaction('b')])
  const batch = await send(id, [
    exampleTransaction('a', { amount: 20, corrects: true }),
    { external_id: 'b', voided: true },
  ])
  const [kept] = await database.query('SELECT id, replaced FROM transaction_corrections WHERE entity_id = $1', [id])
  const replaced = JSON.parse(String(kept!.replaced))
  assert.deepEqual(
    replaced.map(({ action, was }: { action: string; was: Record<string, unknown> }) => [
      action,
      was.external_id,
      was.amount,
      was.description,
      was.batch_id,
    ]),
    [
      ['correct', 'a', '12.3400', 'Before', first.id],
      ['void', 'b', '12.3400', null, first.id],
    ],
  )
  const rows = await database.query(
    'SELECT external_id, amount, batch_id, void_batch_id FROM transactions WHERE entity_id = $1 ORDER BY external_id',
    [id],
  )
  assert.deepEqual(
    rows.map(({ external_id, amount, batch_id, void_batch_id }) => [external_id, amount, batch_id, void_batch_id]),
    [
      ['a', '20.0000', batch.id, null],
      ['b', '12.3400', first.id, batch.id],
    ],
  )
  const { data } = (await acme.get(`/v1/entities/${id}/audit-trail`)).body
  const entry = data.find(({ type }: { type: string }) => type === 'transactions.corrected')
  const { record_sha256, ...counted } = entry.data
  assert.deepEqual(counted, { entity_id: id, batch_id: batch.id, corrected: 1, voided: 1 })
  assert.match(record_sha256, /^[0-9a-f]{64}$/)
  assert.ok(!JSON.stringify(data).includes('Before'), 'the log names no content')
})

test('the log is verified with its corrections, and an altered record of what was replaced is found', async () => {
  const other = await api.newOrganization()
  const { body: entity } = await other.post('/v1/entities', { external_id: 'verified' })
  const path = `/v1/entities/${entity.id}`
  const post = (transactions: object[]) =>
    other.post(`${path}/transactions`, { transactions }, { 'Idempotency-Key': crypto.randomUUID() })
  await post([exampleTransaction('a')])
  const { body: batch } = await post([exampleTransaction('a', { amount: 9, corrects: true })])
  const isSealed = async () => (await other.get(`${path}/audit-trail`)).body.data[0].leaf_index !== null
  await until('the correction is sealed', isSealed)
  const { installation } = api.service
  const problems = async () =>
    (
      await verifyAuditLog({
        organizationId: other.id,
        environment: 'sandbox',
        store: installation.stores.sandbox,
        people: installation.stores.production,
        control: installation.storage.control,
        publicKeys: installation.masterKey.auditPublicKeys('sandbox'),
      })
    ).problems
  assert.deepEqual(await problems(), [])
  await tamper(database, `UPDATE transaction_corrections SET replaced = '[]' WHERE id = $1`, [batch.id])
  assert.match((await problems()).join(), new RegExp(`The correction of the batch ${batch.id} was changed`))
})

test('later decisions see a correction, and earlier ones replay as they were', async () => {
  const applicant = await verifiedApplicant(acme, now)
  const transactions = booked(
    [...monthly(3, 'Acme GmbH', 2900, 'salary'), ...monthly(2, 'City Rent', -1000), ...monthly(17, 'Market', -900)],
    { now, id: 't', opening: 3000 },
  )
  await applicant.ingest({ transactions })
  const before = await applicant.decide(5000)
  assert.equal(before.verdict, 'approve', JSON.stringify(before))
  const salaries = transactions.filter(({ direction }) => direction === 'credit')
  const batch = await applicant.ingest({
    transactions: salaries.map(({ external_id }) => ({ external_id, voided: true })),
  })
  assert.equal(batch.voided, 12)
  const after = await applicant.decide(5000)
  assert.notEqual(after.verdict, 'approve')
  for (const { id, verdict } of [before, after]) {
    const { body } = await acme.get(`/v1/decisions/${id}/replay`)
    assert.deepEqual([body.matches, body.decision.verdict], [true, verdict])
  }
})

test('a refund that is tagged as documented is decided on no worse than one that is not', async () => {
  const limits: number[] = []
  for (const category of [undefined, 'refund']) {
    for (const [bought, back] of [
      [60, 57],
      [60, 40],
    ] as const) {
      const applicant = await verifiedApplicant(acme, now)
      const shopping = [
        [bought, 'Shop', -1900],
        [back, 'Shop', 1900, category],
      ] as const
      const living = [
        ...monthly(3, 'Acme GmbH', 2900, 'salary'),
        ...monthly(2, 'City Rent', -1000),
        ...monthly(17, 'Market', -900),
      ]
      await applicant.ingest({
        transactions: booked([...living, ...shopping], { now, id: 'r', opening: 3000 }),
      })
      limits.push((await applicant.decide(100_000)).recommended_limit)
    }
  }
  const [untagged, untaggedLate, tagged, taggedLate] = limits as [number, number, number, number]
  assert.ok(untagged > 0 && tagged >= untagged && taggedLate >= untaggedLate, JSON.stringify(limits))
})

test('a voided payment between two entities takes its link of the trust graph with it', async () => {
  const [payer, payee] = [await newEntity(), await newEntity()]
  const payment = exampleTransaction('p', { direction: 'debit', counterparty: { entity_id: payee } })
  await send(payer, [payment])
  const links = () => database.query('SELECT 1 FROM graph_links WHERE entity_id = $1', [payer])
  const flow = async () => {
    const rows = await database.query('SELECT amount FROM payment_flows WHERE entity_id = $1', [payer])
    return rows.map(({ amount }) => amount)
  }
  assert.deepEqual([(await links()).length, await flow()], [1, ['12.3400']])
  await send(payer, [exampleTransaction('p', { ...payment, amount: 30, corrects: true })])
  assert.deepEqual([(await links()).length, await flow()], [1, ['30.0000']])
  await send(payer, [{ external_id: 'p', voided: true }])
  assert.deepEqual([(await links()).length, await flow()], [0, ['0.0000']])
})

test('after any batches, corrections and voids the state is that of the transactions that are left', async () => {
  let seed = 20_261_119
  const below = (bound: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % bound
  }
  const content = () => ({
    occurred_at: new Date(
      Date.UTC(2026, 8, 1) - [below(9), below(40), 400 + below(20)][below(3)]! * 86_400_000,
    ).toISOString(),
    amount: 1 + below(500),
    direction: below(2) === 0 ? 'credit' : 'debit',
    ...(below(3) > 0 && { balance_after: below(5000) }),
    ...(below(4) === 0 && { category: ['own_transfer', 'refund', 'loan_repayment'][below(3)] }),
  })
  for (let sequence = 0; sequence < 25; sequence++) {
    const id = await newEntity()
    const recorded = new Map<string, object>()
    for (let round = 0; round < 6; round++) {
      const batch: object[] = []
      for (let index = below(8); index >= 0; index--) {
        const name = `${below(25)}`
        const account = name < '5' ? { account: { id: 'other' } } : {}
        const known = recorded.has(name)
        if (known && below(2) === 0) {
          batch.push({ external_id: name, ...account, voided: true })
          recorded.set(name, {})
        } else {
          const transaction = exampleTransaction(name, { ...content(), ...account })
          batch.push(known ? { ...transaction, corrects: true } : transaction)
          recorded.set(name, transaction)
        }
      }
      await send(id, batch)
      const left = [...recorded.values()].filter((one) => 'amount' in one)
      assert.equal(
        await stateOf(id, { withoutAccounts: true }),
        fromScratch(left),
        `sequence ${sequence}, round ${round}`,
      )
    }
  }
})

test('a request that corrects days with more transactions than are read at once is refused, and writes nothing', async () => {
  const id = await newEntity()
  await send(id, [exampleTransaction('a')])
  const before = await stateOf(id)
  await database.query(
    `INSERT INTO transactions (org_id, entity_id, external_id, batch_id, occurred_at, amount, currency, direction)
     SELECT org_id, entity_id, 'b' || number, batch_id, occurred_at, amount, currency, direction
     FROM transactions, generate_series(1, $2) AS number WHERE entity_id = $1`,
    [id, TRANSACTIONS_READ_MAX],
  )
  const refused = await send(id, [exampleTransaction('a', { amount: 20, corrects: true })], 400)
  assert.match(refused.error.message, /more than 100000 are recorded\. Correct those of fewer days/)
  assert.equal(await stateOf(id), before)
  await tamper(database, 'DELETE FROM transactions WHERE entity_id = $1 AND external_id = $2', [id, 'b1'])
  assert.deepEqual(await counts(id, [exampleTransaction('a', { amount: 20, corrects: true })]), [0, 0, 0, 1, 0])
})

/** The cash flow of an entity as its row has it. */
async function stateOf(id: string, { withoutAccounts = false } = {}): Promise<string> {
  const [row] = await database.query('SELECT state FROM entities WHERE id = $1', [id])
  const { cashflow } = JSON.parse(String(row!.state))
  if (!withoutAccounts) return canonicalJson(cashflow)
  // The key of an account depends on the installation: it is named as the test does.
  const [key] = Object.keys(cashflow.accounts)
  const text = canonicalJson({ ...cashflow, accounts: {} })
  return key === undefined ? text : text.replaceAll(key, 'other')
}

/** The cash flow that these transactions have, as they were sent. */
function fromScratch(transactions: readonly object[]): string {
  const facts = (transactions as Record<string, unknown>[]).map(
    ({ external_id, occurred_at, balance_after, account, ...rest }) =>
      ({
        ...rest,
        externalId: external_id,
        occurredAt: new Date(String(occurred_at)).toISOString(),
        ...(balance_after !== undefined && { balanceAfter: balance_after }),
        ...(account !== undefined && { account: 'other' }),
      }) as TransactionFact,
  )
  return canonicalJson(applyTransactions(emptyState(), facts).cashflow)
}
