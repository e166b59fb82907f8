import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editedPolicy, ruleOf, snapshotInput } from '../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { normalDraws, seededDraws } from '../../../tests/seeded-draws.ts'
import { newPolicySource } from '../../admin/new-policy.ts'
import { canonicalJson } from '../canonical-json.ts'
import { decide, judge } from '../decide/decide.ts'
import type { Facts } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { addCell, addOlder, noCounts } from './backtest-counts.ts'
import type { BacktestResult, Estimate } from './backtest-result.ts'
import { addEntity } from './bad-share.ts'
import { pageCounter, type ReviewOfDecision } from './count-page.ts'
import type { ReportedOutcome } from './how-it-ended.ts'
import type { RecordedCase } from './redecide.ts'
import { resultOf } from './summarize.ts'

const now = sandboxPolicy()
const CUTOFF = now.document.verdicts.cutoff
const APPROVING = now.document.tests.find(
  ({ expect, facts }) => expect.verdict === 'approve' && facts['request.amount'],
)!
const STEADY = factsFrom(APPROVING.facts, APPROVING.age_days)
const AMOUNT = Number(APPROVING.facts['request.amount'])
const DECIDED_AT = '2026-06-01T00:00:00.000Z'
const LATER = '2026-11-01T00:00:00.000Z'
/** Declines the steady applicant by score. */
const strict = withCutoff(900)

function withCutoff(cutoff: number, portfolio = now.document.portfolio): CompiledPolicy {
  return editedPolicy(({ verdicts }) => ({ verdicts: { ...verdicts, cutoff }, ...(portfolio && { portfolio }) }))
}

/** A decision on facts under a policy. */
function recorded(
  id: string,
  { policy = now, facts = STEADY, entity = id }: { policy?: CompiledPolicy; facts?: Facts; entity?: string } = {},
): RecordedCase {
  const { verdict, limit } = decide(policy, facts)
  const names = { id: `dec_${id}`, entity_id: `ent_${entity}`, created_at: DECIDED_AT }
  return { ...names, verdict, requested_amount: AMOUNT, recommended_limit: limit, facts: canonicalJson(facts) }
}

function outcome(id: string, type: ReportedOutcome['type'], daysPastDue: number | null = null): ReportedOutcome {
  return { id: `out_${id}`, decisionId: `dec_${id}`, type, occurredAt: LATER, daysPastDue }
}

function review(id: string, verdict: ReviewOfDecision['verdict'], recommended_limit?: number): ReviewOfDecision {
  return { decisionId: `dec_${id}`, verdict, ...(recommended_limit !== undefined && { recommended_limit }) }
}

function counted(
  policy: CompiledPolicy,
  cases: readonly RecordedCase[],
  given: { outcomes?: ReportedOutcome[]; reviews?: ReviewOfDecision[]; matureBefore?: string } = {},
): BacktestResult {
  const { outcomes = [], reviews = [], matureBefore = LATER } = given
  const counts = noCounts(policy)
  addOlder(counts, pageCounter(policy)({ cases, outcomes, reviews, matureBefore }))
  return resultOf(counts)
}

test('the kept are observed and the newly approved expected, whatever is known of these', () => {
  const cases = [recorded('a'), recorded('b'), recorded('c', { policy: strict })]
  const outcomes = [outcome('a', 'default'), outcome('b', 'repaid')]
  const { headline } = counted(now, cases, { outcomes })
  assert.deepEqual([headline.kept.approved, headline.kept.outcomes.known, headline.kept.outcomes.bad], [2, 2, 1])
  const { approved, expected, by_table } = headline.newly_approved
  const { badPpm } = judge(now, STEADY).asked
  assert.deepEqual([approved, by_table], [1, badPpm! / 1e6])
  assert.ok(expected.share! > by_table!, 'one of two defaulted, so more is expected than the table says')
  assert.ok(Math.abs(headline.together.share! - (2 * 0.5 + expected.share!) / 3) < 1e-9)
  assert.ok(Math.abs(headline.difference.share! - (headline.together.share! - 0.5)) < 1e-9)
  const known = counted(now, cases, { outcomes: [...outcomes, outcome('c', 'default')] }).headline
  assert.deepEqual(known, headline)
})

test('without a change the difference is zero and certain; without outcomes nothing is claimed', () => {
  const cases = [recorded('a'), recorded('b')]
  const outcomes = [outcome('a', 'default'), outcome('b', 'repaid')]
  const same = counted(now, cases, { outcomes }).headline
  assert.deepEqual(same.difference, { share: 0, low: 0, high: 0 })
  assert.equal(same.change, 'not_shown')
  assert.deepEqual([same.together.share, same.together.low], [same.before.share, same.before.low])
  const unknown = counted(now, cases).headline
  assert.deepEqual([unknown.together.share, unknown.difference.share, unknown.change], [null, null, null])
})

