import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { SETTLING_STEPS } from '../../../server/src/core/decide/settling-steps.ts'
import { describeBinding } from '../../../server/src/core/policy/limit-bindings.ts'
import { setNotation } from '../components/money/number-notation.ts'
import { settledSentence, stepsOf } from './settled-by.ts'
import type { ViewData } from './view-data.ts'

after(() => setNotation('comma_point'))

type Evidence = ViewData['evidence']

/** A request for credit that misses the cutoff by a point and was left to a person by a rule. */
function viewOf(evidence: Partial<Evidence>, more: Partial<ViewData> = {}): ViewData {
  return {
    verdict: 'manual_review',
    requested: { amount: 5_000, currency: 'EUR' },
    thresholds: { cutoff: 550, confidence_min_ppm: 700_000, completeness_min_ppm: 500_000 },
    rules: [
      { rule: 'defaulted', label: 'Defaulted before', action: 'decline', holds: false },
      { rule: 'unverified', label: 'Identity not verified', action: 'manual_review', holds: true },
    ],
    evidence: {
      settled_by: 'review_rule',
      score: { base: 358, total: 549, cutoff: 550, bad_ppm: 100_000 },
      completeness: { ppm: 900_000 },
      confidence: { ppm: 510_000, decline_ppm: 510_000 },
      limit: null,
      ...evidence,
    },
    ...more,
  } as unknown as ViewData
}

const statesOf = (view: ViewData) => Object.fromEntries(stepsOf(view).map(({ name, state }) => [name, state]))

test('a step that failed without settling the verdict is neither passed nor the one that settled it', () => {
  const view = viewOf({})
  assert.deepEqual(statesOf(view), {
    'Knock-out': 'passed',
    Data: 'passed',
    Score: 'failed',
    'Enough known': 'passed',
    'Review rules': 'settled',
    'Sure enough': 'not reached',
    Limit: 'not reached',
    Conditions: 'not reached',
    Approval: 'not reached',
  })
  assert.equal(stepsOf(view).find(({ name }) => name === 'Score')?.says, '549 < 550')
  assert.match(settledSentence(view), /is 1 point below the cutoff of 550\. A rule asks for a person/)
})

test('of access, neither the steps nor the sentence speak of the score', () => {
  const view = viewOf({ settled_by: 'nothing_against', confidence: null }, { requested: null })
  assert.deepEqual(Object.keys(statesOf(view)), [
    'Knock-out',
    'Data',
    'Enough known',
    'Review rules',
    'Conditions',
    'Approval',
  ])
  assert.equal(settledSentence(view), 'Nothing speaks against it.')
})

test('scores and cutoffs have the notation of the person', () => {
  setNotation('point_comma')
  const score = { base: 358, total: 1_549.5, cutoff: 1_550.25, bad_ppm: 1 } as Evidence['score']
  const view = viewOf({ score })
  assert.equal(stepsOf(view).find(({ name }) => name === 'Score')?.says, '1.549,5 < 1.550,25')
  assert.match(settledSentence(view), /^The score of 1\.549,5 is 0,75 points below the cutoff of 1\.550,25\./)
  setNotation('comma_point')
})

test('a score at the cutoff has passed, and one that is surely below has settled', () => {
  const score = (total: number) => ({ base: 358, total, cutoff: 550, bad_ppm: 1 }) as Evidence['score']
  assert.equal(statesOf(viewOf({ score: score(550) })).Score, 'passed')
  assert.equal(statesOf(viewOf({ score: score(400), settled_by: 'score' })).Score, 'settled')
})

test('a counter-offer shows which steps the asked amount failed', () => {
  const states = statesOf(viewOf({ settled_by: 'counter_offer' }, { verdict: 'approve_with_conditions' }))
  assert.deepEqual(
    [states['Review rules'], states['Sure enough'], states.Limit, states.Conditions],
    ['failed', 'failed', 'settled', 'not reached'],
  )
})

test('terms that leave nothing settle a decline before completeness, rules and confidence are asked', () => {
  const states = statesOf(viewOf({ settled_by: 'no_limit_left' }, { verdict: 'decline' }))
  assert.deepEqual(
    [states.Score, states['Enough known'], states['Review rules'], states['Sure enough'], states.Limit],
    ['failed', 'not reached', 'not reached', 'not reached', 'settled'],
  )
})

test('access without credit takes no step about repayment', () => {
  const view = viewOf({ settled_by: 'nothing_against', score: null }, { requested: null, verdict: 'approve' })
  assert.deepEqual(Object.keys(statesOf(view)), [
    'Knock-out',
    'Data',
    'Enough known',
    'Review rules',
    'Conditions',
    'Approval',
  ])
  assert.equal(statesOf(view).Approval, 'settled')
})

test('every way to settle a verdict has one settled step, nothing asked behind it, and a sentence', () => {
  const limit = { amount: 900, currency: 'EUR', binding: 'risk', bound: describeBinding('risk'), missing: ['a.b'] }
  for (const { name, settles } of SETTLING_STEPS)
    for (const { by } of settles) {
      const view = viewOf({ settled_by: by, limit: limit as unknown as Evidence['limit'] })
      const states = stepsOf(view).map(({ state }) => state)
      const settled = states.indexOf('settled')
      assert.equal(stepsOf(view)[settled]?.name, name)
      assert.ok(
        states.slice(settled + 1).every((state) => state === 'not reached'),
        by,
      )
      assert.match(settledSentence(view), /^[A-Z€].*[^.]\.$/, by)
      assert.doesNotMatch(settledSentence(view), /undefined|null/, by)
    }
})

test('what binds a counter-offer is said after it, but not that the whole amount was granted', () => {
  const bound = (binding: string) =>
    settledSentence(
      viewOf({
        settled_by: 'counter_offer',
        limit: {
          amount: 900,
          currency: 'EUR',
          binding,
          bound: describeBinding(binding),
        } as unknown as Evidence['limit'],
      }),
    )
  assert.match(
    bound('own_credit'),
    /€900 is approved, less than was asked for: the term “own credit” allows no more\.$/,
  )
  assert.match(bound('minimum'), /: the product lends no smaller amount\.$/)
  assert.match(bound('requested'), /less than was asked for\.$/)
})
