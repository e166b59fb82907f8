import assert from 'node:assert/strict'
import { test } from 'node:test'
import { personas } from './personas.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

const STARTED_MS = Date.now()
let aheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + aheadMs })
const acme = await api.newOrganization()
const prime = personas(new Date().toISOString()).find(({ name }) => name === 'prime')!

interface Report {
  type: string
  occurred_at: string
  days_past_due?: number
  amount?: number
  currency?: string
}

/** A report of something that happened some hours after the start of this test. */
const at = (hour: number, type: string, more: Partial<Report> = {}): Report => ({
  type,
  occurred_at: new Date(STARTED_MS + hour * 3_600_000).toISOString(),
  ...more,
})

let count = 0
async function post(path: string, body: unknown) {
  const answer = await acme.post(path, body, { 'Idempotency-Key': `outcomes-${count++}` })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

/** An applicant who would be approved, with identifiers that no other entity has. */
async function newApplicant(): Promise<string> {
  const own = `outcomes-${count++}`
  const { id } = await post('/v1/entities', { ...prime.entity, external_id: own })
  for (const { identifier, verification } of prime.identityLinks)
    await post(`/v1/entities/${id}/identity-links`, { identifier: { ...identifier, value: own }, verification })
  for (const consent of prime.consents) await post(`/v1/entities/${id}/consents`, consent)
  await post(`/v1/entities/${id}/transactions`, { transactions: prime.transactions })
  return id
}

const decide = (entityId: string) => post('/v1/underwrite', { entity_id: entityId, ...prime.underwrite })

const FUNDED = at(1, 'funded', { amount: 100, currency: 'EUR' })

/** The verdict, history and exposure of a new applicant after the outcomes of one decision were recorded in this order. */
async function after(reports: readonly Report[]) {
  aheadMs = 0
  const entityId = await newApplicant()
  const { id: decisionId } = await decide(entityId)
  aheadMs = 24 * 3_600_000
  for (const report of reports) await post(`/v1/decisions/${decisionId}/outcomes`, report)
  const { id, verdict } = await decide(entityId)
  const features = (await acme.get(`/v1/decisions/${id}/replay`)).body.evidence.feature_snapshot
  const history = Object.entries<{ value: unknown }>(features).filter(([name]) => name.startsWith('history.'))
  return {
    verdict,
    history: Object.fromEntries(history.map(([name, { value }]) => [name.slice('history.'.length), value])),
    exposure: (await acme.get(`/v1/entities/${entityId}`)).body.trust.negative_exposure,
  }
}

function ordersOf<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first, index) =>
    ordersOf([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [first, ...rest]),
  )
}

test('a default that was cured counts as cured, in any order of the reports', async () => {
  for (const reports of ordersOf([at(3, 'default'), at(4, 'repaid'), at(5, 'current')])) {
    const { verdict, history, exposure } = await after([FUNDED, ...reports])
    const order = reports.map(({ type }) => type).join(', ')
    assert.deepEqual([verdict, history.defaults, history.repaid, exposure], ['manual_review', 0, 0, 0], order)
    assert.equal(history.days_since_default, 0, order)
  }
})

test('the history of a credit that has ended is the same in any order of the reports', async () => {
  const funded = at(1, 'funded', { amount: 5000, currency: 'EUR' })
  const all = [funded, at(2, 'late', { days_past_due: 90 }), at(4, 'closed')]
  for (const reports of ordersOf(all)) {
    const { outstanding, late, worst_days_past_due } = (await after(reports)).history
    const order = reports.map(({ type }) => type).join(', ')
    assert.deepEqual([outstanding, late, worst_days_past_due], [0, 1, 90], order)
  }
  const repaidFirst = await after([FUNDED, at(3, 'repaid'), at(2, 'late', { days_past_due: 90 })])
  assert.deepEqual([repaidFirst.history.repaid, repaidFirst.history.worst_days_past_due], [1, 90])
})

