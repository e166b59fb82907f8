/** A mistaken outcome is taken back by two operators, and with it everything that it changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCommand } from '../src/cli/commands.ts'
import { Authenticator } from './authenticator.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import { startTestService } from './test-service.ts'

let nowMs = Date.parse('2026-11-15T09:00:00Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization()
const { installation } = api.service
const worker = newConsequenceWorker(installation)

let count = 0
async function post(path: string, body: unknown) {
  const answer = await acme.post(path, body, { 'Idempotency-Key': `retraction-${count++}` })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

// biome-ignore lint/suspicious/noExplicitAny: every command returns another shape, and the tests read all of them.
function run(name: string, positionals: string[], options: Record<string, string> = {}): Promise<any> {
  const input = { positionals, options: { org: acme.id, ...options }, caller: 'alice (uid 1000)' }
  return findCommand(name)!.run(installation, input)
}

async function addOperator(name: string, role: string) {
  const { email, code_secret } = await run('operators add', [`${name}@example.com`], { name, role })
  const app = new Authenticator(code_secret)
  return (outcomeId: string) => {
    nowMs += 60_000
    return run('outcomes retract', [outcomeId], { as: email, code: app.next(nowMs), reason: `${name} looked it up.` })
  }
}
const ada = await addOperator('ada', 'admin')
const grace = await addOperator('grace', 'reviewer')
const victor = await addOperator('victor', 'viewer')

async function newEntity(taxId: string): Promise<string> {
  const { id } = await post('/v1/entities', { external_id: `retraction-${count++}` })
  const verification = { status: 'verified' }
  await post(`/v1/entities/${id}/identity-links`, { identifier: { type: 'tax_id', value: taxId }, verification })
  return id
}

const decide = (entityId: string) => post('/v1/underwrite', { entity_id: entityId, product: 'marketplace_access' })

async function report(decisionId: string, type: string, more: object = {}) {
  const occurred_at = new Date(nowMs).toISOString()
  return (await post(`/v1/decisions/${decisionId}/outcomes`, { type, occurred_at, ...more })).id as string
}

/** The facts of a new decision that outcomes change, and the trust of the entity. */
async function standing(entityId: string) {
  await worker.drain()
  const { id } = await decide(entityId)
  const features = (await acme.get(`/v1/decisions/${id}/replay`)).body.evidence.feature_snapshot
  const names = Object.keys(features).filter((name) => /^(history\.(?!requests_)|graph\.)/.test(name))
  const { as_of: _, ...trust } = (await acme.get(`/v1/entities/${entityId}`)).body.trust
  return { trust, facts: Object.fromEntries(names.map((name) => [name, features[name].value])) }
}

test('an outcome counts until a second operator confirms its retraction, and then as if never reported', async () => {
  const [subject, neighbour] = [await newEntity('t-1'), await newEntity('t-1')]
  const [older, decision] = [await decide(subject), await decide(subject)]
  await report(older.id, 'late', { days_past_due: 12 })
  await report(decision.id, 'funded', { amount: 500, currency: 'EUR' })
  const before = [await standing(subject), await standing(neighbour)]
  const mistaken = await report(decision.id, 'default', { days_past_due: 95 })
  const during = [await standing(subject), await standing(neighbour)]
  assert.equal(during[0]!.facts['history.worst_days_past_due'], 95)
  assert.ok(during[1]!.trust.score < before[1]!.trust.score)
  const madeBetween = await decide(subject)

  await assert.rejects(victor(mistaken), { code: 'role_lacks_permission' })
  assert.equal((await ada(mistaken)).state, 'retraction_proposed')
  await assert.rejects(ada(mistaken), { code: 'own_retraction' })
  assert.deepEqual([await standing(subject), await standing(neighbour)], during)
  assert.equal((await grace(mistaken)).state, 'retracted')
  assert.deepEqual([await standing(subject), await standing(neighbour)], before)
  await assert.rejects(ada(mistaken), { code: 'outcome_retracted' })

  const replay = (await acme.get(`/v1/decisions/${madeBetween.id}/replay`)).body
  assert.deepEqual([replay.matches, replay.evidence.feature_snapshot['history.defaults'].value], [true, 1])
  const since = (await acme.get(`/v1/decisions/${decision.id}/replay`)).body.outcomes
  assert.deepEqual(
    since.map(({ type }: { type: string }) => type),
    ['funded'],
  )
  const listed = await run('outcomes list', [decision.id])
  assert.deepEqual(
    listed.map(({ type, state, by }: Record<string, string>) => [type, state, by]),
    [
      ['funded', 'counts', ''],
      ['default', 'retracted', 'ada@example.com, grace@example.com'],
    ],
  )
})

