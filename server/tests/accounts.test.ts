/** Several accounts of one applicant, joint accounts, and statements without running balances, through the API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleTransaction } from './example-transaction.ts'
import { startTestService } from './test-service.ts'
import { booked, type Movements, monthly, verifiedApplicant } from './verified-applicant.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox
const now = new Date().toISOString()
const dayAgo = (days: number) => new Date(Date.parse(now) - days * 86_400_000).toISOString().slice(0, 10)

const SALARY = monthly(3, 'Acme GmbH', 2900, 'salary')
const LIVING: Movements = [
  ...monthly(2, 'City Rent', -1000),
  ...monthly(24, 'Market', -400),
  ...monthly(17, 'Power and Water', -250),
  ...monthly(12, 'Railway', -350),
]
/** A second account from which the household is paid. */
const HOUSEHOLD: Movements = [
  ...monthly(1, 'Own account', 500),
  ...monthly(23, 'Market', -260),
  ...monthly(9, 'Insurance', -190),
]
/** What goes to the second account leaves the first. */
const TO_HOUSEHOLD = monthly(1, 'Own account', -500)

async function featuresOf(decision: { id: string }): Promise<Record<string, { value?: unknown; missing?: string }>> {
  const { body } = await acme.get(`/v1/decisions/${decision.id}/replay`)
  assert.equal(body.matches, true)
  return body.evidence.feature_snapshot
}

const codesOf = (decision: { reason_codes: { code: string }[] }) => decision.reason_codes.map(({ code }) => code)

test('two sound current accounts are approved, and without their names go to a person because balances do not add up', async () => {
  const accounts = (named: boolean) => [
    ...booked([...SALARY, ...LIVING, ...TO_HOUSEHOLD], {
      now,
      id: 'a',
      opening: 3000,
      ...(named && { account: { id: 'DE89 3704 0044 0532 0130 00' } }),
    }),
    ...booked(HOUSEHOLD, { now, id: 'b', opening: 1200, ...(named && { account: { id: 'household' } }) }),
  ]
  const [named, unnamed] = [await verifiedApplicant(acme, now), await verifiedApplicant(acme, now)]
  const batch = await named.ingest({ transactions: accounts(true) })
  assert.deepEqual([batch.received, batch.accepted, batch.conflicts], [108, 108, 0])
  await unnamed.ingest({ transactions: accounts(false) })
  const approved = await named.decide(5000)
  assert.equal(approved.verdict, 'approve', JSON.stringify(approved))
  const features = await featuresOf(approved)
  assert.equal(features['cashflow.balances_reconciled']!.value, 1)
  assert.equal(features['cashflow.other_income']!.value, 0, 'the transfers between the two are no income')
  assert.equal((await unnamed.decide(5000)).verdict, 'manual_review')
})

test('savings beside two current accounts count for the reserve, and raise the limit', async () => {
  const current = [
    ...booked([...SALARY, ...LIVING, ...TO_HOUSEHOLD], { now, id: 'a', opening: 800, account: { id: 'a' } }),
    ...booked(HOUSEHOLD, { now, id: 'b', opening: 700, account: { id: 'b' } }),
  ]
  const interest = Array.from({ length: 5 }, (_, quarter) => [5 + quarter * 88, 'Bank', 30, 'interest'] as const)
  const savings = booked(interest, { now, id: 's', opening: 9000, account: { id: 's', kind: 'savings' } })
  const [without, with_] = [await verifiedApplicant(acme, now), await verifiedApplicant(acme, now)]
  await without.ingest({ transactions: current })
  await with_.ingest({ transactions: current })
  await with_.ingest({ transactions: savings })
  const [small, large] = [await without.decide(40_000), await with_.decide(40_000)]
  assert.ok((large.recommended_limit ?? 0) > (small.recommended_limit ?? 0), `${small.verdict} ${large.verdict}`)
  const [before, after] = [await featuresOf(small), await featuresOf(large)]
  const more = Number(after['cashflow.reserve']!.value) - Number(before['cashflow.reserve']!.value)
  assert.ok(more >= 9000 && more <= 9200, `${more}`)
  assert.equal((await with_.decide(5000)).verdict, 'approve')
})

