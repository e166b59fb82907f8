import type { LimitTrace } from './decide/evaluation.ts'

/** How far a reviewer's limit may go above what was asked, or above what the policy could lend. */
export interface ReviewBounds {
  /** A limit up to so many percent above needs no confirmation. */
  ask_above_percent: number
  /** A limit of more than so many times what was asked is refused. */
  refuse_above_times: number
}

/** The bounds of an organization that has not changed them: every excess is asked about, a slip of two digits is refused. */
export const DEFAULT_REVIEW_BOUNDS: ReviewBounds = { ask_above_percent: 0, refuse_above_times: 10 }

/** The highest bounds that an organization can set. */
export const REVIEW_BOUNDS_MAX: ReviewBounds = { ask_above_percent: 1_000, refuse_above_times: 1_000 }

/** The shortest reason that can say why a limit is above its bounds. */
export const EXCESS_REASON_CHARACTERS_MIN = 20

/** Above which limits of one request a reviewer is asked, and above which refused; in the currency of the request. */
export interface LimitThresholds {
  ask_above: number
  refuse_above: number
}

/** The thresholds for the limit of a request; `couldLend` is null if it is not known. */
export function limitThresholds(
  { asked, couldLend }: { asked: number; couldLend: number | null },
  { ask_above_percent, refuse_above_times }: ReviewBounds,
): LimitThresholds {
  const reference = Math.min(asked, couldLend ?? asked)
  return {
    ask_above: inUnits((reference * (100 + ask_above_percent)) / 100),
    refuse_above: inUnits(asked * refuse_above_times),
  }
}

/** Rounds to the ten-thousandths that amounts are exact to, so that a product of binary floats refuses no limit at the bound. */
function inUnits(amount: number): number {
  return Math.round(amount * 10_000) / 10_000
}

/** What the terms of the policy would let a person lend, in whole steps of the currency; null if a term is not known. */
export function couldLend(limit: LimitTrace | null): number | null {
  if (limit === null || limit.missing.length > 0 || limit.step === null) return null
  const terms = limit.terms.filter(({ term }) => term !== 'requested')
  if (terms.length === 0) return null
  const lowest = Math.min(...terms.map(({ amount }) => amount))
  return Math.floor(lowest / limit.step) * limit.step
}
