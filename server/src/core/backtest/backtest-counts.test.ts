import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editedPolicy } from '../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { canonicalJson } from '../canonical-json.ts'
import { decide } from '../decide/decide.ts'
import type { Facts } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { VERDICTS, type Verdict } from '../vocabularies.ts'
import { addOlder, noCounts } from './backtest-counts.ts'
import type { BacktestResult } from './backtest-result.ts'
import { pageCounter, type ReviewOfDecision } from './count-page.ts'
import type { ReportedOutcome } from './how-it-ended.ts'
import type { RecordedCase } from './redecide.ts'
import { resultOf } from './summarize.ts'

const now = sandboxPolicy()
/** The facts of the policy's own test of an applicant who is approved for what they ask. */
const approving = now.document.tests.find(
  ({ expect, facts }) => expect.verdict === 'approve' && facts['request.amount'],
)!
const STEADY = approving.facts
const AGE_DAYS = approving.age_days

function recorded(number: number, facts: Facts): RecordedCase {
  const { verdict, limit } = decide(now, facts)
  const at = `2026-11-${String(number).padStart(2, '0')}T00:00:00.000Z`
  const facts_text = canonicalJson(facts)
  return {
    id: `dec_${number}`,
    entity_id: `ent_${number}`,
    verdict,
    created_at: at,
    requested_amount: limit === null ? null : Number(STEADY['request.amount']),
    recommended_limit: limit,
    facts: facts_text,
  }
}

function outcome(number: number, type: ReportedOutcome['type'], daysPastDue: number | null = null): ReportedOutcome {
  const occurredAt = '2026-11-20T00:00:00.000Z'
  return { id: `out_${number}`, decisionId: `dec_${number}`, type, occurredAt, daysPastDue }
}

function countedInPages(
  policy: CompiledPolicy,
  pages: readonly (readonly RecordedCase[])[],
  outcomes: readonly ReportedOutcome[] = [],
  {
    reviews = [],
    matureBefore = '2027-01-01T00:00:00.000Z',
  }: { reviews?: readonly ReviewOfDecision[]; matureBefore?: string } = {},
): BacktestResult {
  const countPage = pageCounter(policy)
  const counts = noCounts(policy)
  for (const cases of pages) addOlder(counts, countPage({ cases, outcomes, reviews, matureBefore }))
  return resultOf(counts)
}

function counted(
  policy: CompiledPolicy,
  cases: readonly RecordedCase[],
  outcomes?: readonly ReportedOutcome[],
  given?: { reviews?: readonly ReviewOfDecision[]; matureBefore?: string },
): BacktestResult {
  return countedInPages(policy, [cases], outcomes, given)
}

const good = recorded(10, factsFrom(STEADY, AGE_DAYS))
const overdrawn = recorded(
  11,
  factsFrom({ ...STEADY, 'cashflow.overdrawn_days_365': 40, 'cashflow.overdrawn_days_90': 20 }, AGE_DAYS),
)
const unknown = recorded(12, factsFrom({}))

test('under the policy that decided, no verdict changes and both sides agree', () => {
  const result = counted(now, [unknown, overdrawn, good], [outcome(10, 'repaid')])
  assert.deepEqual([result.decided, result.changed, result.unreadable], [3, 0, 0])
  assert.deepEqual(result.before, result.after)
  assert.equal(good.verdict, 'approve')
  assert.equal(result.before.approved, 1)
  const requested = Number(STEADY['request.amount'])
  assert.equal(result.before.amount, requested)
  assert.equal(result.currency, 'EUR')
  assert.ok(result.before.expected_loss! > 0 && result.before.expected_loss! < requested * 0.6)
  assert.deepEqual([result.first_at, result.last_at], [good.created_at, unknown.created_at])
  for (const verdict of VERDICTS) {
    const count = [good, overdrawn, unknown].filter((one) => one.verdict === verdict).length
    assert.equal(result.matrix[verdict][verdict], count, verdict)
  }
})

