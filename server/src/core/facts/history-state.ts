import { type Money, moneyOf } from '../money.ts'
import { ownProperty } from '../stored-json.ts'
import type { OutcomeType } from '../vocabularies.ts'
import { laterOf } from './newest-of.ts'
import { currentOutcome, debtsOf, isDefault, isNeutral, type Outcome } from './outcome-course.ts'

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

/** How many decisions have each outcome, the open credits by currency, and the worst and the best of all reports. */
export interface HistoryState {
  outcomes: Partial<Record<OutcomeType, number>>
  openCredits: Record<string, OpenCredits>
  /** The longest delay of a payment. */
  worstDaysPastDue: number
  /** When the latest default or charge-off happened, made good or not; absent if there was none. */
  lastDefaultAt?: string
  /** The largest credit that was repaid in full, in units by currency; absent if there is none. */
  largestRepaid?: Record<string, string>
}

/** What one decision adds to the history. */
interface Contribution {
  /** The outcome that counts now; undefined without one, with a neutral one, or with a default that was made good. */
  current: OutcomeType | undefined
  /** What is still owed, by currency. */
  open: ReadonlyMap<string, Money>
  /** The largest debt that was repaid in full, by currency. */
  repaid: ReadonlyMap<string, Money>
}

/**
 * Adds an outcome to the entity's own history, which counts decisions, not reports.
 *
 * `earlier` are all earlier reports about the same decision. What the decision contributed by them is subtracted, and
 * what it contributes with this outcome is added. So the history depends on the set of reports, not on their order,
 * and its size depends only on the number of currencies. `allOthers` are the entity's other reports, where `undoesRepayment`
 * asks for them.
 */
export function addOutcome(
  history: HistoryState,
  outcome: OutcomeFact,
  { earlier, allOthers }: { earlier: readonly OutcomeFact[]; allOthers?: readonly OutcomeFact[] },
): HistoryState {
  const after = [...earlier, outcome]
  const { outcomes, openCredits, worstDaysPastDue, lastDefaultAt, largestRepaid } = history
  return {
    ...withReports({ outcomes, openCredits }, { before: earlier, after }),
    // Further reports can only raise the longest delay and the time of the latest default, so there is nothing to subtract.
    worstDaysPastDue: Math.max(worstDaysPastDue, longestDelay(after)),
    ...ifAny({
      lastDefaultAt: isDefault(outcome.type) ? laterOf(lastDefaultAt, outcome.occurredAt) : lastDefaultAt,
      largestRepaid: allOthers
        ? largestOf([...allOthers, outcome])
        : largerOf(largestRepaid, contributionOf(after).repaid),
    }),
  }
}

/**
 * Whether an outcome takes back that the largest credit was repaid, as when a repayment bounces: the next largest one is only
 * known from all reports about the entity.
 */
export function undoesRepayment(
  { largestRepaid = {} }: HistoryState,
  outcome: OutcomeFact,
  earlier: readonly OutcomeFact[],
): boolean {
  const after = contributionOf([...earlier, outcome]).repaid
  return [...contributionOf(earlier).repaid].some(
    ([currency, units]) =>
      units > (after.get(currency) ?? 0n) && units >= BigInt(ownProperty(largestRepaid, currency) ?? 0),
  )
}

/**
 * Takes a report out of the entity's own history, as if it had never been made. `others` are all other reports about the
 * same decision. What is not a sum is computed again from `allOthers`, the entity's other reports.
 */
export function removeOutcome(
  { outcomes, openCredits }: HistoryState,
  outcome: OutcomeFact,
  { others, allOthers }: { others: readonly OutcomeFact[]; allOthers: readonly OutcomeFact[] },
): HistoryState {
  const defaults = allOthers.filter(({ type }) => isDefault(type)).map(({ occurredAt }) => occurredAt)
  return {
    ...withReports({ outcomes, openCredits }, { before: [...others, outcome], after: others }),
    worstDaysPastDue: longestDelay(allOthers),
    ...ifAny({ lastDefaultAt: defaults.sort().at(-1), largestRepaid: largestOf(allOthers) }),
  }
}

/**
 * The history without what is owed on one decision, after all reports about it: to make that decision again, its own credit
 * is not an earlier one. How the credit went still counts.
 */
export function withoutCreditOf(history: HistoryState, reports: readonly OutcomeFact[]): HistoryState {
  return { ...history, openCredits: withOpen(history.openCredits, contributionOf(reports).open, -1) }
}

/** The larger of two records of repaid credits, by currency. */
export function largerOf(
  known: HistoryState['largestRepaid'] = {},
  repaid: ReadonlyMap<string, Money>,
): HistoryState['largestRepaid'] {
  const larger = { ...known }
  for (const [currency, units] of repaid)
    if (units > BigInt(ownProperty(larger, currency) ?? 0)) larger[currency] = units.toString()
  return Object.keys(larger).length > 0 ? larger : undefined
}

function largestOf(reports: readonly OutcomeFact[]): HistoryState['largestRepaid'] {
  let largest: HistoryState['largestRepaid']
  for (const own of Map.groupBy(reports, ({ decisionId }) => decisionId).values())
    largest = largerOf(largest, contributionOf(own).repaid)
  return largest
}

/** Leaves out what there is none of. */
function ifAny({
  lastDefaultAt,
  largestRepaid,
}: {
  [Name in 'lastDefaultAt' | 'largestRepaid']: HistoryState[Name] | undefined
}): Pick<HistoryState, 'lastDefaultAt' | 'largestRepaid'> {
  return { ...(lastDefaultAt !== undefined && { lastDefaultAt }), ...(largestRepaid && { largestRepaid }) }
}

/** The sums of a history, from which reports can be subtracted. */
type Sums = Pick<HistoryState, 'outcomes' | 'openCredits'>

/** Subtracts what one decision contributed by the reports before, and adds what it contributes by those after. */
function withReports(
  { outcomes, openCredits }: Sums,
  reports: { before: readonly OutcomeFact[]; after: readonly OutcomeFact[] },
): Sums {
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
  const { open, repaid } = debtsOf(reports)
  return {
    current: current === undefined || isNeutral(current) || isCure(current, reports) ? undefined : current,
    open: sumByCurrency(open),
    repaid: largestByCurrency(repaid.map(sumByCurrency)),
  }
}

/** Whether a credit was repaid after a default: it is no default any more, but was not repaid as agreed either. */
function isCure(current: OutcomeType, reports: readonly OutcomeFact[]): boolean {
  return current === 'repaid' && reports.some(({ type }) => isDefault(type))
}

function largestByCurrency(debts: readonly ReadonlyMap<string, Money>[]): Map<string, Money> {
  const largest = new Map<string, Money>()
  for (const debt of debts) {
    for (const [currency, units] of debt) if (units > (largest.get(currency) ?? 0n)) largest.set(currency, units)
  }
  return largest
}

/** What was paid out in each currency; a draw that was reported twice counts once. */
export function sumByCurrency(
  draws: readonly Pick<OutcomeFact, 'occurredAt' | 'amount' | 'currency'>[],
): Map<string, Money> {
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
