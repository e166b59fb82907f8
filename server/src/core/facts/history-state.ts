import { type Money, moneyOf } from '../money.ts'
import { ownProperty } from '../stored-json.ts'
import type { OutcomeType } from '../vocabularies.ts'
import { currentOutcome, isNeutral, type Outcome, openDrawsOf } from './outcome-course.ts'

/** One report of an outcome of one of the entity's own decisions. */
export interface OutcomeFact extends Outcome {
  decisionId: string
  daysPastDue?: number
  /** The amount paid out, for `funded`; the amount of any other outcome is ignored here. */
  amount?: number
  currency?: string
}

/** The credits in one currency that were paid out and have not ended: how many, and the amount paid out. */
export interface OpenCredits {
  credits: number
  units: string
}

/** How many decisions have each outcome, the open credits by currency, and the longest delay of a payment. */
export interface HistoryState {
  outcomes: Partial<Record<OutcomeType, number>>
  openCredits: Record<string, OpenCredits>
  worstDaysPastDue: number
}

/** What one decision adds to the history. */
interface Contribution {
  /** The outcome that counts now; undefined without one, or with a neutral one. */
  current: OutcomeType | undefined
  /** What is still owed, by currency. */
  open: ReadonlyMap<string, Money>
}

/**
 * Adds an outcome to the entity's own history, which counts decisions, not reports.
 *
 * `earlier` are all earlier reports about the same decision. What the decision contributed by them is subtracted, and
 * what it contributes with this outcome is added. So the history depends on the set of reports, not on their order,
 * and its size depends only on the number of currencies.
 */
export function addOutcome(
  { outcomes, openCredits, worstDaysPastDue }: HistoryState,
  outcome: OutcomeFact,
  earlier: readonly OutcomeFact[],
): HistoryState {
  const after = [...earlier, outcome]
  return {
    ...withReports({ outcomes, openCredits }, { before: earlier, after }),
    // Further reports can only raise the longest delay, so there is nothing to subtract.
    worstDaysPastDue: Math.max(worstDaysPastDue, longestDelay(after)),
  }
}

/**
 * Takes a report out of the entity's own history, as if it had never been made. `others` are all other reports about the
 * same decision. The longest delay is not a sum, so it is computed again from `allOthers`, the entity's other reports.
 */
export function removeOutcome(
  history: HistoryState,
  outcome: OutcomeFact,
  { others, allOthers }: { others: readonly OutcomeFact[]; allOthers: readonly OutcomeFact[] },
): HistoryState {
  return {
    ...withReports(history, { before: [...others, outcome], after: others }),
    worstDaysPastDue: longestDelay(allOthers),
  }
}

/**
 * The history without what is owed on one decision, after all reports about it: to make that decision again, its own credit
 * is not an earlier one. How the credit went still counts.
 */
export function withoutCreditOf(history: HistoryState, reports: readonly OutcomeFact[]): HistoryState {
  return { ...history, openCredits: withOpen(history.openCredits, contributionOf(reports).open, -1) }
}

/** Subtracts what one decision contributed by the reports before, and adds what it contributes by those after. */
function withReports(
  { outcomes, openCredits }: Omit<HistoryState, 'worstDaysPastDue'>,
  reports: { before: readonly OutcomeFact[]; after: readonly OutcomeFact[] },
): Omit<HistoryState, 'worstDaysPastDue'> {
  const [before, after] = [contributionOf(reports.before), contributionOf(reports.after)]
  return {
    outcomes: recounted(recounted(outcomes, before.current, -1), after.current, 1),
    openCredits: withOpen(withOpen(openCredits, before.open, -1), after.open, 1),
  }
}

function longestDelay(reports: readonly OutcomeFact[]): number {
  return reports.reduce((worst, { daysPastDue = 0 }) => Math.max(worst, daysPastDue), 0)
}

function contributionOf(reports: readonly OutcomeFact[]): Contribution {
  const current = currentOutcome(reports)?.type
  return {
    current: current === undefined || isNeutral(current) ? undefined : current,
    open: sumByCurrency(openDrawsOf(reports)),
  }
}

function sumByCurrency(draws: readonly OutcomeFact[]): Map<string, Money> {
  const seen = new Set<string>()
  const sums = new Map<string, Money>()
  for (const { occurredAt, amount, currency } of draws) {
    // Without an amount nothing was paid out: access was granted, not credit.
    if (amount === undefined || currency === undefined) continue
    // The same amount at the same instant is one draw that was reported twice.
    const draw = `${occurredAt} ${amount} ${currency}`
    if (!seen.has(draw)) sums.set(currency, (sums.get(currency) ?? 0n) + moneyOf(amount))
    seen.add(draw)
  }
  return sums
}

function recounted(
  outcomes: HistoryState['outcomes'],
  type: OutcomeType | undefined,
  change: 1 | -1,
): HistoryState['outcomes'] {
  if (type === undefined) return outcomes
  const { [type]: count = 0, ...others } = outcomes
  return count + change > 0 ? { ...others, [type]: count + change } : others
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
