import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DecidedRequest, type ReviewedVerdict, standingOf } from './decision-standing.ts'
import { mismatchesOf, type ReportedOutcome } from './outcome-mismatch.ts'
import { OUTCOME_TYPES } from './vocabularies.ts'

/** What is found about an outcome of a decision in euro. */
function found(report: ReportedOutcome, decision: Partial<DecidedRequest>, review?: ReviewedVerdict) {
  const decided = { verdict: 'approve', requested_amount: 1000, recommended_limit: 1000, ...decision }
  const currency = decided.requested_amount === null ? null : 'EUR'
  return mismatchesOf(report, { ...standingOf(decided, review), currency, isReplaced: false })
}

const DECLINED = { verdict: 'decline', recommended_limit: null }
const euro = (amount: number): ReportedOutcome => ({ type: 'funded', amount, currency: 'EUR' })

describe('a payment after a decline', () => {
  it('does not fit, unless the newest review approved it', () => {
    assert.deepEqual(found({ type: 'funded' }, DECLINED), ['not_approved'])
    assert.deepEqual(found({ type: 'funded' }, DECLINED, { verdict: 'approve', recommended_limit: 500 }), [])
    assert.deepEqual(found({ type: 'funded' }, DECLINED, { verdict: 'approve_with_conditions' }), [])
    assert.deepEqual(found({ type: 'funded' }, {}, { verdict: 'decline' }), ['not_approved'])
  })

  it('is the only outcome that does not fit', () => {
    for (const type of OUTCOME_TYPES)
      assert.deepEqual(found({ type }, DECLINED), type === 'funded' ? ['not_approved'] : [], type)
  })

  it('fits a decision that waits for a review: a person may have decided elsewhere', () => {
    assert.deepEqual(found({ type: 'funded' }, { verdict: 'manual_review', recommended_limit: null }), [])
  })
})

describe('an amount', () => {
  it('may be ten times that of the decision, and no more, for every type of outcome', () => {
    for (const type of OUTCOME_TYPES) {
      assert.deepEqual(found({ ...euro(10_000), type }, {}), [], type)
      assert.deepEqual(found({ ...euro(10_000.01), type }, {}), ['amount_too_high'], type)
    }
  })

  it('is compared exactly, not in binary fractions', () => {
    const [times, amount] = [10, 0.09]
    assert.ok(0.9 > times * amount)
    assert.deepEqual(found(euro(0.9), { requested_amount: amount, recommended_limit: amount }), [])
    assert.deepEqual(found(euro(0.91), { requested_amount: amount, recommended_limit: amount }), ['amount_too_high'])
  })

  it('is compared with the limit of the newest review, or else of the policy, or else with the request', () => {
    const reduced = { requested_amount: 400_000, recommended_limit: 2000 }
    assert.deepEqual(found(euro(20_001), reduced), ['amount_too_high'])
    assert.deepEqual(found(euro(20_001), reduced, { verdict: 'approve', recommended_limit: 3000 }), [])
    assert.deepEqual(found(euro(20_001), reduced, { verdict: 'approve' }), ['amount_too_high'])
    const undecided = { verdict: 'manual_review', recommended_limit: null }
    assert.deepEqual(found(euro(10_001), undecided), ['amount_too_high'])
    assert.deepEqual(found(euro(10_001), undecided, { verdict: 'approve' }), ['amount_too_high'])
    assert.deepEqual(found(euro(10_001), undecided, { verdict: 'approve', recommended_limit: 1001 }), [])
  })

  it('has nothing to be compared with after a decision without one', () => {
    const access = { requested_amount: null, recommended_limit: null }
    assert.deepEqual(found(euro(1e9), access), [])
  })
})

describe('a currency', () => {
  it('has to be that of the decision', () => {
    assert.deepEqual(found({ type: 'repaid', amount: 1, currency: 'USD' }, {}), ['other_currency'])
    assert.deepEqual(found({ type: 'funded', amount: 1e9, currency: 'USD' }, DECLINED), [
      'not_approved',
      'other_currency',
    ])
  })
})
