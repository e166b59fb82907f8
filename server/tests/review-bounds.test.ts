/** What the console asks about before a reviewer's limits are recorded: slips downwards, sums, and decimals of the currency. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addOperator } from '../src/admin/manage-operators.ts'
import { mergeEntities } from '../src/admin/merge-entities.ts'
import { recordOnProduction } from '../src/admin/record-on-production.ts'
import { DEFAULT_REVIEW_BOUNDS, type ReviewBounds } from '../src/core/review-bounds.ts'
import { byOperator, byService } from './acts.ts'
import { signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { recordPersona } from './record-persona.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'reviewer' })
const ask = (name: string, input: object) => ada.call(`${acme.id}/sandbox/${name}`, input)
const WHY = 'The applicant has another income abroad.'

/** The case of requests that wait for a person, oldest first, and what decides them. */
async function caseOf(ids: readonly string[]) {
  const id = `cas_${ids[0]!.slice(4)}`
  const { body: shown } = await ask('cases.show', { id })
  /** Approves each request for a limit, or declines it. */
  const decide = async (
    limits: readonly (number | null)[],
    { reason = 'Fine.', confirmed = false, total = false } = {},
  ) => {
    const verdicts = limits.map((limit, index) => ({
      decision_id: ids[index],
      ...(limit === null
        ? { verdict: 'decline' }
        : { verdict: 'approve', recommended_limit: limit, excess_confirmed: confirmed }),
    }))
    const { status, body } = await ask('cases.decide', { id, reason, verdicts, total_confirmed: total })
    return { status, message: body.error?.message as string | undefined, code: body.error?.code as string | undefined }
  }
  return { ids, shown, decide }
}

/** A request that waits for a person. */
async function waiting(entityId: string, request: object): Promise<string> {
  const decision = await underwrite(acme, entityId, request)
  assert.equal(decision.verdict, 'manual_review')
  return decision.id
}

/** The case of an applicant of whom nothing is known but a request. */
const newCase = async (externalId: string, request: object) =>
  caseOf([await waiting(await createEntity(acme, externalId), request)])

const eur = (amount: number) => ({ requested_amount: amount, currency: 'EUR' })

async function report(decisionId: string, path: 'reviews' | 'outcomes', body: object): Promise<void> {
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const answer = await acme.post(`/v1/decisions/${decisionId}/${path}`, body, headers)
  assert.equal(answer.status, 201, answer.text)
}
const closed = () => ({ type: 'closed', occurred_at: new Date().toISOString() })

/** An applicant of whom enough is known to lend, and whose requests in euro wait because of an offer in crowns. */
async function newApplicant(as: string): Promise<string> {
  const { id, entity_id } = await recordPersona(acme, 'prime', { as })
  await report(id, 'outcomes', closed())
  const inCrowns = await underwrite(acme, entity_id, { requested_amount: 30_000, currency: 'CZK' })
  await report(inCrowns.id, 'reviews', { verdict: 'approve', reviewer: { id: 'u-1' }, reason: 'Seen.' })
  return entity_id
}

test('a tenth of what was asked needs a confirmation and a reason that says why', async () => {
  const { decide, shown } = await newCase('slip', eur(13_500))
  assert.equal(shown.requests[0].ask_below, 2_700)
  const asked = await decide([1_350])
  assert.deepEqual([asked.status, asked.code], [400, 'limit_outside_bounds'])
  assert.match(asked.message!, /below 20 % of what was asked/)
  assert.match((await decide([1_350], { confirmed: true })).message!, /at least 20 characters, why the limit is so low/)
  assert.equal((await decide([1_350], { confirmed: true, reason: WHY })).status, 200)
  const least = await newCase('a fifth', eur(13_500))
  assert.equal((await least.decide([2_700])).status, 200)
})

test('limits that are each within the bounds are asked about together above what the policy could lend', async () => {
  const { id, entity_id } = await recordPersona(acme, 'bad company')
  const [{ could_lend }] = (await caseOf([id])).shown.requests
  const second = await waiting(entity_id, eur(could_lend.amount))
  const { shown, decide } = await caseOf([id, second])
  const both = shown.requests.map(({ ask_above }: { ask_above: number }) => ask_above)
  assert.deepEqual(shown.totals, [{ currency: 'EUR', could_lend: could_lend.amount, ask_above: could_lend.amount }])
  const asked = await decide(both)
  assert.deepEqual([asked.status, asked.code], [400, 'limit_outside_bounds'])
  assert.match(asked.message!, /limits in EUR together are above what the policy could lend/)
  assert.equal((await decide(both, { confirmed: true, reason: WHY })).status, 400, 'each confirmed is not both')
  assert.match((await decide(both, { total: true })).message!, /why the limits together are so high/)
  assert.equal((await decide(both, { total: true, reason: WHY })).status, 200)
  // What was approved is offered until it is taken up or closed, and leaves no room for more.
  for (const offered of [id, second]) {
    await report(offered, 'outcomes', closed())
  }
  const later = await caseOf([await waiting(entity_id, eur(5_000)), await waiting(entity_id, eur(could_lend.amount))])
  const [, most] = later.shown.requests
  assert.equal((await later.decide([null, most.ask_above])).status, 200, 'a declined request adds nothing')
})

