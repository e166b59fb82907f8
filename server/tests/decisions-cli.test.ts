/** `decisions show` and `decisions explain`, for decisions made through the API. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { call, callForJson } from './command-line.ts'
import { personas } from './personas.ts'
import { postJson, startServiceProcess } from './service-process.ts'
import { createTestStorage } from './test-storage.ts'

const testStorage = await createTestStorage()
const service = await startServiceProcess(testStorage.env)
after(async () => {
  await service.stop()
  await testStorage.remove()
})

const cli = (...args: string[]) => call(testStorage.env, 'decisions', ...args)
const { key } = await callForJson(testStorage.env, 'keys', 'create')

let keys = 0
async function post(path: string, body: unknown) {
  const headers = { 'Idempotency-Key': `key-${keys++}` }
  const { status, text } = await postJson({ port: service.ports.sandbox, path }, { key, body, headers })
  assert.equal(status, 201, text)
  return JSON.parse(text)
}

async function decide(name: string, request: object = {}) {
  const persona = personas(new Date().toISOString()).find((one) => one.name === name)!
  const { id } = await post('/v1/entities', persona.entity)
  for (const link of persona.identityLinks) await post(`/v1/entities/${id}/identity-links`, link)
  for (const consent of persona.consents) await post(`/v1/entities/${id}/consents`, consent)
  if (persona.transactions.length > 0)
    await post(`/v1/entities/${id}/transactions`, { transactions: persona.transactions })
  return post('/v1/underwrite', { entity_id: id, ...persona.underwrite, ...request })
}

test('show prints a decision with what was recorded since, and --json has it whole', async () => {
  const decision = await decide('prime', { reference: 'application-1' })
  await post(`/v1/decisions/${decision.id}/reviews`, {
    verdict: 'decline',
    reviewer: { id: 'u-17', name: 'Jo Doe' },
    reason: 'Known from elsewhere.',
  })
  const outcome = { type: 'late', occurred_at: new Date().toISOString(), days_past_due: 9 }
  await post(`/v1/decisions/${decision.id}/outcomes`, outcome)
  const overridden = { type: 'funded', occurred_at: outcome.occurred_at, override: true, note: 'Paid by the branch.' }
  await post(`/v1/decisions/${decision.id}/outcomes`, overridden)
  const { status, stdout } = await cli('show', decision.id)
  assert.equal(status, 0)
  assert.match(stdout, new RegExp(`^${decision.id} {2}approve$`, 'm'))
  assert.match(stdout, /^ {2}reference +application-1$/m)
  assert.match((await cli('explain', decision.id)).stdout, /^Reference: application-1\.$/m)
  assert.match(stdout, new RegExp(`recommended limit +${decision.recommended_limit}$`, 'm'))
  assert.match(
    stdout,
    /decline by Jo Doe \(u-17\) through API key Key, overrides the verdict: Known from elsewhere\.$/m,
  )
  assert.match(stdout, /late: 9 days past due$/m)
  assert.match(stdout, /funded: although it does not fit the decision: Paid by the branch\.$/m)
  const shown = await callForJson(testStorage.env, 'decisions', 'show', decision.id)
  assert.deepEqual(shown.decision, decision)
  assert.deepEqual([shown.product, shown.reviews.length, shown.outcomes.length], ['personal_loan', 1, 2])
})

test('explain says what settled the verdict, what the score is made of, what binds the limit and what would be better', async () => {
  const decision = await decide('overreach')
  const { status, stdout } = await cli('explain', decision.id)
  assert.equal(status, 0)
  assert.doesNotMatch(stdout, /Reference/)
  assert.match(stdout, /^Verdict: approve_with_conditions, settled by counter_offer: less than was asked for/m)
  assert.match(stdout, /^Asked for: 400000 EUR\.$/m)
  assert.match(stdout, /^Product: personal_loan: \d+ monthly instalments at [\d.]+ % a year\.$/m)
  const [, total, base, points] = /^Score: (\d+) = base (\d+) \+ (\d+) points; the cutoff is \d+/m.exec(stdout)!
  assert.equal(Number(total), Number(base) + Number(points))
  const lines = [...stdout.matchAll(/^ +([+−]\d+) {2}[A-Z].*; reference -?\d+$/gm)]
  assert.equal(
    lines.reduce((sum, [, line]) => sum + Number(line!.replace('−', '-')), 0),
    Number(points),
  )
  const [, binding] = /^Limit: \d+ EUR; (\w+) keeps it from being higher\.$/m.exec(stdout)!
  assert.match(stdout, new RegExp(`^ {2}→ ${binding}: `, 'm'))
  assert.match(stdout, new RegExp(`^A better verdict: ${decision.recommended_limit} EUR would be approve `, 'm'))
  assert.match(stdout, /^Asked for and offered$/m)
  assert.match(stdout, new RegExp(`^ {2}amount in EUR +400000 +${decision.recommended_limit}$`, 'm'))
  assert.match(stdout, new RegExp(`^ {2}score +${total} +\\d+$`, 'm'))
  assert.match(stdout, /^Replay: the same facts under the same policy give the same decision, byte for byte\.$/m)
})

test('explain names the rules that hold with their values, what is missing and why, and the terms of an unknown product', async () => {
  const overdrawn = (await cli('explain', (await decide('overdrawn')).id)).stdout
  assert.match(overdrawn, /^Verdict: decline, settled by knock_out: a rule declines\.$/m)
  assert.doesNotMatch(overdrawn, /Asked for and offered/)
  assert.match(overdrawn, /^Rules that hold$\n {2}\w+ \(decline\): [A-Z].*\n {4}cashflow\.\w+ = \d+/m)
  assert.match(overdrawn, /decides it; -?[\d.]+ is [\d.]+ away$/m)
  const thin = (await cli('explain', (await decide('thin file', { product: 'loan_typo' })).id)).stdout
  assert.match(thin, /^Product: loan_typo, which the policy does not list; the terms of default were used: /m)
  assert.match(thin, /^Rules left open, because a value is missing$/m)
  assert.match(thin, /^Missing$\n {2}\S+: [A-Z]/m)
})

test('of access, show and explain speak of the tier, and of nothing about repayment', async () => {
  const { id } = await post('/v1/entities', { external_id: 'access-only' })
  const decision = await post('/v1/underwrite', { entity_id: id, product: 'marketplace_access' })
  const shown = (await cli('show', decision.id)).stdout
  assert.match(shown, new RegExp(`^ {2}risk tier +${decision.risk_tier}$`, 'm'))
  assert.doesNotMatch(shown, /confidence|probability|limit/)
  const { status, stdout } = await cli('explain', decision.id)
  assert.equal(status, 0)
  assert.match(stdout, /^Product: marketplace_access\.$/m)
  assert.match(stdout, /^Score: \d+ = base \d+ \+ \d+ points; of access it settles the tier alone\.$/m)
  assert.match(stdout, /cashflow\.days_observed is not asked for, not applicable; reference \d+$/m)
  assert.doesNotMatch(stdout, /confidence|bad outcome|cutoff/)
})

test('control characters in data never reach the terminal', async () => {
  const decision = await decide('no consent')
  const reason = 'seen \u001b[2J\u009b31m\u202e\r\nVerdict: approve'
  await post(`/v1/decisions/${decision.id}/reviews`, { verdict: 'approve', reviewer: { id: 'u\u0007' }, reason })
  for (const command of ['show', 'explain']) {
    const { stdout } = await cli(command, decision.id)
    assert.match(stdout, /seen \\u\{1b\}\[2J\\u\{9b\}31m\\u\{202e\}\\u\{d\}\\u\{a\}Verdict: approve$/m)
    assert.doesNotMatch(stdout, /(?!\n)[\p{Cc}\p{Cf}]/u)
    const asJson = (await cli(command, decision.id, '--json')).stdout
    assert.doesNotMatch(asJson, /(?!\n)[\p{Cc}\p{Cf}]/u)
    assert.equal(JSON.parse(asJson).reviews[0].reason, reason)
  }
})

test('an id that the environment does not have is a problem that says where to look', async () => {
  const unknown = await cli('explain', 'dec_x')
  assert.deepEqual([unknown.status, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /There is no decision "dec_x" in sandbox\. Take the id from/)
  const elsewhere = await cli('show', 'dec_x', '--environment', 'production')
  assert.match(elsewhere.stderr, /in production/)
})
