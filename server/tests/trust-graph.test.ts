import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Link, selectLinks } from '../src/core/graph/link.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import { rowsTouched } from './rows-touched.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const { installation } = api.service
const database = installation.storage.environments.sandbox
const store = installation.stores.sandbox
const worker = newConsequenceWorker(installation)

let count = 0
async function newEntity(): Promise<string> {
  return (await acme.post('/v1/entities', { external_id: `graph-${count++}` })).body.id
}

async function trustOf(id: string) {
  return (await acme.get(`/v1/entities/${id}`)).body.trust
}

async function relate(from: string, to: string, relationship = 'same_as', status = 'verified'): Promise<void> {
  const answer = await acme.post(`/v1/entities/${from}/identity-links`, {
    related_entity_id: to,
    relationship,
    verification: { status },
  })
  assert.equal(answer.status, 201, answer.text)
}

async function identify(id: string, type: string, value: string, status = 'verified'): Promise<void> {
  assert.equal(
    (await acme.post(`/v1/entities/${id}/identity-links`, { identifier: { type, value }, verification: { status } }))
      .status,
    201,
  )
}

async function decisionOn(id: string): Promise<string> {
  return (
    await acme.post(
      '/v1/underwrite',
      { entity_id: id, product: 'marketplace_access' },
      { 'Idempotency-Key': `g-${count++}` },
    )
  ).body.id
}

async function report(decision: string, type: string): Promise<void> {
  const outcome = { type, occurred_at: new Date().toISOString() }
  const { status, text } = await acme.post(`/v1/decisions/${decision}/outcomes`, outcome)
  assert.equal(status, 201, text)
}

async function outcome(id: string, type: string): Promise<void> {
  const decision = await decisionOn(id)
  if (type === 'repaid') await report(decision, 'funded')
  await report(decision, type)
}

test('an outcome changes the trust of direct neighbours before the reply, and of entities two hops away soon after', async () => {
  const [bad, near, far, stranger] = [await newEntity(), await newEntity(), await newEntity(), await newEntity()]
  await relate(near, bad)
  await relate(far, near, 'owner')
  await outcome(bad, 'fraud_confirmed')
  assert.ok((await trustOf(near)).negative_exposure > 0.5)
  await worker.drain()
  const [nearTrust, farTrust] = [await trustOf(near), await trustOf(far)]
  assert.ok(farTrust.negative_exposure > 0.1 && farTrust.negative_exposure < nearTrust.negative_exposure)
  assert.equal((await trustOf(stranger)).negative_exposure, 0)
})

test('two entities with the same identifier are linked, whether the outcome or the link comes first', async () => {
  const [bad, before, after, other] = [await newEntity(), await newEntity(), await newEntity(), await newEntity()]
  await identify(bad, 'tax_id', '11-1111111')
  await identify(before, 'tax_id', '111111111')
  await outcome(bad, 'default')
  await identify(after, 'tax_id', '11 111 1111')
  await identify(other, 'tax_id', '22-2222222')
  const exposures = await Promise.all([before, after, other].map(async (id) => (await trustOf(id)).negative_exposure))
  assert.ok(Math.abs(exposures[0]! - 0.3) < 0.01, 'three holders: two thirds of 0.45')
  assert.equal(exposures[0], exposures[1])
  assert.equal(exposures[2], 0)
})

test('good outcomes add support, bad ones add exposure, and a loan that was late and then repaid counts as repaid', async () => {
  const [good, friend] = [await newEntity(), await newEntity()]
  await relate(friend, good, 'guarantor')
  const decision = await decisionOn(good)
  await report(decision, 'funded')
  await report(decision, 'late')
  assert.ok((await trustOf(friend)).negative_exposure > 0)
  await report(decision, 'repaid')
  const { negative_exposure, positive_support, score } = await trustOf(friend)
  assert.equal(negative_exposure, 0)
  assert.ok(positive_support > 0 && score > 0.5)
})

test('no later outcome supersedes a confirmed fraud', async () => {
  const [bad, near] = [await newEntity(), await newEntity()]
  await relate(near, bad)
  const decision = await decisionOn(bad)
  const exposureAfter = async (type: string) => {
    await report(decision, type)
    return (await trustOf(near)).negative_exposure as number
  }
  const fraud = await exposureAfter('fraud_confirmed')
  assert.ok(fraud > 0.5)
  for (const type of ['closed', 'funded', 'repaid', 'funded']) assert.equal(await exposureAfter(type), fraud, type)
})

