/** The pages about entities: how they are found, their neighbourhood, the history of their trust, and their context. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newConsequenceWorker } from './consequence-worker.ts'
import { signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

const DAY_MS = 86_400_000
let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization('Acme')
const email = 'ada@example.com'
const ada = await signedInOperator(api, { organizationId: acme.id, email, role: 'reviewer' })
const worker = newConsequenceWorker(api.service.installation)

async function read(name: string, input: object = {}, environment = 'sandbox') {
  const { status, body } = await ada.call(`${acme.id}/${environment}/${name}`, input)
  assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
  return body
}

async function post(path: string, body: object) {
  const answer = await acme.post(path, body, { 'Idempotency-Key': crypto.randomUUID() })
  assert.ok(answer.status < 300, answer.text)
  return answer.body
}

const create = async (external_id: string, display_name: string, type = 'business'): Promise<string> =>
  (await post('/v1/entities', { external_id, display_name, type, country: 'DE' })).id

const relate = (from: string, to: string, relationship: string, status = 'verified') =>
  post(`/v1/entities/${from}/identity-links`, { related_entity_id: to, relationship, verification: { status } })

const idsOf = ({ entities }: { entities: { id: string }[] }) => entities.map(({ id }) => id)

const nordwind = await create('customer-1042', 'Nordwind Bakery GmbH')
const jonas = await create('customer-7', 'Jonas Brandt', 'person')
const hafenkontor = await create('customer-9', 'Hafenkontor Catering')
const northern = await create('100%', 'NORDLICHT')

test('an entity is found by its id, its external id, the beginning of its name in any case, and an identifier', async () => {
  assert.deepEqual(idsOf(await read('entities.list', { search: nordwind })), [nordwind])
  assert.deepEqual(idsOf(await read('entities.list', { search: ' customer-1042 ' })), [nordwind])
  assert.deepEqual(idsOf(await read('entities.list', { search: 'nordw' })), [nordwind])
  assert.deepEqual(idsOf(await read('entities.list', { search: 'NORD' })).sort(), [nordwind, northern].sort())
  assert.deepEqual(idsOf(await read('entities.list', { search: 'bakery' })), [])
  assert.deepEqual(idsOf(await read('entities.list', { search: '%' })), [], 'a pattern is searched for as it is')
  assert.deepEqual(idsOf(await read('entities.list', { search: '100%' })), [northern])
  assert.deepEqual(idsOf(await read('entities.list')), [northern, hafenkontor, jonas, nordwind])
  await post(`/v1/entities/${nordwind}/identity-links`, {
    identifier: { type: 'tax_id', value: 'DE 812-345-678' },
    verification: { status: 'verified' },
  })
  const identifier = { type: 'tax_id', value: 'de812345678' }
  assert.deepEqual(idsOf(await read('entities.find', identifier)), [nordwind])
  assert.deepEqual(
    idsOf(await read('entities.find', { ...identifier, value: 'de81234567' })),
    [],
    'only the exact value',
  )
  assert.deepEqual(idsOf(await read('entities.find', identifier, 'production')), [])
  const { identifiers } = await read('entities.show', { id: nordwind })
  assert.equal(identifiers.length, 1)
  assert.doesNotMatch(JSON.stringify(identifiers), /812345678/)
})

test('the neighbourhood leads over two links to a bad node, and its path is marked', async () => {
  await relate(nordwind, jonas, 'director')
  await relate(jonas, hafenkontor, 'guarantor')
  const before = await read('entities.show-neighbourhood', { id: nordwind, hops: 2 })
  assert.deepEqual(before.bad_paths, [])
  const decision = await post('/v1/underwrite', { entity_id: hafenkontor, product: 'marketplace_access' })
  await post(`/v1/decisions/${decision.id}/outcomes`, { type: 'default', occurred_at: new Date(nowMs).toISOString() })
  await worker.drain()
  const graph = await read('entities.show-neighbourhood', { id: nordwind, hops: 2 })
  const byId = Object.fromEntries(graph.nodes.map((node: { id: string }) => [node.id, node]))
  assert.deepEqual([byId[nordwind].hops, byId[jonas].hops, byId[hafenkontor].hops], [0, 1, 2])
  assert.deepEqual(
    [byId[jonas].is_bad, byId[hafenkontor].is_bad, byId[hafenkontor].outcome.type],
    [false, true, 'default'],
  )
  const [path] = graph.bad_paths
  assert.deepEqual([path.to, path.via, path.types], [hafenkontor, [jonas, hafenkontor], ['director', 'guarantor']])
  const marked = graph.links.filter(({ on_bad_path }: { on_bad_path: boolean }) => on_bad_path)
  assert.deepEqual(marked.map(({ type }: { type: string }) => type).sort(), ['director', 'guarantor'])
  assert.equal(graph.known, graph.nodes.length - 1)
  const near = await read('entities.show-neighbourhood', { id: nordwind, hops: 1 })
  assert.deepEqual([near.nodes.length, near.bad_paths], [2, []])
})

test('the trust score has a history of the days on which it changed', async () => {
  const { trust } = await read('entities.show', { id: hafenkontor })
  assert.deepEqual(trust.history, [{ day: '2026-11-15', score: trust.score }])
  nowMs += 3 * DAY_MS
  await ada.signIn(email)
  const decision = await post('/v1/underwrite', { entity_id: hafenkontor, product: 'marketplace_access' })
  const occurred_at = new Date(nowMs).toISOString()
  await post(`/v1/decisions/${decision.id}/outcomes`, { type: 'fraud_confirmed', occurred_at })
  await worker.drain()
  const later = (await read('entities.show', { id: hafenkontor })).trust
  assert.ok(later.score < trust.score)
  assert.deepEqual(later.history, [
    { day: '2026-11-15', score: trust.score },
    { day: '2026-11-18', score: later.score },
  ])
  const neighbour = (await read('entities.show', { id: jonas })).trust
  assert.equal(neighbour.history.at(-1).score, neighbour.score)
})

test('a refresh of the exposure that lost to a later one leaves no trace in the history', async () => {
  const { trust } = await read('entities.show', { id: jonas })
  const stale = { org_id: acme.id, entity_id: jonas, summary: '{}', as_of: new Date(nowMs).toISOString() }
  const lost = [{ ...stale, trust: JSON.stringify({ ...trust, score: 0.987 }) }]
  await api.service.installation.stores.sandbox.graph.writeExposures(lost, { readNumber: 0, done: [] })
  assert.deepEqual((await read('entities.show', { id: jonas })).trust, trust)
})

test('the page of an entity has its consents, cash flow, features and decisions', async () => {
  await post(`/v1/entities/${nordwind}/consents`, {
    purpose: 'credit_underwriting',
    status: 'granted',
    data_categories: ['identity', 'transactions'],
    granted_at: new Date(nowMs - DAY_MS).toISOString(),
  })
  const transaction = (external_id: string, occurred_at: string, fields: object) => ({
    external_id,
    occurred_at,
    currency: 'EUR',
    ...fields,
  })
  await post(`/v1/entities/${nordwind}/transactions`, {
    transactions: [
      transaction('t1', '2026-10-01T08:00:00Z', { amount: 900, direction: 'credit' }),
      transaction('t2', '2026-10-05T08:00:00Z', { amount: 250.5, direction: 'debit', balance_after: -20 }),
      transaction('t3', '2026-11-02T08:00:00Z', { amount: 100, direction: 'credit' }),
    ],
  })
  await post('/v1/underwrite', { entity_id: nordwind, product: 'credit_line', requested_amount: 500, currency: 'EUR' })
  const shown = await read('entities.show', { id: nordwind })
  assert.deepEqual(
    shown.consents.map(({ purpose, state, categories }: Record<string, unknown>) => [purpose, state, categories]),
    [['credit_underwriting', 'granted', ['identity', 'transactions']]],
  )
  assert.deepEqual(shown.cashflow, {
    currency: 'EUR',
    transactions: 3,
    last_day: '2026-11-02',
    other_currencies: [],
    months: [
      { month: '2026-10', in: 900, out: 250.5, lowest_balance: -20 },
      { month: '2026-11', in: 100, out: 0, lowest_balance: null },
    ],
  })
  assert.deepEqual(shown.decisions[0].requested, { amount: 500, currency: 'EUR' })
  assert.equal(shown.relationships[0].entity_name, 'Jonas Brandt')
  assert.ok(shown.features.some(({ source }: { source: string }) => source === 'consents'))
  const known = shown.features.filter(({ value }: { value: unknown }) => value !== null)
  assert.ok(known.length > 5 && shown.features.some(({ missing }: { missing: unknown }) => missing !== null))
  assert.equal((await ada.call(`${acme.id}/production/entities.show`, { id: nordwind })).status, 404)
})
