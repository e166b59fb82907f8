import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CaseAnswer } from './case-answer.ts'
import { conflictOf, isRecorded, onlyWaiting, requestsToShow } from './case-conflict.ts'
import type { ShownCase } from './review-case.ts'

const ME = 'opr_me'
const EUR = (amount: number) => ({ amount, currency: 'EUR' })

type Review = NonNullable<ShownCase['end']>

function reviewBy(by_id: string, changes: Partial<Review> = {}): Review {
  const said = { verdict: 'approve' as const, reason: 'Known for years.', limit: EUR(6_000), conditions: [] }
  return { review_id: `rev_${by_id}`, by: by_id, by_id, at: '2026-01-02T03:04:05Z', ...said, ...changes }
}

/** A case with two requests, of which those with a review are decided. */
function caseOf(reviews: readonly (Review | null)[], assignee: ShownCase['assignee'] = null): ShownCase {
  const decisions = reviews.map((review, index) => ({
    id: `dec_${index + 1}`,
    verdict: 'manual_review',
    product: 'personal_loan',
    requested: EUR(6_000),
    decided_at: '2026-01-01T00:00:00Z',
    is_waiting: review === null,
    review,
  }))
  const waiting = decisions.filter(({ is_waiting }) => is_waiting)
  return {
    decisions: decisions.toReversed(),
    decision: decisions[0],
    requests: waiting.map((decision) => ({ ...decision, could_lend: null, ask_above: 6_000, refuse_above: 60_000 })),
    end: waiting.length === 0 ? reviews[0] : null,
    assignee,
  } as unknown as ShownCase
}

function answer(limits: readonly (string | undefined)[], reason = 'Known for years.'): CaseAnswer {
  const said = limits.map(
    (limit, index) =>
      [`dec_${index + 1}`, { verdict: 'approve', limit, notation: 'comma_point', conditions: '' }] as const,
  )
  return { reason, requests: Object.fromEntries(said.filter(([, { limit }]) => limit !== undefined)) } as CaseAnswer
}

test('what is recorded to the letter is recorded, in whatever notation its limit was typed', () => {
  for (const limit of ['6000', '6,000', '6.000,00', ' €6 000 '])
    assert.equal(isRecorded(caseOf([reviewBy(ME)]), answer([limit], ' Known for years. '), ME), true, limit)
})

test('another limit, reason, verdict, condition or reviewer is not recorded, nor is an open case', () => {
  const said = answer(['6000'])
  assert.equal(isRecorded(caseOf([reviewBy(ME)]), answer(['5000']), ME), false)
  assert.equal(isRecorded(caseOf([reviewBy(ME)]), answer(['6000'], 'Known.'), ME), false)
  assert.equal(isRecorded(caseOf([reviewBy(ME, { verdict: 'decline', limit: null })]), said, ME), false)
  const conditional = { verdict: 'approve_with_conditions' as const, conditions: ['Sign here'] }
  const written = (conditions: string): CaseAnswer => ({
    reason: 'Known for years.',
    requests: { dec_1: { verdict: 'approve_with_conditions', limit: '6000', notation: 'comma_point', conditions } },
  })
  assert.equal(isRecorded(caseOf([reviewBy(ME, conditional)]), written('\nSign here '), ME), true)
  assert.equal(isRecorded(caseOf([reviewBy(ME, conditional)]), written('Sign here\nPay'), ME), false)
  assert.equal(isRecorded(caseOf([reviewBy('opr_other')]), said, ME), false)
  assert.equal(isRecorded(caseOf([reviewBy(ME), null]), said, ME), false)
  assert.equal(isRecorded(caseOf([reviewBy(ME)]), { reason: 'Only a reason', requests: {} }, ME), false)
})

test('a draft that does not say its notation is not taken for what was recorded', () => {
  const said = answer(['6000'])
  const { notation: _unknown, ...older } = said.requests.dec_1!
  assert.equal(
    isRecorded(
      caseOf([reviewBy(ME)]),
      { ...said, requests: { dec_1: older as typeof said.requests.dec_1 } } as CaseAnswer,
      ME,
    ),
    false,
  )
})

test('a conflict names the decided requests, oldest first, and counts those that wait', () => {
  const both = answer(['6000', '6000'])
  assert.equal(conflictOf(caseOf([null, null]), both, ME), undefined)
  const partly = conflictOf(caseOf([reviewBy('opr_other'), null]), both, ME)
  assert.deepEqual([partly?.decided.map(({ id }) => id), partly?.waiting], [['dec_1'], 1])
  const whole = conflictOf(caseOf([reviewBy('opr_a'), reviewBy('opr_b')]), both, ME)
  assert.deepEqual([whole?.decided.map(({ review }) => review.by), whole?.waiting], [['opr_a', 'opr_b'], 0])
  assert.equal(conflictOf(caseOf([reviewBy('opr_other'), null]), answer([undefined, '6000']), ME), undefined)
})

test('a case that a colleague has is a conflict, one of the reviewer’s own is none', () => {
  const taken = (id: string) => caseOf([null], { id, name: id, since: '2026-01-02T03:04:05Z' })
  assert.equal(conflictOf(taken('opr_other'), answer(['6000']), ME)?.holder?.name, 'opr_other')
  assert.equal(conflictOf(taken(ME), answer(['6000']), ME), undefined)
})

test('the form shows what waits and what was written about, and going on leaves what waits', () => {
  const both = answer(['6000', '5000'])
  const shown = caseOf([reviewBy('opr_other'), null])
  assert.deepEqual(
    requestsToShow(shown, both).map(({ id, ask_above }) => [id, ask_above]),
    [
      ['dec_1', null],
      ['dec_2', 6_000],
    ],
  )
  assert.deepEqual(onlyWaiting(shown, both), { ...both, requests: { dec_2: both.requests.dec_2 } })
})