test('a later failed verification removes the link', async () => {
  const [bad, near] = [await newEntity(), await newEntity()]
  await outcome(bad, 'default')
  await relate(near, bad)
  assert.ok((await trustOf(near)).negative_exposure > 0.3)
  await relate(near, bad, 'same_as', 'failed')
  assert.equal((await trustOf(near)).negative_exposure, 0)
})

test('a shop is not exposed to customers with a small share in its cash flow, however large its share in theirs', async () => {
  const shop = await newEntity()
  const sales = Array.from({ length: 12 }, (_, n) => ({
    external_id: `sale-${n}`,
    occurred_at: '2026-10-01T00:00:00Z',
    amount: 50_000,
    currency: 'EUR',
    direction: 'credit',
  }))
  await acme.post(`/v1/entities/${shop}/transactions`, { transactions: sales }, { 'Idempotency-Key': 'sales' })
  for (let n = 0; n < 6; n++) {
    const customer = await newEntity()
    const purchase = {
      external_id: 'p',
      occurred_at: '2026-10-01T00:00:00Z',
      amount: 5,
      currency: 'EUR',
      direction: 'debit',
      counterparty: { entity_id: shop },
    }
    await acme.post(
      `/v1/entities/${customer}/transactions`,
      { transactions: [purchase] },
      { 'Idempotency-Key': `purchase-${n}` },
    )
    await outcome(customer, 'default')
  }
  await worker.drain()
  assert.equal((await trustOf(shop)).negative_exposure, 0)
})

test('payments add up exactly, beyond the precision of a double', async () => {
  const [payer, payee] = [await newEntity(), await newEntity()]
  for (let n = 0; n < 3; n++) {
    const payment = {
      external_id: `huge-${n}`,
      occurred_at: '2026-10-01T00:00:00Z',
      amount: 99999999999.9999,
      currency: 'EUR',
      direction: 'debit',
      counterparty: { entity_id: payee },
    }
    const answer = await acme.post(
      `/v1/entities/${payer}/transactions`,
      { transactions: [payment] },
      { 'Idempotency-Key': `huge-${n}` },
    )
    assert.equal(answer.status, 201, answer.text)
  }
  const [row] = await database.query('SELECT amount FROM payment_flows WHERE entity_id = $1', [payer])
  assert.equal(row!.amount, '299999999999.9997')
})

test('payments make weak links, by their share in the cash flow', async () => {
  const [bad, payer] = [await newEntity(), await newEntity()]
  await outcome(bad, 'fraud_confirmed')
  const pay = (amount: number, counterparty?: string) => ({
    external_id: `p-${count++}`,
    occurred_at: '2026-10-01T00:00:00Z',
    amount,
    currency: 'EUR',
    direction: 'debit',
    ...(counterparty && { counterparty: { entity_id: counterparty } }),
  })
  const ingest = (transactions: unknown[]) =>
    acme.post(`/v1/entities/${payer}/transactions`, { transactions }, { 'Idempotency-Key': `pay-${count++}` })
  assert.equal((await ingest([pay(900, bad), pay(100)])).status, 201)
  await worker.drain()
  const { negative_exposure } = await trustOf(payer)
  assert.ok(negative_exposure > 0 && negative_exposure < 0.15, String(negative_exposure))
  const [row] = await database.query<{ summary: string }>('SELECT summary FROM graph_exposures WHERE entity_id = $1', [
    payer,
  ])
  assert.equal(
    JSON.parse(row!.summary).negativeExposureWithoutPayments,
    0,
    'a payment alone can never count towards a decline',
  )
  const unknown = await ingest([pay(1), pay(1, `ent_0${'0'.repeat(25)}`)])
  assert.deepEqual([unknown.status, unknown.body.error.param], [404, '/transactions/1/counterparty/entity_id'])
  assert.equal((await ingest([pay(1, payer)])).status, 400)
})