test('after a repayment bounced, the largest credit repaid is the next largest of all earlier credits', async () => {
  aheadMs = 0
  const entityId = await newApplicant()
  const { id: small } = await decide(entityId)
  const { id: large } = await decide(entityId)
  aheadMs = 24 * 3_600_000
  const largestAfter = async (decisionId: string, ...reports: Report[]) => {
    for (const report of reports) await post(`/v1/decisions/${decisionId}/outcomes`, report)
    const { id } = await decide(entityId)
    return (await acme.get(`/v1/decisions/${id}/replay`)).body.evidence.feature_snapshot['history.largest_repaid'].value
  }
  assert.equal(await largestAfter(small, FUNDED, at(3, 'repaid')), 100)
  const draw = at(1, 'funded', { amount: 3000, currency: 'EUR' })
  assert.equal(await largestAfter(large, draw, at(4, 'repaid')), 3000)
  assert.equal(await largestAfter(large, at(5, 'late', { days_past_due: 3 })), 100)
  assert.equal(await largestAfter(large, at(6, 'repaid')), 3000)
})

test('two draws on one decision are both outstanding', async () => {
  const draws = [at(1, 'funded', { amount: 5000, currency: 'EUR' }), at(2, 'funded', { amount: 3000, currency: 'EUR' })]
  for (const reports of ordersOf(draws)) assert.equal((await after(reports)).history.outstanding, 8000)
})

test('a repayment is refused until the money was reported as paid out', async () => {
  aheadMs = 0
  const { id } = await decide(await newApplicant())
  aheadMs = 24 * 3_600_000
  const report = (outcome: Report) => acme.post(`/v1/decisions/${id}/outcomes`, outcome)
  const refused = await report(at(3, 'repaid'))
  assert.deepEqual([refused.status, refused.body.error.param], [400, '/type'])
  assert.match(refused.body.error.message, /needs a funded outcome/)
  assert.equal((await report(at(1, 'funded'))).status, 201)
  assert.equal((await report(at(3, 'repaid'))).status, 201)
})

test('an outcome may precede its decision by the difference of two clocks, and by no more', async () => {
  aheadMs = 0
  const decision = await decide(await newApplicant())
  const report = (minutes: number) =>
    acme.post(`/v1/decisions/${decision.id}/outcomes`, {
      type: 'late',
      occurred_at: new Date(Date.parse(decision.created_at) - minutes * 60_000).toISOString(),
    })
  const refused = await report(6)
  assert.deepEqual([refused.status, refused.body.error.param], [400, '/occurred_at'])
  assert.ok(refused.body.error.message.includes(decision.created_at))
  assert.equal((await report(4)).status, 201)
})

test('an exposure that is older than a week is computed again, although nothing has happened since', async () => {
  aheadMs = 0
  const [neighbour, defaulted] = [await newApplicant(), await newApplicant()]
  const verification = { status: 'verified' }
  const related = { related_entity_id: defaulted, relationship: 'same_as', verification }
  await post(`/v1/entities/${neighbour}/identity-links`, related)
  const { id } = await decide(defaulted)
  const days = (count: number) => count * 24 * 3_600_000
  aheadMs = days(1)
  await post(`/v1/decisions/${id}/outcomes`, at(1, 'default'))

  const database = api.service.installation.storage.environments.sandbox
  const computedAtMs = async () => {
    const sql = 'SELECT as_of FROM graph_exposures WHERE org_id = $1 AND entity_id = $2'
    const [exposure] = await database.query<{ as_of: string }>(sql, [acme.id, neighbour])
    return exposure ? Date.parse(exposure.as_of) : 0
  }
  const isSpread = async () => !(await api.service.installation.stores.sandbox.consequences.isAny())
  await until('the outcome has spread', isSpread)
  assert.ok((await computedAtMs()) < STARTED_MS + days(2))
  aheadMs = days(9)
  await until('the exposure is computed again', async () => (await computedAtMs()) >= STARTED_MS + days(9))
})
