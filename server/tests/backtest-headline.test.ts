/** What the headline of a backtest reads from the database, and the limits that keep a version from being approved. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backtestDraft, beginBacktest, type KeptBacktest } from '../src/admin/backtest-policy.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { approvePolicy, proposePolicy } from '../src/admin/manage-policies.ts'
import { HINTS } from '../src/cli/hints.ts'
import { policyBacktest } from '../src/cli/policy-backtest.ts'
import type { BacktestResult } from '../src/core/backtest/backtest-result.ts'
import { byOperator, byService } from './acts.ts'
import { type Persona, personas } from './personas.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const { installation } = api.service
const ACT = byService(acme.id)
const ALL = { last: 1_000 }

async function post(path: string, body: object) {
  const answer = await acme.post(path, body, { 'Idempotency-Key': crypto.randomUUID() })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

async function decidePersona({ entity, identityLinks, consents, transactions, underwrite }: Persona, name: string) {
  const { id } = await post('/v1/entities', { ...entity, external_id: `${entity.external_id}-${name}` })
  for (const link of identityLinks) await post(`/v1/entities/${id}/identity-links`, link)
  for (const consent of consents) await post(`/v1/entities/${id}/consents`, consent)
  if (transactions.length > 0) await post(`/v1/entities/${id}/transactions`, { transactions })
  return post('/v1/underwrite', { entity_id: id, ...underwrite })
}

const [prime, thin] = personas(new Date().toISOString())
const first = await decidePersona(prime!, 'first')
const second = await decidePersona(prime!, 'second')
const reviewed = await decidePersona(thin!, 'reviewed')
assert.deepEqual([first.verdict, second.verdict, reviewed.verdict], ['approve', 'approve', 'manual_review'])

const outcome = (decision: { id: string }, body: object) =>
  post(`/v1/decisions/${decision.id}/outcomes`, { occurred_at: new Date().toISOString(), ...body })

const source = (version: string, portfolio = '  maturity_days: 0') =>
  sandboxPolicySource()
    .replace('version: sandbox-policy-v1', `version: ${version}`)
    .replace(/\n {2}maturity_days: 0/, `\n${portfolio}`)

const draft = (text: string) => backtestDraft(installation, ACT, { source: text, range: ALL })

test('days past due, the newest review and the maturity of the policy come from the database', async () => {
  const none = await draft(source('draft'))
  assert.deepEqual([none.headline.before.known, none.by_people, none.before.approved], [0, 0, 2])
  await outcome(first, { type: 'late', days_past_due: 95 })
  await outcome(second, { type: 'late', days_past_due: 30 })
  const late = await draft(source('draft'))
  assert.deepEqual([late.headline.before.known, late.headline.before.bad], [2, 1])
  const review = { reviewer: { id: 'case-worker' }, reason: 'Known for years.' }
  await post(`/v1/decisions/${reviewed.id}/reviews`, { ...review, verdict: 'decline' })
  assert.deepEqual([(await draft(source('draft'))).by_people, late.before.approved], [1, 2])
  await post(`/v1/decisions/${reviewed.id}/reviews`, {
    ...review,
    verdict: 'approve',
    recommended_limit: 700,
    currency: 'EUR',
  })
  const approved = await draft(source('draft'))
  assert.deepEqual([approved.before.approved, approved.after.approved, approved.headline.kept.approved], [3, 3, 3])
  assert.equal(approved.before.amount - late.before.amount, 700)
  const young = await draft(source('draft', '  maturity_days: 1'))
  assert.deepEqual([young.headline.maturity_days, young.headline.kept.mature, young.headline.before.known], [1, 0, 0])
})

test('only decisions with an outcome report are decided again where these alone are wanted', async () => {
  const range = { ...ALL, withOutcome: true }
  const { decided, headline } = await backtestDraft(installation, ACT, { source: source('draft'), range })
  assert.deepEqual([decided, headline.before.known], [2, 2])
})

async function operator(name: string, role: 'policy_author' | 'policy_approver') {
  const added = await addOperator(installation, ACT, { email: `${name}@example.com`, name, role })
  return byOperator(added, { reason: `the reason of ${name}` })
}

test('a version whose backtest breaks a limit of its own cannot be approved, and the message says by how much', async () => {
  const [ann, ben] = [await operator('ann', 'policy_author'), await operator('ben', 'policy_approver')]
  const limits = (bad: number) => `  maturity_days: 0\n  backtest_limits: { bad_ppm_max: ${bad}, decisions_min: 3 }`
  const propose = (version: string, bad: number) => proposePolicy(installation, ann, source(version, limits(bad)))
  const approve = (version: string) => approvePolicy(installation, ben, { version })
  const backtest = async (version: string, range = ALL): Promise<KeptBacktest> =>
    (await beginBacktest(installation, ACT, { version, range })).done

  await propose('careful-1', 490_000)
  await assert.rejects(approve('careful-1'), {
    code: 'backtest_required',
    message: 'careful-1 sets limits to its backtests, and has no backtest yet.',
  })
  const { id } = await backtest('careful-1')
  await assert.rejects(approve('careful-1'), {
    code: 'backtest_limit_broken',
    message: `The backtest ${id} of careful-1 breaks a limit of the policy: bad rate of what is approved 50.0 %, at most 49.0 % (over by 1.0 points).`,
  })
  // Few decisions, chosen well, keep the bad rate; not how many they have to be.
  const small = await backtest('careful-1', { last: 2 })
  await assert.rejects(approve('careful-1'), {
    code: 'backtest_limit_broken',
    message: `The backtest ${small.id} of careful-1 breaks a limit of the policy: decisions decided again 2, at least 3 (under by 1).`,
  })
  for (const code of ['backtest_required', 'backtest_limit_broken']) assert.ok(HINTS[code])

  await propose('careful-2', 500_000)
  await backtest('careful-2')
  assert.equal((await approve('careful-2')).state, 'approved')
})

test('policy backtest prints the headline first', async () => {
  const input = { options: { org: acme.id }, positionals: ['careful-1'], caller: 'alice (uid 1000)' }
  const lines = policyBacktest.render(await policyBacktest.run(installation, input)).split('\n')
  assert.equal(lines[0], 'NO DIFFERENCE SHOWN: the interval of the difference in bad rates holds zero.')
  const text = lines.join('\n')
  assert.match(text, /approved as decided, observed +1 of 2, 50\.0 % \(9\.5 % to 90\.5 %\)/)
  assert.match(text, /kept, observed +3 +1 of 2/)
  assert.match(text, /LIMIT BROKEN: bad rate of what is approved 50\.0 %, at most 49\.0 % \(over by 1\.0 points\)\./)
  assert.ok(text.indexOf('LIMIT BROKEN') < text.indexOf('Decisions decided again'))
})

test('policy backtest names the rules that matched no decision, and approvals by monitored attributes', async () => {
  const input = { options: { org: acme.id }, positionals: ['careful-1'], caller: 'alice (uid 1000)' }
  const result: BacktestResult = await policyBacktest.run(installation, input)
  const unmatched = result.rules.filter(({ matched }) => matched === 0).map(({ rule }) => rule)
  assert.ok(unmatched.includes('abuse_on_record') && unmatched.length < result.rules.length, unmatched.join())
  const group = { value: 'f', decided: 8, approved_before: 6, approved_after: 2 }
  const monitored = [{ feature: 'snapshot.sex', describes: 'sex' as const, groups: [group] }]
  const text = policyBacktest.render({ ...result, monitored })
  assert.ok(
    text.includes(`Rules and rows of tables that matched 0 of the last ${result.decided}: ${unmatched.join(', ')}.`),
  )
  assert.match(text, /snapshot\.sex \(sex\) +DECIDED +APPROVED BEFORE +AFTER\n.*\n?f +8 +75\.0 % +25\.0 %/)
})