test('a higher cutoff moves an approval out, with its outcome, and lists the case', () => {
  const strict = editedPolicy((document) => ({ verdicts: { ...document.verdicts, cutoff: 900 } }))
  const result = counted(strict, [overdrawn, good], [outcome(10, 'default'), outcome(11, 'funded')])
  assert.equal(result.changed, 1)
  assert.deepEqual(result.no_longer_approved.count, 1)
  assert.deepEqual([result.no_longer_approved.outcomes.known, result.no_longer_approved.outcomes.bad], [1, 1])
  assert.equal(result.newly_approved.count, 0)
  assert.deepEqual([result.before.approved, result.after.approved], [1, 0])
  assert.deepEqual([result.after.amount, result.after.expected_loss], [0, 0])
  const [changed] = result.changed_cases
  assert.deepEqual([changed?.decision_id, changed?.before, changed?.outcome], ['dec_10', 'approve', 'default'])
  assert.notEqual(changed?.after, 'approve')
})

test('a rule counts the decisions that it matches, by how they ended', () => {
  const result = counted(now, [overdrawn, good], [outcome(11, 'charged_off')])
  const matching = result.rules.filter(({ matched }) => matched > 0)
  const held = decide(now, JSON.parse(overdrawn.facts)).trace.rule_trace.filter(({ holds }) => holds)
  assert.deepEqual(
    matching,
    held.map(({ rule }) => ({ rule, matched: 1, known: 1, bad: 1 })),
  )
  assert.ok(matching.length > 0)
})

test('facts that were altered are counted as unreadable and nowhere else', () => {
  const altered = ['', '{', '{"format":2,"features":{}}', '{"features":{"request.amount":{"value":null}},"format":1}']
  const result = counted(
    now,
    altered.map((facts) => ({ ...good, facts })),
  )
  assert.deepEqual([result.unreadable, result.decided], [altered.length, 0])
})

test('a list of changed cases is bounded for each kind, and the counts are not', () => {
  const strict = editedPolicy((document) => ({ verdicts: { ...document.verdicts, cutoff: 900 } }))
  const newestFirst = Array.from({ length: 450 }, (_, index) => ({ ...good, id: `dec_${2_000 - index}` }))
  for (const pages of [[newestFirst], [newestFirst.slice(0, 150), newestFirst.slice(150)]]) {
    const result = countedInPages(strict, pages)
    assert.deepEqual([result.changed, result.no_longer_approved.count], [450, 450])
    const listed = newestFirst.slice(0, 200).map(({ id }) => id)
    assert.deepEqual(
      result.changed_cases.map(({ decision_id }) => decision_id),
      listed,
    )
  }
})

test('pages that are counted apart add up to the same result', () => {
  const strict = editedPolicy((document) => ({ verdicts: { ...document.verdicts, cutoff: 900 } }))
  const cases = [12, 11, 10, 9, 8, 7].map((number) => ({
    ...[unknown, overdrawn, good][number % 3]!,
    id: `dec_${number}`,
  }))
  const altered = { ...good, id: 'dec_06', facts: '' }
  const outcomes = [outcome(10, 'repaid'), outcome(9, 'default'), outcome(8, 'late')]
  const all = [...cases, altered]
  const whole = counted(strict, all, outcomes)
  for (let at = 0; at <= all.length; at++)
    assert.deepEqual(countedInPages(strict, [all.slice(0, at), all.slice(at)], outcomes), whole)
  assert.ok(whole.changed > 0 && whole.headline.before.known > 0 && whole.unreadable === 1)
})

test('every decision is in exactly one cell of the matrix', () => {
  const amounts = fc.array(fc.integer({ min: 100, max: 60_000 }), { minLength: 1, maxLength: 10 })
  const strict = editedPolicy((document) => ({ verdicts: { ...document.verdicts, cutoff: 600 } }))
  fc.assert(
    fc.property(amounts, (requested) => {
      const cases = requested.map((amount, index) =>
        recorded(index + 1, factsFrom({ ...STEADY, 'request.amount': amount }, AGE_DAYS)),
      )
      const { matrix, changed } = counted(strict, cases)
      const cells = VERDICTS.flatMap((before) =>
        VERDICTS.map((after) => [before, after, matrix[before][after]] as const),
      )
      assert.equal(
        cells.reduce((sum, [, , count]) => sum + count, 0),
        cases.length,
      )
      const moved = cells.filter(([before, after]: readonly [Verdict, Verdict, number]) => before !== after)
      assert.equal(
        moved.reduce((sum, [, , count]) => sum + count, 0),
        changed,
      )
    }),
    { numRuns: 30 },
  )
})