test('opening and closing balances of statements stand for those that transactions do not report', async () => {
  const movements: Movements = [...SALARY, ...LIVING]
  const account = { id: 'camt', kind: 'current' }
  const silent = booked(movements, { now, id: 't', account })
  const balanceAt = (ago: number) =>
    movements.reduce((sum, [days, , amount]) => (days >= ago ? sum + amount : sum), 2600)
  const statement = (first: number, last: number) => [
    { account, as_of: dayAgo(first), kind: 'opening', amount: balanceAt(first + 1), currency: 'EUR' },
    { account, as_of: dayAgo(last), kind: 'closing', amount: balanceAt(last), currency: 'EUR' },
  ]
  const statements = Array.from({ length: 12 }, (_, month) => statement(29 + month * 30, month * 30)).flat()
  const [plain, sound, hiding] = [
    await verifiedApplicant(acme, now),
    await verifiedApplicant(acme, now),
    await verifiedApplicant(acme, now),
  ]
  await plain.ingest({ transactions: silent })
  assert.ok(codesOf(await plain.decide(5000)).includes('balances_missing'))

  assert.equal((await sound.ingest({ transactions: silent, balances: statements })).balances, 24)
  const decision = await sound.decide(5000)
  assert.equal(decision.verdict, 'approve', JSON.stringify(decision))
  const features = await featuresOf(decision)
  assert.deepEqual(
    [features['cashflow.balances_reconciled']!.value, features['cashflow.debits_with_balance']!.value],
    [1, 1],
  )

  const hidden = silent.filter(({ counterparty }) => counterparty!.name !== 'City Rent')
  await hiding.ingest({ transactions: hidden, balances: statements })
  assert.equal((await hiding.decide(5000)).verdict, 'manual_review', 'a statement shows what was left out')
})

test('a balance alone may be sent; the same again is not new, and another amount replaces it', async () => {
  const applicant = await verifiedApplicant(acme, now)
  await applicant.ingest({ transactions: booked([...SALARY, ...LIVING], { now, id: 'p' }) })
  const balance = { as_of: dayAgo(0), kind: 'closing', amount: 1500, currency: 'EUR' }
  const counts: number[] = []
  for (const amount of [1500, 1500, 2700]) {
    const body = await applicant.ingest({ transactions: [], balances: [{ ...balance, amount }] })
    counts.push(body.balances)
    assert.equal(body.received, 0)
  }
  assert.deepEqual(counts, [1, 0, 1])
  const features = await featuresOf(await applicant.decide(1000))
  assert.equal(features['cashflow.last_balance']!.value, 2700)
})

test('a joint account counts by its holders, also if that is said later', async () => {
  const transactions = (holders?: number) =>
    booked([...SALARY, ...LIVING], {
      now,
      id: 'j',
      opening: 4000,
      account: { id: 'joint', ...(holders && { holders }) },
    })
  const [alone, joint, later] = [
    await verifiedApplicant(acme, now),
    await verifiedApplicant(acme, now),
    await verifiedApplicant(acme, now),
  ]
  await alone.ingest({ transactions: transactions() })
  await joint.ingest({ transactions: transactions(2) })
  await later.ingest({ transactions: transactions() })
  const one = await featuresOf(await alone.decide(20_000))
  const half = await featuresOf(await joint.decide(20_000))
  for (const name of ['monthly_income', 'monthly_spending', 'reserve', 'last_balance'])
    assert.equal(half[`cashflow.${name}`]!.value, Math.floor(Number(one[`cashflow.${name}`]!.value) * 50) / 100, name)
  assert.deepEqual(withoutRequest(await featuresOf(await later.decide(20_000))), withoutRequest(one))
  const again = await later.ingest({ transactions: [{ ...transactions()[0], account: { id: 'joint', holders: 2 } }] })
  assert.deepEqual([again.duplicates, again.accepted], [1, 0])
  assert.deepEqual(withoutRequest(await featuresOf(await later.decide(20_000))), withoutRequest(half))
})