test('what was offered or paid out since a request was decided is not lent again by its case', async () => {
  const entityId = await newApplicant('asks twice')
  const [first, second] = [await waiting(entityId, eur(20_000)), await waiting(entityId, eur(5_000))]
  const most = (await caseOf([first, second])).shown.requests[1].could_lend.amount
  const review = { verdict: 'approve', reviewer: { id: 'u-1' }, reason: 'Seen.', recommended_limit: most - 1_000 }
  await report(first, 'reviews', review)
  const shownOf = async () => {
    const { body } = await ask('cases.show', { id: `cas_${first.slice(4)}` })
    const [{ could_lend, taken_since, ask_above }] = body.requests
    return [could_lend.amount, taken_since, ask_above, body.figures.could_lend.amount]
  }
  const lowered = [1_000, most - 1_000, 1_000, 1_000]
  assert.deepEqual(await shownOf(), lowered)
  const { shown } = await caseOf([first])
  assert.deepEqual(
    shown.credit.open_offers.map(({ offered }: { offered: object }) => offered),
    [
      { amount: 30_000, currency: 'CZK' },
      { amount: most - 1_000, currency: 'EUR' },
    ],
  )
  const decide = async (limit: number, more: object) => {
    const verdict = { decision_id: second, verdict: 'approve', recommended_limit: limit, ...more }
    return (await ask('cases.decide', { id: shown.id, reason: WHY, verdicts: [verdict] })) as {
      status: number
      body: { error?: { message: string } }
    }
  }
  assert.match(
    (await decide(5_000, {})).body.error!.message,
    new RegExp(`of which ${most - 1_000} was offered or paid out`),
  )
  const funded = { type: 'funded', occurred_at: new Date().toISOString(), amount: most - 1_000, currency: 'EUR' }
  await report(first, 'outcomes', funded)
  assert.deepEqual(await shownOf(), lowered, 'what was paid out is not lent again either')
  assert.match((await decide(1_000.01, {})).body.error!.message, /has to be confirmed/)
  assert.equal((await decide(1_000, {})).status, 200)
})

test('cases of merged entities get one limit in total without a confirmation, also when they are decided at the same moment', async () => {
  const entities = [await newApplicant('one name'), await newApplicant('another name')] as const
  const ids = [await waiting(entities[0], eur(40_000)), await waiting(entities[1], eur(40_000))]
  for (const name of ['mia', 'noa']) {
    const added = { email: `${name}@example.com`, name, role: 'admin' as const }
    const operator = await addOperator(api.service.installation, byService(acme.id), added)
    await mergeEntities(api.service.installation, byOperator(operator), { entity: entities[0], other: entities[1] })
  }
  const cases = await Promise.all(ids.map((id) => caseOf([id])))
  const [most] = cases.map(({ shown }) => shown.requests[0].could_lend.amount)
  assert.deepEqual(
    cases.map(({ shown }) => shown.credit.waiting.map(({ decision_id }: { decision_id: string }) => decision_id)),
    [[ids[1]], [ids[0]]],
    'each case names the request that waits in the other',
  )
  const limits = cases.map(({ shown }) => shown.requests[0].ask_above as number)
  assert.ok(limits[0]! + limits[1]! > most)
  const answers = await Promise.all(cases.map(({ decide }, index) => decide([limits[index]!])))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400])
  const left = cases[answers.findIndex(({ status }) => status === 400)]!
  const { shown } = await caseOf(left.ids)
  const taken = shown.requests[0].taken_since
  assert.ok(limits.includes(taken))
  assert.equal(shown.requests[0].could_lend.amount, Math.max(0, most - taken))
  assert.equal((await left.decide([limits[0]!], { confirmed: true, reason: WHY })).status, 200)
})

test('a limit has no more decimals than its currency, through the console and the API', async () => {
  const jpy = await newCase('yen', { requested_amount: 90_000, currency: 'JPY' })
  const refused = await jpy.decide([80_000.5])
  assert.deepEqual([refused.status, refused.message], [400, 'recommended_limit can have no decimals in JPY.'])
  const review = (recommended_limit: number) =>
    acme.post(
      `/v1/decisions/${jpy.ids[0]}/reviews`,
      { verdict: 'approve', reviewer: { id: 'u-1' }, reason: 'Seen.', recommended_limit },
      { 'Idempotency-Key': crypto.randomUUID() },
    )
  const answer = await review(80_000.5)
  assert.equal(answer.status, 400, answer.text)
  assert.match(answer.text, /no decimals in JPY/)
  assert.equal((await review(80_000)).status, 201)
  const kwd = await newCase('dinar', { requested_amount: 900, currency: 'KWD' })
  assert.match((await kwd.decide([800.1234])).message!, /at most 3 decimals in KWD/)
  assert.equal((await kwd.decide([800.123])).status, 200)
})

test('a change that was recorded before a bound existed has the default of that bound', async () => {
  const earlier = { ask_above_percent: 10, refuse_above_times: 2 } as ReviewBounds
  const { id: organizationId } = await api.newOrganization()
  await recordOnProduction(
    api.service.installation,
    { organizationId, actor: { type: 'system', id: 'test' } },
    {
      type: 'review_bounds.changed',
      trailId: organizationId,
      subject: { type: 'organization', id: organizationId },
      data: { from: earlier, to: earlier, reason: 'Our reviewers round up.' },
    },
  )
  assert.deepEqual(await api.service.installation.stores.production.reviews.bounds(organizationId), {
    ...DEFAULT_REVIEW_BOUNDS,
    ...earlier,
  })
})