test('many kept good and many newly approved likely to go bad is worse; the reverse is better', () => {
  const risky = factsFrom({ ...APPROVING.facts, 'cashflow.lowest_income_to_outflow': 0.2 }, APPROVING.age_days)
  const looser = withCutoff(CUTOFF - 150)
  const good = Array.from({ length: 300 }, (_, index) => recorded(`g${index}`))
  const declined = Array.from({ length: 200 }, (_, index) => recorded(`r${index}`, { policy: strict, facts: risky }))
  const outcomes = good.map((_, index) => outcome(`g${index}`, index < 15 ? 'default' : 'repaid'))
  assert.equal(counted(looser, [...good, ...declined], { outcomes }).headline.change, 'not_shown')
  const bad = Array.from({ length: 200 }, (_, index) => recorded(`b${index}`, { policy: looser, facts: risky }))
  const all = [...good, ...bad]
  const known = [...outcomes, ...bad.map((_, index) => outcome(`b${index}`, index < 120 ? 'default' : 'repaid'))]
  const dropping = editedPolicy(({ rules }) => ({
    rules: [...rules, ruleOf({ id: 'lean_month', when: 'cashflow.lowest_income_to_outflow < 0.5', action: 'decline' })],
  }))
  assert.equal(counted(dropping, all, { outcomes: known }).headline.change, 'better')
})

test('an outcome counts once its decision has matured, and a bad one of a younger decision counts no earlier', () => {
  const outcomes = [outcome('a', 'default')]
  const young = counted(now, [recorded('a')], { outcomes, matureBefore: DECIDED_AT })
  assert.deepEqual([young.headline.kept.mature, young.headline.before.known], [0, 0])
  assert.deepEqual(young.rules.map(({ known }) => known).filter(Boolean), [])
  assert.equal(young.changed_cases.length, 0)
  const mature = counted(now, [recorded('a')], { outcomes, matureBefore: LATER })
  assert.deepEqual([mature.headline.kept.mature, mature.headline.before.bad], [1, 1])
  assert.equal(counted(withCutoff(CUTOFF, {}), []).headline.maturity_days, 365)
})

test('late by 90 days and settled are bad; late by less, current and repaid are good', () => {
  const ends: [ReportedOutcome['type'], number | null, number, number][] = [
    ['late', 90, 1, 1],
    ['late', 89, 1, 0],
    ['late', null, 1, 0],
    ['settled', null, 1, 1],
    ['repaid', null, 1, 0],
    ['current', null, 1, 0],
    ['funded', null, 0, 0],
    ['closed', null, 0, 0],
  ]
  for (const [type, days, known, bad] of ends) {
    const { before } = counted(now, [recorded('a')], { outcomes: [outcome('a', type, days)] }).headline
    assert.deepEqual([before.known, before.bad], [known, bad], `${type} ${days}`)
  }
})

test('the verdict of a person stands before, and where a person would look again after', () => {
  const reviewed = { ...recorded('a'), verdict: 'manual_review' as const, recommended_limit: null }
  const limited = counted(now, [reviewed], { reviews: [review('a', 'approve', AMOUNT / 2)] })
  assert.deepEqual([limited.by_people, limited.before.approved, limited.before.amount], [1, 1, AMOUNT / 2])
  assert.equal(limited.headline.kept.approved, 1)
  assert.equal(limited.newly_approved.count, 0)
  assert.equal(limited.changed, 1, 'the verdict of the policy changed all the same')
  // Under the proposal the case goes to review again, where the person approves it again.
  const toReview = editedPolicy(({ verdicts }) => ({ verdicts: { ...verdicts, confidence_min_ppm: 1_000_000 } }))
  assert.equal(judge(toReview, STEADY).verdict, 'manual_review')
  const again = counted(toReview, [reviewed], { reviews: [review('a', 'approve')] })
  assert.deepEqual([again.after.approved, again.after.amount, again.headline.kept.approved], [1, AMOUNT, 1])
  assert.equal(counted(toReview, [reviewed]).after.approved, 0)
  // A person who declined what the policy approved does so again, unless the verdict changes.
  const refused = counted(now, [recorded('b')], { reviews: [review('b', 'decline')] })
  assert.deepEqual([refused.before.approved, refused.after.approved], [0, 0])
  const declined = { ...recorded('c', { policy: strict }) }
  assert.equal(counted(now, [declined], { reviews: [review('c', 'decline')] }).after.approved, 1)
})

