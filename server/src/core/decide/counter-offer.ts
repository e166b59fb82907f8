import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { type AssessedAmount, type Assessment, assessAt } from './assess.ts'
import type { LimitTrace } from './evaluation.ts'
import { isBelowMinimum } from './verdict.ts'

/** The limit, and the assessment of the amount that is approved: the request itself if it is, or if nothing is. */
export interface Offer {
  limit: LimitTrace | null
  offered: AssessedAmount
}

/**
 * Finds the largest amount up to the requested one that this policy approves: a multiple of the currency's step, or the
 * request itself if the next multiple would be approved as well. So asking for more never gives less.
 *
 * INVARIANT: a policy judges smaller amounts no more strictly, so the amounts that it approves have no gaps. The search
 * relies on this for finding the largest; it ends for every policy.
 */
export function offerOn(policy: CompiledPolicy, asked: Assessment): Offer {
  const { bounds, figures } = asked
  if (bounds === null) return { limit: null, offered: asked }
  const { step, smallest } = bounds
  if (isBelowMinimum(asked)) return nothing(asked)
  // One term that leaves nothing settles the limit, whatever the terms are whose facts are missing.
  if (asked.settledBy === 'no_limit_left' && bounds.missing.length > 0) return nothing(asked)
  if (step === null || bounds.missing.length > 0) return { limit: limitAt(asked, null), offered: asked }
  if (asked.settledBy === 'knock_out' && !isByAmount(asked)) return nothing(asked)
  const at = (amount: number) => assessAt(policy, asked, amount)
  const requested = figures.amount!
  const steps = stepsIn(requested, step)
  if (isApproved(asked) && (steps * step === requested || isApproved(at((steps + 1) * step)))) {
    return { limit: limitAt(asked, requested), offered: asked }
  }
  if (steps > 0) return largestOffer(at, { step, smallest, asked }) ?? nothing(asked)
  return isApproved(asked) ? { limit: limitAt(asked, 0, at(step)), offered: asked } : nothing(asked)
}

function nothing(asked: Assessment): Offer {
  return { limit: limitAt(asked, 0, asked), offered: asked }
}

/** Whether every rule that declined depends on the amount, so that a smaller one may be approved. */
function isByAmount({ held }: Assessment): boolean {
  return held.every(({ action, dependsOnAmount }) => action !== 'decline' || dependsOnAmount)
}

/** Searches the multiples of the step. The first is tried first: most requests that are refused are refused there too. */
function largestOffer(
  at: (amount: number) => AssessedAmount,
  { step, smallest, asked }: { step: number; smallest: number; asked: Assessment },
): Offer | undefined {
  let offered = at(smallest)
  let refused: AssessedAmount = asked
  if (!isApproved(offered)) return undefined
  const highest = Math.min(asked.figures.amount!, offered.bounds?.lowest?.amount ?? Infinity)
  let [low, high] = [stepsIn(smallest, step), stepsIn(highest, step) + 1]
  // The highest amount within the terms is tried first: where a term binds and not the score, the search ends there.
  for (let middle = high - 1; high - low > 1; middle = low + Math.floor((high - low) / 2)) {
    const tried = at(middle * step)
    if (isApproved(tried)) [low, offered] = [middle, tried]
    else [high, refused] = [middle, tried]
  }
  return { limit: { ...limitAt(asked, low * step, refused), terms: termsOf(offered, asked) }, offered }
}

/** How many steps an amount has; bounded, because a stored policy may have a step of any size. */
export function stepsIn(amount: number, step: number): number {
  return Math.min(Math.floor(amount / step), Number.MAX_SAFE_INTEGER - 1)
}

/** Whether the amount of an assessment is approved, with conditions or without. */
export function isApproved({ verdict }: Pick<AssessedAmount, 'verdict'>): boolean {
  return verdict === 'approve' || verdict === 'approve_with_conditions'
}

/** The members are in the order of their names: see `orderedJson`. */
function limitAt(asked: Assessment, amount: number | null, refused?: AssessedAmount): LimitTrace {
  const { currency, missing, step } = asked.bounds!
  const binding = amount === null ? null : bindingOf(refused)
  return { amount, binding, currency, missing, step, terms: termsOf(asked, asked) }
}

function termsOf({ bounds }: AssessedAmount, { figures }: AssessedAmount): LimitTrace['terms'] {
  return [...bounds!.terms, { amount: figures.amount!, term: 'requested' }]
}

/** What keeps the limit from being higher: what refused the next higher amount. */
function bindingOf(refused: AssessedAmount | undefined): string {
  if (refused === undefined) return 'requested'
  if (isBelowMinimum(refused)) return 'minimum'
  const lowest = refused.bounds?.lowest
  const isBound = refused.settledBy === 'no_limit_left' || (lowest?.amount ?? Infinity) < refused.figures.amount!
  if (lowest !== undefined && isBound) return lowest.term
  return refused.settledBy === 'score' || refused.settledBy === 'confidence' ? 'risk' : 'rule'
}
