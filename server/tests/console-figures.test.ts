/** What the overview and the usage page of the console show after real requests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VERDICTS } from '../src/core/vocabularies.ts'
import { upkeepTasks } from '../src/service/upkeep-tasks.ts'
import { signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { startTestService } from './test-service.ts'

const HOUR_MS = 3_600_000
let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'viewer' })
const { installation } = api.service
const store = installation.stores.sandbox

const read = async (name: string, input: object = {}) => {
  const answer = await ada.call(`${acme.id}/sandbox/${name}`, input)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

/** Lets time pass; a session that ended meanwhile begins again. */
async function pass(ms: number): Promise<void> {
  nowMs += ms
  await ada.signIn('ada@example.com')
}

/** Waits until the meter has written what it counts: it does so once a second. */
async function untilFlushed(isThere: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await isThere()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.fail('the counts were not written')
}

test('a new organization sees empty figures and open first steps, each of which closes when it is taken', async () => {
  const empty = await read('overview.show', { range: '30d' })
  assert.equal(empty.points.length, 30)
  assert.deepEqual(empty.totals, { approve: 0, approve_with_conditions: 0, manual_review: 0, decline: 0 })
  assert.deepEqual([empty.latency, empty.latency_since, empty.newest], [null, null, []])
  const { base_url, ...none } = await read('overview.show-first-steps')
  assert.equal(base_url, installation.config.baseUrls.sandbox)
  assert.deepEqual(none, {
    key_used: false,
    entity_created: false,
    decided: false,
    endpoint_added: false,
    endpoint_answered: false,
    teammate_added: false,
  })
  const entity = await createEntity(acme, 'first', { income: true })
  await underwrite(acme, entity)
  await signedInOperator(api, { organizationId: acme.id, email: 'ben@example.com', role: 'owner' })
  await untilFlushed(async () => (await read('overview.show-first-steps')).key_used)
  const steps = await read('overview.show-first-steps')
  assert.deepEqual([steps.entity_created, steps.decided, steps.teammate_added], [true, true, true])
  assert.deepEqual([steps.endpoint_added, steps.endpoint_answered], [false, false])
})

test('decisions are counted by verdict in their hour and day, and stay counted when upkeep sums past days up', async () => {
  const before = (await read('overview.show', { range: '24h' })).totals
  await pass(2 * HOUR_MS)
  const verdicts: string[] = []
  for (let n = 0; n < 3; n++)
    verdicts.push((await underwrite(acme, await createEntity(acme, `rich-${n}`, { income: true }))).verdict)
  for (let n = 0; n < 2; n++) verdicts.push((await underwrite(acme, await createEntity(acme, `bare-${n}`))).verdict)
  const expected = { ...before }
  for (const verdict of verdicts) expected[verdict] += 1
  const hours = await read('overview.show', { range: '24h' })
  assert.deepEqual(hours.totals, expected)
  assert.equal(hours.points.length, 24)
  assert.equal(hours.points.at(-1).at, '2026-11-15T11:00:00.000Z')
  const sum = (point: { verdicts: Record<string, number> }) =>
    VERDICTS.reduce((all, name) => all + point.verdicts[name]!, 0)
  assert.deepEqual([sum(hours.points.at(-3)), sum(hours.points.at(-1))], [1, 5])
  const month = await read('overview.show', { range: '30d' })
  assert.deepEqual([month.totals, sum(month.points.at(-1))], [expected, 6])
  await untilFlushed(async () => (await read('overview.show', { range: '7d' })).latency?.count === 6)
  const week = await read('overview.show', { range: '7d' })
  const { p50, p95, p99 } = week.latency
  assert.ok(p50 > 0.25 && p50 <= p95 && p95 <= p99, JSON.stringify(week.latency))
  assert.equal(week.latency_since, '2026-11-15')
  assert.equal(week.previous_decisions, 0)

  await pass(3 * 24 * HOUR_MS)
  const tasks = upkeepTasks({
    store,
    database: installation.storage.environments.sandbox,
    newId: installation.newId,
    keepDays: installation.config.keepDays,
    isEmbedded: false,
  })
  for (const task of tasks) while (await task(nowMs));
  const later = await read('overview.show', { range: '7d' })
  assert.deepEqual(later.totals, expected)
  assert.deepEqual(later.latency, week.latency)
  assert.equal(sum(later.points.at(-4)), 6)
  await pass(5 * 24 * HOUR_MS)
  const nextWeek = await read('overview.show', { range: '7d' })
  assert.deepEqual([sum(nextWeek.points[0]), nextWeek.previous_decisions], [0, 6])
})