test('the expected loss is that of the amount offered, by its probability and the loss given default', () => {
  const asking = factsFrom(
    { ...APPROVING.facts, 'cashflow.lowest_balance': 4000, 'request.amount': 60_000 },
    APPROVING.age_days,
  )
  const { offer, asked } = judge(now, asking)
  const [offered, badPpm] = [offer.limit!.amount!, offer.offered.badPpm!]
  assert.ok(offered > 0 && offered < 60_000 && badPpm < asked.badPpm!, 'the offer has to be less, and less risky')
  const { after } = counted(now, [recorded('a', { facts: asking })])
  assert.equal(now.document.portfolio?.loss_given_default_ppm, 600_000)
  assert.ok(Math.abs(after.expected_loss! - (offered * badPpm * 0.6) / 1e6) < 1e-9)
  const whole = withCutoff(CUTOFF, {})
  assert.ok(
    Math.abs(counted(whole, [recorded('a', { facts: asking })]).after.expected_loss! - (offered * badPpm) / 1e6) < 1e-9,
  )
})

test('a probability that is missing is not known, and never zero', () => {
  const external = editedPolicy(({ scorecard, inputs }) => {
    const { probability: _, ...card } = scorecard
    return { inputs: [...inputs, snapshotInput('pd')], scorecard: { ...card, external_probability: 'snapshot.pd' } }
  })
  const { before, calibration, headline } = counted(external, [recorded('a')], { outcomes: [outcome('a', 'default')] })
  assert.deepEqual([before.approved, before.expected_loss, before.loss_unknown], [1, null, 1])
  assert.deepEqual([calibration.expected, calibration.observed.known], [null, 0])
  assert.deepEqual([headline.before.known, headline.before.bad], [1, 1])
  const ofAccess = now.document.tests.find(
    ({ expect, facts }) => expect.verdict === 'approve' && !facts['request.amount'],
  )!
  const access = factsFrom(ofAccess.facts, ofAccess.age_days)
  const admitted = {
    ...recorded('b', { facts: access }),
    verdict: 'decline' as const,
    requested_amount: null,
    recommended_limit: null,
  }
  const opened = counted(now, [admitted])
  assert.equal(opened.after.approved, 1)
  assert.deepEqual([opened.after.expected_loss, opened.after.loss_unknown], [0, 0], 'access lends nothing')
  assert.equal(opened.headline.newly_approved.without_probability, 1)
  assert.equal(opened.headline.newly_approved.expected.share, null)
})

test('the rate of all is not known if that of some newly approved credit is not', () => {
  const result = parsePolicy(newPolicySource('unscored'))
  assert.ok('policy' in result)
  const { policy } = result
  const facts = factsFrom(policy.document.tests[0]!.facts)
  const declined = { ...recorded('b', { policy, facts }), verdict: 'decline' as const, recommended_limit: null }
  const outcomes = [outcome('a', 'repaid')]
  const kept = counted(policy, [recorded('a', { policy, facts })], { outcomes }).headline
  assert.deepEqual([kept.kept.approved, kept.together.share], [1, 0])
  const { newly_approved, together, change } = counted(policy, [recorded('a', { policy, facts }), declined], {
    outcomes,
  }).headline
  assert.deepEqual([newly_approved.without_probability, together.share, change], [1, null, null])
})

test('each limit is kept up to its bound, broken beyond it, and broken where nothing is known', () => {
  const cases = Array.from({ length: 10 }, (_, index) => recorded(String(index)))
  const outcomes = cases.map((_, index) => outcome(String(index), index < 2 ? 'default' : 'repaid'))
  const limited = (backtest_limits: object, given = outcomes, policy = CUTOFF) =>
    counted(withCutoff(policy, { maturity_days: 0, backtest_limits }), cases, { outcomes: given }).limits
  assert.deepEqual(
    limited({ bad_ppm_max: 200_000, decisions_min: 10, approved_ppm_min: 1_000_000, changed_ppm_max: 0 }).map(
      ({ is_kept }) => is_kept,
    ),
    [true, true, true, true],
  )
  assert.deepEqual(limited({ bad_ppm_max: 199_999 }), [
    {
      limit: 'bad_ppm_max',
      allowed: 199_999,
      found: 200_000,
      is_kept: false,
      words: 'bad rate of what is approved 20.0 %, at most 19.9999 % (over by 0.0001 points)',
    },
  ])
  assert.equal(
    limited({ bad_ppm_max: 50_000 })[0]!.words,
    'bad rate of what is approved 20.0 %, at most 5.0 % (over by 15.0 points)',
  )
  assert.equal(limited({ decisions_min: 100 })[0]!.words, 'decisions decided again 10, at least 100 (under by 90)')
  assert.deepEqual(
    limited({ approved_ppm_min: 500_000, changed_ppm_max: 900_000 }, [], 900).map(({ is_kept }) => is_kept),
    [false, false],
  )
  assert.equal(
    limited({ approved_ppm_max: 400_000 })[0]!.words,
    'approval rate 100.0 %, at most 40.0 % (over by 60.0 points)',
  )
  assert.equal(
    limited({ bad_ppm_max: 900_000 }, [])[0]!.words,
    'bad rate of what is approved not known, at most 90.0 %',
  )
  assert.deepEqual(limited({}), [])
})