/** The features without those that differ between two requests for the same. */
function withoutRequest(features: Awaited<ReturnType<typeof featuresOf>>) {
  return Object.fromEntries(
    Object.entries(features).filter(([name]) => !/^(request\.hash|history\.requests_)/.test(name)),
  )
}

test('the purchases of a card are spending, what pays for them is not, and its balance is owed', async () => {
  const applicant = await verifiedApplicant(acme, now)
  const card = { id: 'card-1', kind: 'card' }
  const spending = monthly(20, 'Shop', -300)
  const payments = monthly(4, 'Card payment', -300)
  await applicant.ingest({
    transactions: [
      ...booked([...SALARY, ...LIVING, ...payments], { now, id: 'a', opening: 3000, account: { id: 'a' } }),
      ...booked([...spending, ...monthly(4, 'Payment received', 300)], { now, id: 'c', opening: -150, account: card }),
    ],
  })
  const features = await featuresOf(await applicant.decide(5000))
  const alone = await verifiedApplicant(acme, now)
  await alone.ingest({ transactions: booked([...SALARY, ...LIVING, ...spending], { now, id: 'a', opening: 3000 }) })
  const expected = await featuresOf(await alone.decide(5000))
  assert.equal(features['cashflow.monthly_spending']!.value, expected['cashflow.monthly_spending']!.value)
  assert.deepEqual([features['cashflow.owed']!.value, features['cashflow.overdrawn_days_365']!.value], [150, 0])
})

test('an account is the same however its IBAN is written; any other id is compared exactly', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'spellings' })
  const send = (id: string, key: string) =>
    acme.post(
      `/v1/entities/${entity.id}/transactions`,
      { transactions: [exampleTransaction('same', { account: { id } })] },
      { 'Idempotency-Key': `spelling-${key}` },
    )
  assert.equal((await send('DE89370400440532013000', '1')).body.accepted, 1)
  assert.equal((await send('de89 3704 0044 0532 0130 00', '2')).body.duplicates, 1)
  for (const [index, id] of ['acc-1-1', 'acc-11', 'ACC-11', 'DE88370400440532013000'].entries())
    assert.equal((await send(id, `other-${index}`)).body.accepted, 1, id)
  const rows = await database.query('SELECT account, masked, kind FROM bank_accounts WHERE entity_id = $1', [entity.id])
  assert.equal(rows.length, 5)
  assert.ok(rows.every(({ account }) => /^[0-9a-f]{16}$/.test(String(account))))
  assert.deepEqual(rows.map(({ masked }) => masked).sort(), ['****1', '****1', '****1', '****3000', '****3000'])
})