test('a decision waits for a person until its first review, and its age is shown', async () => {
  const counted = async () => {
    const { waiting } = await read('overview.show', { range: '24h' })
    return waiting
  }
  const before = await counted()
  let decision = await underwrite(acme, await createEntity(acme, 'unknown'))
  for (let n = 0; decision.verdict !== 'manual_review' && n < 5; n++)
    decision = await underwrite(acme, await createEntity(acme, `unknown-${n}`))
  assert.equal(decision.verdict, 'manual_review', 'an entity without facts is left to a person')
  await pass(3 * HOUR_MS)
  const waiting = await counted()
  assert.equal(waiting.count, before.count + 1)
  const band = waiting.bands.find((each: { from_hours: number }) => each.from_hours === 2)
  assert.deepEqual(band, { from_hours: 2, to_hours: 4, count: 1 })
  const review = { verdict: 'approve', reviewer: { id: 'rita' }, reason: 'Known to us.' }
  assert.equal((await acme.post(`/v1/decisions/${decision.id}/reviews`, review)).status, 201)
  assert.equal((await counted()).count, before.count)
})

test('the newest decisions come first, with the amounts that were asked for and recommended', async () => {
  const entity = await createEntity(acme, 'newest', { income: true })
  const decision = await underwrite(acme, entity, { requested_amount: 1_200, currency: 'EUR' })
  const { newest } = await read('overview.show', { range: '24h' })
  assert.equal(newest[0].id, decision.id)
  assert.deepEqual(newest[0].requested, { amount: 1_200, currency: 'EUR' })
  assert.deepEqual(newest[0].entity, { id: entity, name: 'newest', external_id: 'newest' })
  assert.equal(newest[0].limit, decision.recommended_limit ?? null)
  assert.ok(newest.length <= 8)
})

test('usage is counted by day and by key, also of keys that failed, and a retry is no second decision', async () => {
  nowMs = Date.parse('2026-12-20T10:00:00.000Z')
  const bureau = await api.newOrganization('Bureau')
  const bea = await signedInOperator(api, { organizationId: bureau.id, email: 'bea@example.com', role: 'developer' })
  const usage = async (input: object) => {
    const answer = await bea.call(`${bureau.id}/sandbox/usage.show`, input)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }
  const entity = await createEntity(bureau, 'one', { income: true }) // two requests
  const { key, id } = await bureau.newKey('sandbox', ['decisions:write'])
  const body = { entity_id: entity, product: 'platform_access' }
  const headers = { 'Idempotency-Key': 'the same' }
  const calls = [1, 2].map(() => ({ method: 'POST', key, body, headers }))
  for (const call of calls) assert.equal((await api.request('sandbox', '/v1/underwrite', call)).status, 201)
  assert.equal((await api.request('sandbox', '/v1/usage', { key })).status, 403)
  const period = { from: '2026-12-19', to: '2026-12-20' }
  await untilFlushed(async () => (await usage(period)).by_key.some((each: { requests: number }) => each.requests === 3))
  const read = await usage(period)
  const own = read.by_key.find((each: { id: string }) => each.id === id)
  assert.deepEqual([own.name, own.requests, own.errors, own.decisions, own.transactions], ['Test', 3, 1, 1, 0])
  assert.deepEqual(read.by_day, [
    { day: '2026-12-19', requests: 0, errors: 0, decisions: 0, transactions: 0 },
    { day: '2026-12-20', requests: 5, errors: 1, decisions: 1, transactions: read.by_day[1].transactions },
  ])
  assert.ok(read.by_day[1].transactions > 0)
  const total = read.by_key.reduce((sum: number, each: { transactions: number }) => sum + each.transactions, 0)
  assert.equal(total, read.by_day[1].transactions)
  const ofKey = await usage({ ...period, key: id })
  assert.deepEqual(ofKey.by_day[1], { day: '2026-12-20', requests: 3, errors: 1, decisions: 1, transactions: 0 })
  assert.equal(read.limits.requests_per_second, 100_000)
  assert.equal(read.kept_since, '2023-12-21', 'three years before')

  for (const wrong of [
    { from: '2026-12-20', to: '2026-12-19' },
    { from: '2024-01-01', to: '2026-01-01' },
    { from: 'x', to: 'y' },
  ])
    assert.equal((await bea.call(`${bureau.id}/sandbox/usage.show`, wrong)).status, 400, JSON.stringify(wrong))
  assert.equal((await bea.call(`${acme.id}/sandbox/usage.show`, period)).status, 404)
})