test('the more decisions are of one entity, the wider is every interval of the headline', () => {
  const cases = (entityOf: (index: number) => string) =>
    Array.from({ length: 60 }, (_, index) =>
      recorded(String(index), { entity: entityOf(index), policy: index % 3 === 0 ? strict : now }),
    )
  const outcomes = Array.from({ length: 60 }, (_, index) =>
    outcome(String(index), index % 7 === 1 ? 'default' : 'repaid'),
  ).filter((_, index) => index % 3 !== 0)
  const apart = counted(now, cases(String), { outcomes }).headline
  const heaped = counted(
    now,
    cases((index) => (index < 40 ? 'one' : String(index))),
    { outcomes },
  ).headline
  const widthOf = ({ low, high }: Estimate) => high! - low!
  for (const name of ['before', 'together', 'difference'] as const)
    assert.ok(widthOf(heaped[name]) > 1.1 * widthOf(apart[name]), name)
  assert.ok(widthOf(heaped.kept.outcomes) > 1.5 * widthOf(apart.kept.outcomes))
  // Fewer independent outcomes also leave the expectation nearer to that of the table, so the width is compared to the share.
  const [{ expected: few }, { expected: many }] = [heaped.newly_approved, apart.newly_approved]
  assert.ok(widthOf(few) / few.share! > 1.2 * (widthOf(many) / many.share!))
})

test('the intervals of all approved and of the difference hold the true rate in 95 of 100 portfolios', () => {
  const draw = seededDraws(20_261_120)
  const normal = normalDraws(draw)
  const logistic = (x: number) => 1 / (1 + Math.exp(-x))
  const PORTFOLIOS = 300
  const held = { together: 0, difference: 0 }
  for (let portfolio = 0; portfolio < PORTFOLIOS; portfolio++) {
    const [offset, slope] = [0.7 * normal(), 1 + 0.35 * normal()]
    const counts = noCounts(now)
    const truth = { kept: 0, no_longer_approved: 0, newly_approved: 0 }
    const applicants = 150 + Math.floor(draw() * 600)
    for (let applicant = 0; applicant < applicants; applicant++) {
      const logOdds = -4.6 + draw() * 4.2
      const chance = logistic(-2.5 + offset + slope * (logOdds + 2.5))
      const bad = Number(draw() < chance)
      const p = logistic(logOdds)
      // The proposal approves up to .3 instead of .15, but for some whom it drops.
      const name = p < 0.15 ? (draw() < 0.1 ? 'no_longer_approved' : 'kept') : 'newly_approved'
      if (p > 0.3) continue
      const isKnown = name !== 'newly_approved'
      const group = counts[name]
      group.approved++
      addEntity(group.entities, `ent_${applicant}`, 1)
      if (isKnown) addEntity(counts.observed, `ent_${applicant}`, 1)
      if (isKnown) {
        group.known++
        group.bad += bad
      }
      addCell(group.cells, {
        card: '',
        score: Math.round(logOdds * 1e4),
        cases: 1,
        expectedPpm: Math.round(p * 1e6),
        bad: isKnown ? bad : 0,
      })
      // What many loans like those that were observed show, and what these very ones that are added will show.
      truth[name] += isKnown ? chance : bad
    }
    const { headline } = resultOf(counts)
    const { kept, no_longer_approved: dropped, newly_approved: added } = counts
    const all = (truth.kept + truth.newly_approved) / (kept.approved + added.approved)
    const before = (truth.kept + truth.no_longer_approved) / (kept.known + dropped.known)
    const holds = ({ low, high }: Estimate, value: number) => Number(low! <= value && value <= high!)
    held.together += holds(headline.together, all)
    held.difference += holds(headline.difference, all - before)
  }
  assert.ok(held.together >= 0.93 * PORTFOLIOS && held.difference >= 0.93 * PORTFOLIOS, JSON.stringify(held))
})
