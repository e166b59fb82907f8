import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { VERDICTS, type Verdict } from '../vocabularies.ts'
import { type AssessedAmount, assessAt } from './assess.ts'
import { stepsIn } from './counter-offer.ts'
import type { Judgement } from './decide.ts'
import type { SettledBy } from './settling-steps.ts'

/** A smaller amount with a better verdict than the requested one got, and that verdict. */
export interface BetterAmount {
  amount: number
  currency: string
  verdict: Verdict
  settled_by: SettledBy
}

/**
 * Finds the largest smaller amount that is lent, a multiple of the currency's step, whose verdict is better; null if there is
 * none. It relies on the invariant of `offerOn`: a policy judges smaller amounts no more strictly.
 */
export function betterAmount(policy: CompiledPolicy, judgement: Judgement): BetterAmount | null {
  const { asked, verdict } = judgement
  const { bounds } = asked
  if (bounds === null || bounds.step === null || verdict === 'approve') return null
  const { step, currency } = bounds
  const at = (steps: number) => assessAt(policy, asked, steps * step)
  const isBetter = (judged: AssessedAmount) => VERDICTS.indexOf(judged.verdict) < VERDICTS.indexOf(verdict)
  const range = { first: stepsIn(bounds.smallest, step), last: stepsWithin(judgement, step) }
  const found = range.first <= range.last ? largestBetter(at, isBetter, range) : undefined
  if (!found) return null
  return { amount: found.figures.amount!, currency, verdict: found.verdict, settled_by: found.settledBy }
}

/** How many steps the largest amount to try has: the offered amount, or the requested one, whose verdict is not better. */
function stepsWithin({ asked, offer, settledBy }: Judgement, step: number): number {
  return stepsIn(settledBy === 'counter_offer' ? offer.limit!.amount! : asked.figures.amount!, step)
}

function largestBetter(
  at: (steps: number) => AssessedAmount,
  isBetter: (judged: AssessedAmount) => boolean,
  { first, last }: { first: number; last: number },
): AssessedAmount | undefined {
  let found = at(first)
  if (!isBetter(found)) return undefined
  let [low, high] = [first, last + 1]
  for (let middle = last; high - low > 1; middle = low + Math.floor((high - low) / 2)) {
    const tried = at(middle)
    if (isBetter(tried)) [low, found] = [middle, tried]
    else high = middle
  }
  return found
}
