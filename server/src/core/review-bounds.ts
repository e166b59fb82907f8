import type { LimitTrace } from './decide/evaluation.ts'

/** How far a reviewer's limit may be from what was asked, or from what the policy could lend. */
export interface ReviewBounds {
  /** A limit up to so many percent above needs no confirmation. */
  ask_above_percent: number
  /** A limit of more than so many times what was asked is refused. */
  refuse_above_times: number
  /** A limit of less than so many percent of both has to be confirmed too; 0 asks about none. */
  ask_below_percent: number
}

/** The bounds of an organization that has not changed them: every excess and a lost digit are asked about, two digits too many are refused. */
export const DEFAULT_REVIEW_BOUNDS: ReviewBounds = {
  ask_above_percent: 0,
  refuse_above_times: 10,
  ask_below_percent: 20,
}

/** The highest bounds that an organization can set. */
export const REVIEW_BOUNDS_MAX: ReviewBounds = {
  ask_above_percent: 1_000,
  refuse_above_times: 1_000,
  ask_below_percent: 100,
}

/** The shortest reason that can say why a limit is outside of its bounds. */
export const EXCESS_REASON_CHARACTERS_MIN = 20

/** Below and above which limits of one request a reviewer is asked, and above which refused; in the currency of the request. */
export interface LimitThresholds {
  ask_below: number
  ask_above: number
  refuse_above: number
}

/** The thresholds for the limit of a request; `couldLend` is null if it is not known. */
export function limitThresholds(
  { asked, couldLend }: { asked: number; couldLend: number | null },
  { ask_above_percent, refuse_above_times, ask_below_percent }: ReviewBounds,
): LimitThresholds {
  const reference = Math.min(asked, couldLend ?? asked)
  return {
    ask_below: inUnits((reference * ask_below_percent) / 100),
    ask_above: inUnits((reference * (100 + ask_above_percent)) / 100),
    refuse_above: inUnits(asked * refuse_above_times),
  }
}

/** Above which sum of the limits in one currency a reviewer is asked. */
export interface TotalThreshold {
  currency: string
  could_lend: number
  ask_above: number
}

/**
 * The thresholds for the sums of limits in each currency of a case, where it is known what the policy could lend. Its terms see
 * one applicant with one income: two requests that are each within them would lend against that income twice.
 */
export function totalThresholds(
  requests: readonly { currency: string | null; couldLend: number | null }[],
  { ask_above_percent }: ReviewBounds,
): TotalThreshold[] {
  const highest = new Map<string, number>()
  for (const { currency, couldLend } of requests)
    if (currency !== null && couldLend !== null)
      highest.set(currency, Math.max(couldLend, highest.get(currency) ?? couldLend))
  return [...highest].map(([currency, most]) => ({
    currency,
    could_lend: most,
    ask_above: inUnits((most * (100 + ask_above_percent)) / 100),
  }))
}

/** Adds up limits, without the noise of binary floats. */
export function totalOf(limits: readonly number[]): number {
  return inUnits(limits.reduce((sum, limit) => sum + limit, 0))
}

/** Rounds to the ten-thousandths that amounts are exact to, so that a product of binary floats refuses no limit at the bound. */
function inUnits(amount: number): number {
  return Math.round(amount * 10_000) / 10_000
}

/**
 * What the terms of the policy would let a person lend, in whole steps of the currency, after what was offered or paid out since the
 * decision; null if a term is not known.
 */
export function couldLend(limit: LimitTrace | null, takenSince: number): number | null {
  if (limit === null || limit.missing.length > 0 || limit.step === null) return null
  const terms = limit.terms.filter(({ term }) => term !== 'requested')
  if (terms.length === 0) return null
  const lowest = Math.min(...terms.map(({ amount }) => amount)) - takenSince
  return Math.max(0, Math.floor(lowest / limit.step) * limit.step)
}
