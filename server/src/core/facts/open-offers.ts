import { type DecidedRequest, type ReviewedVerdict, standingOf } from '../decision-standing.ts'
import { type Money, moneyNumber, moneyOf } from '../money.ts'
import { objectIn } from '../stored-json.ts'
import { type FactSet, known, missing } from './facts.ts'
import { type OutcomeFact, sumByCurrency } from './history-state.ts'
import { changesOffer, endsCredit } from './outcome-course.ts'

/** An approval of credit that the applicant may still take up. */
export interface OpenOffer {
  decisionId: string
  /** What was offered, which may be less than what was requested. */
  amount: number
  currency: string
  /** From this instant on it does not count, whether it was removed or not. */
  expiresAt: string
  /** The caller's own name for the request: a later request with the same one replaces the offer. */
  reference?: string
}

/** A decision, as far as it may be an offer. */
export interface OfferingDecision extends DecidedRequest {
  id: string
  currency: string | null
  reference: string | null
  created_at: string
}

/** A review with its time: an approval by a person is open from then on. */
export type DatedReview = ReviewedVerdict & { created_at: string }

/** How long an offer is open if the policy does not say. */
export const EXPIRE_DAYS_DEFAULT = 30

/** The longest time that a policy may leave an offer open. */
export const EXPIRE_DAYS_MAX = 365

/** How many open offers an entity can have: they are one row, and every approval writes it. */
export const OPEN_OFFERS_MAX = 100

const DAY_MS = 86_400_000

/** An outcome of a decision, as far as it takes up or ends what is offered. */
export type OfferOutcome = Pick<OutcomeFact, 'type' | 'occurredAt' | 'amount' | 'currency'>

/**
 * What a decision offers after its newest review, if it has any, and its outcomes: a loan that was paid out in part, or a line of which
 * a part was drawn, still offers the rest. Undefined if nothing is left, the decision stands as no approval, or is about access.
 */
export function offerOf(
  decision: OfferingDecision,
  review: DatedReview | undefined,
  { expireDays = EXPIRE_DAYS_DEFAULT, outcomes }: { expireDays: number | undefined; outcomes: readonly OfferOutcome[] },
): OpenOffer | undefined {
  const { isApproved, amount } = standingOf(decision, review)
  const { id, currency, reference } = decision
  if (!isApproved || amount === null || currency === null) return undefined
  const left = restOf({ amount, currency }, outcomes)
  if (left === 0) return undefined
  const from = Date.parse((review ?? decision).created_at)
  return {
    decisionId: id,
    amount: left,
    currency,
    expiresAt: new Date(from + expireDays * DAY_MS).toISOString(),
    ...(reference !== null && { reference }),
  }
}

/** What is left of an offered amount after these outcomes of its decision. */
function restOf(offered: Pick<OpenOffer, 'amount' | 'currency'>, outcomes: readonly OfferOutcome[]): number {
  const draws = outcomes.filter(({ type }) => !endsCredit(type) && changesOffer(type))
  // What was paid out without an amount, or in another currency, cannot be subtracted, and counts as all of it.
  const isComparable = draws.every(({ amount, currency }) => amount !== undefined && currency === offered.currency)
  if (!isComparable || outcomes.some(({ type }) => endsCredit(type))) return 0
  const left = moneyOf(offered.amount) - (sumByCurrency(draws).get(offered.currency) ?? 0n)
  return left > 0n ? moneyNumber(left) : 0
}

/** How long a stored policy leaves offers open; undefined if it does not say. */
export function expireDaysIn(document: string | undefined): number | undefined {
  const offers = objectIn(document ?? '')?.offers as { expire_days?: number } | undefined
  return offers?.expire_days
}

/** The offers that are open at an instant. */
export function openAt(offers: readonly OpenOffer[], now: string): OpenOffer[] {
  return offers.filter(({ expiresAt }) => expiresAt > now)
}

/** The features of open offers, which are counted in the currency of the request and in others, as open credits are. */
export function offerFacts(
  offers: readonly OpenOffer[],
  { currency, now }: { currency: string | undefined; now: string },
): FactSet {
  const open = openAt(offers, now)
  const count = known(open.length)
  if (currency === undefined) {
    const notRequested = missing('not_requested')
    return {
      'offers.open_amount': notRequested,
      'offers.open_count': count,
      'offers.open_in_other_currency': notRequested,
    }
  }
  const own = open.filter((offer) => offer.currency === currency)
  return {
    'offers.open_amount': known(moneyNumber(sumOf(own))),
    'offers.open_count': count,
    'offers.open_in_other_currency': known(open.length - own.length),
  }
}

/** Open offers in one currency: how many, and what they add up to. */
export interface OfferedCredit {
  currency: string
  offers: number
  amount: number
}

/** The offers that are open at an instant, by currency. */
export function offeredByCurrency(offers: readonly OpenOffer[], now: string): OfferedCredit[] {
  const byCurrency = Map.groupBy(openAt(offers, now), ({ currency }) => currency)
  return [...byCurrency]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, own]) => ({ currency, offers: own.length, amount: moneyNumber(sumOf(own)) }))
}

function sumOf(offers: readonly OpenOffer[]): Money {
  return offers.reduce((sum, { amount }) => sum + moneyOf(amount), 0n)
}
