import { type Money, moneyOf } from '../money.ts'
import type { OutcomeType } from '../vocabularies.ts'
import type { EntityState } from './entity-state.ts'
import { fateOf, isNeutral, type Outcome, openDrawsOf } from './outcome-course.ts'
import { ownProperty } from './own-property.ts'

/** One outcome of one of the entity's own decisions. */
export interface OutcomeFact extends Outcome {
  decisionId: string
  daysPastDue?: number
  /** What was paid out, for `funded`; other outcomes may carry an amount too, which changes nothing here. */
  amount?: number
  currency?: string
}

/** The credits of one currency that were paid out and have not ended: how many, and how much was paid out. */
export interface OpenCredits {
  credits: number
  units: string
}

/** How many decisions stand at each outcome, what is outstanding by currency, and the longest delay of a payment. */
export interface HistoryState {
  outcomes: Partial<Record<OutcomeType, number>>
  openCredits: Record<string, OpenCredits>
  worstDaysPastDue: number
}

/** What one decision adds to the history. */
interface Contribution {
  fate: OutcomeType | undefined
  /** What is outstanding of it, by currency. */
  open: ReadonlyMap<string, Money>
  worstDaysPastDue: number
}

/**
 * Takes an outcome into the entity's own history, which counts decisions, not reports.
 *
 * `earlier` is all that was reported of the same decision before: what the decision came to by that is taken back, and
 * what it comes to with this outcome is put in its place. So the history depends on what was reported, never on the
 * order, and grows with the currencies alone.
 */
export function applyOutcome(
  state: EntityState,
  outcome: OutcomeFact,
  earlier: readonly OutcomeFact[] = [],
): EntityState {
  const { outcomes, openCredits, worstDaysPastDue } = state.history
  const [before, after] = [contributionOf(earlier), contributionOf([...earlier, outcome])]
  return {
    ...state,
    history: {
      outcomes: recounted(recounted(outcomes, before.fate, -1), after.fate, 1),
      openCredits: withOpen(withOpen(openCredits, before.open, -1), after.open, 1),
      // More reports can only make the longest delay longer, so there is nothing to take back.
      worstDaysPastDue: Math.max(worstDaysPastDue, after.worstDaysPastDue),
    },
  }
}

function contributionOf(reports: readonly OutcomeFact[]): Contribution {
  const fate = fateOf(reports)?.type
  return {
    fate: fate === undefined || isNeutral(fate) ? undefined : fate,
    open: sumByCurrency(openDrawsOf(reports)),
    worstDaysPastDue: reports.reduce((worst, { daysPastDue = 0 }) => Math.max(worst, daysPastDue), 0),
  }
}

function sumByCurrency(draws: readonly OutcomeFact[]): Map<string, Money> {
  const seen = new Set<string>()
  const sums = new Map<string, Money>()
  for (const { occurredAt, amount, currency } of draws) {
    // Without an amount nothing was paid out, as when access is granted.
    if (amount === undefined || currency === undefined) continue
    // The same amount of the same instant is one draw that was told twice.
    const draw = `${occurredAt} ${amount} ${currency}`
    if (!seen.has(draw)) sums.set(currency, (sums.get(currency) ?? 0n) + moneyOf(amount))
    seen.add(draw)
  }
  return sums
}

function recounted(
  outcomes: HistoryState['outcomes'],
  fate: OutcomeType | undefined,
  change: 1 | -1,
): HistoryState['outcomes'] {
  if (fate === undefined) return outcomes
  const { [fate]: count = 0, ...others } = outcomes
  return count + change > 0 ? { ...others, [fate]: count + change } : others
}

function withOpen(
  openCredits: HistoryState['openCredits'],
  open: Contribution['open'],
  change: 1 | -1,
): HistoryState['openCredits'] {
  const next = { ...openCredits }
  for (const [currency, units] of open) {
    const known = ownProperty(next, currency) ?? { credits: 0, units: '0' }
    const credits = known.credits + change
    if (credits > 0) next[currency] = { credits, units: (BigInt(known.units) + BigInt(change) * units).toString() }
    else delete next[currency]
  }
  return next
}
