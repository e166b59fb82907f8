import assert from 'node:assert/strict'
import { test } from 'node:test'
import { personas } from './personas.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const prime = personas(new Date().toISOString()).find(({ name }) => name === 'prime')!

interface Report {
  type: string
  occurred_at: string
  days_past_due?: number
  amount?: number
  currency?: string
}

const on = (type: string, day: string, more: Partial<Report> = {}): Report => ({
  type,
  occurred_at: `2026-${day}T00:00:00Z`,
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

/** The verdict, history and exposure of a new applicant after the outcomes of one decision were recorded in this order. */
async function after(reports: readonly Report[]) {
  const entityId = await newApplicant()
  const { id: decisionId } = await decide(entityId)
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
  for (const reports of ordersOf([on('default', '03-01'), on('repaid', '04-01'), on('current', '05-01')])) {
    const { verdict, history, exposure } = await after(reports)
    const order = reports.map(({ type }) => type).join(', ')
    assert.deepEqual([verdict, history.defaults, history.repaid, exposure], ['approve', 0, 0, 0], order)
  }
})

test('the history of a credit that has ended is the same in any order of the reports', async () => {
  const funded = on('funded', '01-01', { amount: 5000, currency: 'EUR' })
  const all = [funded, on('late', '02-01', { days_past_due: 90 }), on('closed', '04-01')]
  for (const reports of ordersOf(all)) {
    const { outstanding, late, worst_days_past_due } = (await after(reports)).history
    const order = reports.map(({ type }) => type).join(', ')
    assert.deepEqual([outstanding, late, worst_days_past_due], [0, 1, 90], order)
  }
  const repaidFirst = await after([on('repaid', '03-01'), on('late', '02-01', { days_past_due: 90 })])
  assert.deepEqual([repaidFirst.history.repaid, repaidFirst.history.worst_days_past_due], [1, 90])
})

test('two draws on one decision are both outstanding', async () => {
  const draws = [
    on('funded', '01-01', { amount: 5000, currency: 'EUR' }),
    on('funded', '02-01', { amount: 3000, currency: 'EUR' }),
  ]
  for (const reports of ordersOf(draws)) assert.equal((await after(reports)).history.outstanding, 8000)
})