test('what a batch says of accounts and balances has to agree, and be possible', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'contradictions' })
  const refused = async (body: object) => {
    const answer = await acme.post(`/v1/entities/${entity.id}/transactions`, body, { 'Idempotency-Key': 'refused' })
    assert.equal(answer.status, 400, answer.text)
    return [answer.body.error.param, answer.body.error.details[0].message]
  }
  const on = (account: object, id = 'x') => exampleTransaction(id, { account })
  const balance = { as_of: '2026-10-01', kind: 'opening', amount: 5, currency: 'EUR' }
  assert.deepEqual(
    await refused({ transactions: [on({ id: 'a', kind: 'card' }), on({ id: 'a', kind: 'loan' }, 'y')] }),
    [
      '/transactions/1/account/kind',
      'kind is loan here and card where the request names this account before. Give one of them.',
    ],
  )
  assert.equal((await refused({ transactions: [on({ id: 'a', holders: 0 })] }))[0], '/transactions/0/account/holders')
  assert.equal((await refused({ transactions: [on({ id: ' ' })] }))[0], '/transactions/0/account/id')
  assert.equal((await refused({ transactions: [on({ id: 'a', iban: 'x' })] }))[0], '/transactions/0/account/iban')
  assert.deepEqual(await refused({ transactions: [] }), [
    '/transactions',
    'transactions must have at least 1 item if there are no balances.',
  ])
  assert.deepEqual(await refused({ transactions: [], balances: [balance, { ...balance, amount: 6 }] }), [
    '/balances/1/amount',
    'amount differs from that of balances[0], which is the opening balance of the same day. Give one of them.',
  ])
  const later = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
  assert.equal((await refused({ transactions: [], balances: [{ ...balance, as_of: later }] }))[0], '/balances/0/as_of')
  assert.equal(
    (await refused({ transactions: [], balances: [{ ...balance, as_of: '0000-01-01' }] }))[0],
    '/balances/0/as_of',
  )
  const many = Array.from({ length: 65 }, (_, index) => on({ id: `account ${index}` }, `${index}`))
  assert.match((await refused({ transactions: many }))[1], /would have 65 accounts; it can have 64/)
  const balances = many.map((_, index) => ({ ...balance, account: { id: `account ${index}` } }))
  const [param, message] = await refused({ transactions: [], balances })
  assert.equal(param, '/balances')
  assert.match(message, /would have 65 accounts; it can have 64/)
  const [row] = await database.query('SELECT count(*) AS n FROM transactions WHERE entity_id = $1', [entity.id])
  assert.equal(row!.n, 0)
})

test('the sources of data are kept with what they provided: of a transaction its own, or that of its batch', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'sources' })
  const post = async (part: string, body: object) => {
    const answer = await acme.post(`/v1/entities/${entity.id}/${part}`, body, { 'Idempotency-Key': `source-${part}` })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  const bank = { kind: 'bank', name: 'Stadtbank', address: 'Markt 1, Hamburg', phone: '+49 40 5550 0100' }
  await post('transactions', {
    transactions: [exampleTransaction('a'), exampleTransaction('b', { provided_by: { kind: 'applicant' } })],
    balances: [{ as_of: '2026-10-01', kind: 'closing', amount: 5, currency: 'EUR' }],
    provided_by: bank,
  })
  const identifier = { type: 'email', value: 'ada@example.com' }
  const bureau = { kind: 'credit_bureau', name: 'Bureau' }
  const link = await post('identity-links', { identifier, verification: { status: 'verified' }, provided_by: bureau })
  const features = { source: 'bureau', as_of: '2026-10-01T00:00:00Z', features: { score: 7 }, provided_by: bureau }
  const snapshot = await post('feature-snapshots', features)
  assert.deepEqual([link.provided_by, snapshot.provided_by], [bureau, bureau])
  const named = `LEFT JOIN data_sources AS source ON source.org_id = fact.org_id AND source.entity_id = fact.entity_id AND source.id = fact.provided_by`
  const sourcesOf = async (table: string, order: string) =>
    (
      await database.query(
        `SELECT source.provides, source.kind, source.name FROM ${table} AS fact ${named} AND source.provides = $2
         WHERE fact.entity_id = $1 ORDER BY fact.${order}`,
        [entity.id, table === 'statement_balances' ? 'transactions' : table],
      )
    ).map(({ provides, kind, name }) => [provides, kind, name])
  assert.deepEqual(await sourcesOf('transactions', 'external_id'), [
    ['transactions', 'bank', 'Stadtbank'],
    ['transactions', 'applicant', null],
  ])
  assert.deepEqual(await sourcesOf('statement_balances', 'as_of'), [['transactions', 'bank', 'Stadtbank']])
  assert.deepEqual(await sourcesOf('identity_links', 'id'), [['identity_links', 'credit_bureau', 'Bureau']])
  assert.deepEqual(await sourcesOf('feature_snapshots', 'id'), [['feature_snapshots', 'credit_bureau', 'Bureau']])

  const unused = { kind: 'own_records', name: 'Back office' }
  for (const [key, transaction] of Object.entries({
    same: exampleTransaction('a'),
    conflict: exampleTransaction('a', { amount: 99 }),
    void: { external_id: 'b', voided: true, category: 'not read' },
  })) {
    const answer = await acme.post(
      `/v1/entities/${entity.id}/transactions`,
      { transactions: [transaction], provided_by: unused },
      { 'Idempotency-Key': `source-${key}` },
    )
    assert.deepEqual([answer.status, answer.body.unrecognized_categories], [201, 0], answer.text)
  }

  const decide = async () =>
    (
      await acme.post(
        '/v1/underwrite',
        { entity_id: entity.id, product: 'marketplace_access' },
        { 'Idempotency-Key': crypto.randomUUID() },
      )
    ).body.id
  const before = await decide()
  await acme.post(
    `/v1/entities/${entity.id}/identity-links`,
    { identifier: { type: 'phone', value: '+442079460000' }, verification: { status: 'verified' }, provided_by: bank },
    { 'Idempotency-Key': 'source-later' },
  )
  const shown = async (id: string) =>
    (await acme.get(`/v1/decisions/${id}/replay`)).body.evidence.sources.map(
      ({ provides, name }: { provides: string; name?: string }) => [provides, name],
    )
  const earlier = [
    ['transactions', undefined],
    ['transactions', 'Stadtbank'],
    ['identity_links', 'Bureau'],
    ['feature_snapshots', 'Bureau'],
  ]
  assert.deepEqual((await shown(before)).sort(), earlier.toSorted())
  assert.deepEqual((await shown(await decide())).sort(), [...earlier, ['identity_links', 'Stadtbank']].sort())
})