test('a retraction is on the audit log with both operators, its record has their reasons, and it is announced', async () => {
  const subject = await newEntity('t-2')
  const { id: decisionId } = await decide(subject)
  const mistaken = await report(decisionId, 'fraud_confirmed')
  await ada(mistaken)
  await grace(mistaken)
  const { data } = (await acme.get(`/v1/entities/${subject}/audit-trail`)).body
  const steps = data.filter(({ type }: { type: string }) => type.startsWith('decision.outcome_retract'))
  assert.deepEqual(
    steps.map(({ type, actor, data: { outcome_id, via, ...others } }: (typeof steps)[number]) => [
      type,
      actor.type,
      outcome_id,
      via,
      'reason' in others,
    ]),
    [
      ['decision.outcome_retracted', 'operator', mistaken, 'alice (uid 1000)', false],
      ['decision.outcome_retraction_proposed', 'operator', mistaken, 'alice (uid 1000)', false],
    ],
  )
  const reasons = await installation.storage.environments.sandbox.query<{ reason: string }>(
    'SELECT reason FROM outcome_retractions WHERE org_id = $1 AND outcome_id = $2 ORDER BY id',
    [acme.id, mistaken],
  )
  assert.deepEqual(
    reasons.map(({ reason }) => reason),
    ['ada looked it up.', 'grace looked it up.'],
  )
  assert.notEqual(steps[0].actor.id, steps[1].actor.id)
  assert.equal(steps[0].data.proposed_by, steps[1].actor.id)
  const events = await installation.storage.environments.sandbox.query<{ data: string }>(
    "SELECT data FROM events WHERE org_id = $1 AND type = 'decision.outcome_retracted'",
    [acme.id],
  )
  const announced = events.map(({ data }) => JSON.parse(data)).find(({ outcome_id }) => outcome_id === mistaken)
  assert.deepEqual(Object.keys(announced).sort(), [
    'decision_id',
    'entity_id',
    'outcome_id',
    'outcome_type',
    'record_sha256',
  ])
  const [verified] = await run('audit verify', [], { environment: 'sandbox' })
  assert.deepEqual([verified.intact, verified.problems], [true, []])
})

test('an outcome reported after a retraction builds on what is left', async () => {
  const subject = await newEntity('t-3')
  const { id: decisionId } = await decide(subject)
  await report(decisionId, 'funded', { amount: 500, currency: 'EUR' })
  const mistaken = await report(decisionId, 'fraud_confirmed')
  await ada(mistaken)
  await grace(mistaken)
  await report(decisionId, 'repaid')
  const { facts } = await standing(subject)
  assert.deepEqual([facts['history.abuse'], facts['history.repaid'], facts['history.outstanding']], [0, 1, undefined])
})

test('the payout of a credit that was reported as repaid cannot be retracted before the repayment', async () => {
  const subject = await newEntity('t-4')
  const { id: decisionId } = await decide(subject)
  const funded = await report(decisionId, 'funded', { amount: 500, currency: 'EUR' })
  const repaid = await report(decisionId, 'repaid')
  await assert.rejects(ada(funded), {
    code: 'outcome_repaid',
    message: `${repaid} reports that this money was repaid.`,
  })
  await ada(repaid)
  await grace(repaid)
  assert.equal((await ada(funded)).state, 'retraction_proposed')
})

test('a proposal is void once its operator was removed or has lost the role, and its operator cannot confirm it', async () => {
  const subject = await newEntity('t-5')
  const { id: decisionId } = await decide(subject)
  const mistaken = await report(decisionId, 'late', { days_past_due: 3 })
  const stateOf = async () => (await run('outcomes list', [decisionId]))[0].state
  const rae = await addOperator('rae', 'reviewer')
  assert.equal((await rae(mistaken)).state, 'retraction_proposed')
  await run('operators remove', ['rae@example.com'], { reason: 'Left.' })
  assert.equal(await stateOf(), 'counts')
  const raeAgain = await addOperator('rae', 'reviewer')
  assert.equal((await raeAgain(mistaken)).state, 'retraction_proposed', 'the person who came back proposes anew')
  await assert.rejects(raeAgain(mistaken), { code: 'own_retraction' })
  await run('operators role', ['rae@example.com'], { role: 'viewer', reason: 'Other work.' })
  assert.equal((await ada(mistaken)).state, 'retraction_proposed', 'a person without the role vouches for nothing')
  assert.equal((await grace(mistaken)).state, 'retracted')
})

test('two operators who confirm at once retract once, and an outcome reported meanwhile is kept', async () => {
  const subject = await newEntity('t-6')
  const { id: decisionId } = await decide(subject)
  await report(decisionId, 'funded', { amount: 500, currency: 'EUR' })
  const mistaken = await report(decisionId, 'fraud_confirmed')
  await ada(mistaken)
  const iris = await addOperator('iris', 'reviewer')
  const reported = report(decisionId, 'late', { days_past_due: 9 })
  const confirmed = await Promise.allSettled([grace(mistaken), iris(mistaken)])
  await reported
  const states = confirmed.map((one) => (one.status === 'fulfilled' ? one.value.state : 'refused'))
  assert.deepEqual(states.sort(), ['refused', 'retracted'])
  const { facts } = await standing(subject)
  assert.deepEqual([facts['history.abuse'], facts['history.worst_days_past_due']], [0, 9])
})

test('only an outcome of this organization and environment can be retracted, with a reason', async () => {
  const { id: decisionId } = await decide(await newEntity('t-7'))
  const outcome = await report(decisionId, 'late', { days_past_due: 3 })
  const other = await api.newOrganization()
  const { email, code_secret } = await run('operators add', ['olga@example.com'], {
    org: other.id,
    name: 'O',
    role: 'admin',
  })
  const code = new Authenticator(code_secret).next(nowMs)
  const asOther = { org: other.id, as: email, code, reason: 'Not mine.' }
  await assert.rejects(run('outcomes retract', [outcome], asOther), { code: 'outcome_not_found' })
  await assert.rejects(run('outcomes list', [decisionId], { org: other.id }), { code: 'decision_not_found' })
  await assert.rejects(run('outcomes list', [decisionId], { environment: 'production' }), {
    code: 'decision_not_found',
  })
  await assert.rejects(ada('out_0000000000000000000000000'), { code: 'outcome_not_found' })
  await assert.rejects(run('outcomes retract', [outcome], { as: 'ada@example.com' }), { code: 'reason_missing' })
})
