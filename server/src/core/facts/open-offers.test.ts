import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { editedDocument } from '../../../tests/edited-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { OUTCOME_TYPES } from '../vocabularies.ts'
import { deriveFacts } from './derive-facts.ts'
import { emptyState } from './entity-state.ts'
import {
  type DatedReview,
  type OfferingDecision,
  type OfferOutcome,
  type OpenOffer,
  offeredByCurrency,
  offerOf,
} from './open-offers.ts'
import { endsCredit } from './outcome-course.ts'

const NOW = '2026-03-01T00:00:00.000Z'
const decision: OfferingDecision = {
  id: 'dec_1',
  verdict: 'approve_with_conditions',
  requested_amount: 9_000,
  recommended_limit: 4_000,
  currency: 'EUR',
  reference: null,
  created_at: NOW,
}
const offered = (
  changes: Partial<OfferingDecision>,
  review?: DatedReview,
  expireDays?: number,
  outcomes: OfferOutcome[] = [],
) => offerOf({ ...decision, ...changes }, review, { expireDays, outcomes })
const review = (changes: Partial<DatedReview>): DatedReview => ({
  verdict: 'approve',
  created_at: '2026-03-05T12:00:00.000Z',
  ...changes,
})

describe('a decision offers', () => {
  it('what it approves of credit, not what was requested, until it expires', () => {
    assert.deepEqual(offered({ reference: 'case-1' }), {
      decisionId: 'dec_1',
      amount: 4_000,
      currency: 'EUR',
      expiresAt: '2026-03-31T00:00:00.000Z',
      reference: 'case-1',
    })
    assert.equal(offered({}, undefined, 1)?.expiresAt, '2026-03-02T00:00:00.000Z')
    assert.equal(offered({ recommended_limit: null })?.amount, 9_000)
  })

  it('nothing if it is no approval, or about access', () => {
    for (const verdict of ['decline', 'manual_review']) assert.equal(offered({ verdict }), undefined)
    assert.equal(offered({ requested_amount: null, recommended_limit: null, currency: null }), undefined)
  })

  it('what its newest review says, from then on', () => {
    assert.equal(offered({}, review({ verdict: 'decline' })), undefined)
    const approved = offered({ verdict: 'manual_review', recommended_limit: null }, review({ recommended_limit: 500 }))
    assert.deepEqual([approved?.amount, approved?.expiresAt], [500, '2026-04-04T12:00:00.000Z'])
  })
})

const offer = (amount: number, currency: string, expiresAt = '2026-03-02T00:00:00.000Z'): OpenOffer => ({
  decisionId: `dec_${amount}`,
  amount,
  currency,
  expiresAt,
})

describe('the facts of open offers', () => {
  const offers = [offer(0.1, 'EUR'), offer(0.2, 'EUR'), offer(700, 'EUR', NOW), offer(5, 'USD'), offer(6, 'CZK')]
  const features = (request: { requestedAmount?: number; currency?: string }) => {
    const facts = deriveFacts({
      state: emptyState(),
      offers,
      entity: {},
      request: { product: 'x', ...request },
      now: NOW,
    })
    return Object.entries(facts.features).filter(([name]) => name.startsWith('offers.'))
  }

  it('add them up in the currency of the request, without those that have expired', () => {
    assert.deepEqual(features({ requestedAmount: 1, currency: 'EUR' }), [
      ['offers.open_amount', { value: 0.3 }],
      ['offers.open_count', { value: 4 }],
      ['offers.open_in_other_currency', { value: 2 }],
    ])
    assert.deepEqual(
      features({ requestedAmount: 1, currency: 'JPY' }).map(([, fact]) => fact),
      [{ value: 0 }, { value: 4 }, { value: 4 }],
    )
  })

  it('are counted for access, and have no amount', () => {
    const missing = { missing: 'not_requested' }
    assert.deepEqual(
      features({}).map(([, fact]) => fact),
      [missing, { value: 4 }, missing],
    )
  })

  it('are shown by currency', () => {
    assert.deepEqual(offeredByCurrency(offers, NOW), [
      { currency: 'CZK', offers: 1, amount: 6 },
      { currency: 'EUR', offers: 2, amount: 0.3 },
      { currency: 'USD', offers: 1, amount: 5 },
    ])
  })
})

describe('an offer', () => {
  const drawn = (amount: number, currency = 'EUR', day = 2): OfferOutcome => ({
    type: 'funded',
    occurredAt: `2026-03-0${day}T00:00:00.000Z`,
    amount,
    currency,
  })
  const left = (...outcomes: OfferOutcome[]) => offered({}, undefined, 30, outcomes)?.amount

  it('of which a part was paid out offers the rest', () => {
    assert.deepEqual([left(drawn(10)), left(drawn(0.1), drawn(0.2, 'EUR', 3))], [3_990, 3_999.7])
    assert.equal(left(drawn(10), drawn(10)), 3_990, 'one draw that was reported twice')
    assert.equal(left(drawn(10), { type: 'late', occurredAt: NOW }), 3_990)
  })

  it('ends with what pays it out', () => {
    assert.deepEqual([left(drawn(4_000)), left(drawn(9_000)), left(drawn(10, 'USD'))], Array(3).fill(undefined))
    assert.equal(left({ type: 'funded', occurredAt: NOW }), undefined)
  })

  it('ends with the credit, though only a part was paid out', () => {
    const ending = OUTCOME_TYPES.filter(endsCredit)
    assert.deepEqual(ending, ['charged_off', 'repaid', 'settled', 'closed'])
    for (const type of ending) assert.equal(left(drawn(10), { type, occurredAt: NOW }), undefined, type)
  })
})

it('a policy may leave offers open for 1 to 365 days', () => {
  const said = (days: number) => {
    const parsed = parsePolicy(JSON.stringify(editedDocument({ offers: { expire_days: days } })))
    return 'problems' in parsed ? JSON.stringify(parsed.problems) : 'accepted'
  }
  assert.deepEqual([said(1), said(365)], ['accepted', 'accepted'])
  for (const days of [0, 366, 1.5]) assert.match(said(days), /expire_days/, String(days))
})