test('an entity has 64 sources of data at most; those that it has may go on to provide', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'many sources' })
  const answerOf = async (part: string, body: object) => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const answer = await acme.post(`/v1/entities/${entity.id}/${part}`, body, headers)
    return answer.status === 201 ? 'recorded' : [answer.body.error.param, answer.body.error.message]
  }
  const source = (index: number) => ({ kind: 'bank', name: `Statement ${index}` })
  const sentBy = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) =>
      exampleTransaction(`t-${first + index}`, { provided_by: source(first + index) }),
    )
  const tooMany = (count: number) =>
    `With those named before, the entity would have ${count} sources of data; it can have 64. Name who provided the data, the same in every request, and not a single file or statement.`
  const link = { identifier: { type: 'email', value: 'ada@example.com' }, verification: { status: 'verified' } }
  const features = { source: 'bureau', as_of: '2026-10-01T00:00:00Z', features: { score: 7 } }

  assert.equal(await answerOf('identity-links', { ...link, provided_by: source(0) }), 'recorded')
  assert.equal(await answerOf('feature-snapshots', { ...features, provided_by: source(0) }), 'recorded')
  assert.deepEqual(await answerOf('transactions', { transactions: sentBy(0, 63) }), ['/transactions', tooMany(65)])
  assert.equal(await answerOf('transactions', { transactions: sentBy(0, 62) }), 'recorded')

  const another = { provided_by: source(64) }
  const transactions = [exampleTransaction('another')]
  for (const [part, body] of Object.entries({
    'identity-links': link,
    'feature-snapshots': features,
    transactions: { transactions },
  })) {
    assert.deepEqual(await answerOf(part, { ...body, ...another }), ['/provided_by', tooMany(65)], part)
    assert.equal(await answerOf(part, { ...body, provided_by: source(0) }), 'recorded', part)
  }
})