test('exposures that were refreshed step by step equal those of a complete refresh', async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, newEntity))
  const types = ['same_as', 'owner', 'director', 'household', 'guarantor']
  for (let n = 0; n < 24; n++)
    await relate(
      ids[n % 12]!,
      ids[(n * 5 + 1 + Math.floor(n / 12)) % 12]!,
      types[n % 5],
      n % 3 ? 'verified' : 'unverified',
    ).catch(() => {})
  for (const [n, type] of ['default', 'repaid', 'late', 'fraud_confirmed'].entries()) await outcome(ids[n * 3]!, type)
  await worker.drain()
  const stepByStep = await database.query(
    'SELECT entity_id, summary FROM graph_exposures WHERE entity_id = ANY($1::text[]) ORDER BY entity_id',
    [ids],
  )
  await store.consequences.queue(ids.map((id) => ({ org_id: acme.id, kind: 'exposure', entity_id: id, mark: 'again' })))
  await worker.drain()
  const complete = await database.query(
    'SELECT entity_id, summary FROM graph_exposures WHERE entity_id = ANY($1::text[]) ORDER BY entity_id',
    [ids],
  )
  const withoutTime = (rows: Record<string, unknown>[]) =>
    rows.map(({ entity_id, summary }) => [entity_id, { ...JSON.parse(summary as string), asOf: '' }])
  assert.deepEqual(withoutTime(stepByStep), withoutTime(complete))
})

test('reading a hub of degree 20,000 costs no more than one of degree 40', async () => {
  const hub = await newEntity()
  await database.query(
    `INSERT INTO graph_links SELECT $1, $2, 'ent_hub_' || n, 'employer', true, 150000, 20000, 99999, false FROM generate_series(1, 20000) AS n`,
    [acme.id, hub],
  )
  const [bad] = [await newEntity()]
  await outcome(bad, 'fraud_confirmed')
  await relate(hub, bad, 'same_as')
  const links = await store.graph.followedLinks(acme.id, [hub], Math.floor(Date.now() / 86_400_000))
  assert.equal(links.get(hub)!.ranked.length, 40)
  assert.deepEqual(
    links.get(hub)!.adverse.map(({ neighbour }) => neighbour),
    [bad],
    'links to adverse entities are not crowded out',
  )
  assert.ok((await trustOf(hub)).negative_exposure > 0.5)
  // Autovacuum would do this a little later; until then the planner has no statistics of the new rows.
  await database.query('ANALYZE graph_links')
  const read = await rowsTouched(
    database,
    `SELECT neighbour_id FROM graph_links WHERE org_id = $1 AND entity_id = $2 AND expires > 1
     ORDER BY (NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type, claim LIMIT 40`,
    [acme.id, hub],
  )
  assert.deepEqual(read, [{ table: 'graph_links', rows: 40 }], 'the first links are read in index order')
})

test('the database selects the links that the walk would select, by neighbours and not by links', async () => {
  const today = Math.floor(Date.now() / 86_400_000)
  const me = await newEntity()
  const link = (neighbour: string, claim: number, over: Partial<Link> = {}): Link => ({
    neighbour,
    type: 'email',
    verified: true,
    basePpm: 500_000,
    since: today - (claim % 50),
    claim: String(claim).padStart(4, '0'),
    ...over,
  })
  const twin = Array.from({ length: 90 }, (_, n) => link('ent_twin', n))
  const crook = Array.from({ length: 70 }, (_, n) => link('ent_crook', n, { verified: false, basePpm: 250_000 }))
  const others = Array.from({ length: 320 }, (_, n) =>
    link(`ent_${n % 160}`, n, n % 3 ? { type: 'phone' } : { verified: false, basePpm: 250_000 }),
  )
  const late = link('ent_late', 1, { type: 'address', verified: false, basePpm: 100_000 })
  const all = [...twin, ...crook, ...others, late]
  const isAdverse = (id: string) => ['ent_crook', 'ent_late', 'ent_5'].includes(id)
  await store.commit({
    organizationId: acme.id,
    links: all.map(({ neighbour, type, verified, basePpm, since, claim = '' }) => ({
      entity_id: me,
      neighbour_id: neighbour,
      type,
      claim,
      verified,
      base_ppm: basePpm,
      since,
      expires: 99_999,
      to_adverse: isAdverse(neighbour),
    })),
  })
  const selected = (await store.graph.followedLinks(acme.id, [me], today)).get(me)!
  assert.deepEqual(selected, selectLinks(all, { isAdverse, isNearAdverse: () => false, today }))
  const neighbours = (links: readonly Link[]) => [...new Set(links.map(({ neighbour }) => neighbour))]
  assert.deepEqual([neighbours(selected.ranked).length, neighbours(selected.beyondFanOut).length], [40, 123])
  assert.deepEqual(neighbours(selected.adverse), ['ent_5', 'ent_crook', 'ent_late'])
})
