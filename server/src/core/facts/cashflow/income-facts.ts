import { MONTH_DAYS } from '../fact-windows.ts'
import type { CurrencyCashflow } from './cashflow-state.ts'
import type { DayFigures } from './day-figures.ts'
import { type IncomeStream, paidPerCadence, silentDaysMax } from './income-streams.ts'
import type { ObservedSpan } from './observed-span.ts'

/** Monthly income in units of the state. */
export interface IncomeFigures {
  /** What streams that still pay are paying. */
  recurring: number
  /** Income that belongs to no stream, averaged over the observed days. */
  other: number
  /** What streams paid that have stopped. */
  stopped: number
  /** The day of the last payment of the largest stream, running or stopped. */
  lastPaid: number | undefined
}

/**
 * Splits income into what recurs, what has stopped and the rest. A stream counts with what it pays now, so that a raise or
 * a new employer is no loss; one that stopped counts for nothing. `income` is all that came in within the span.
 */
export function incomeFigures(
  { streams }: Pick<CurrencyCashflow, 'streams'>,
  { income, span }: { income: number; span: ObservedSpan },
): IncomeFigures {
  const running: IncomeStream[] = []
  const stopped: IncomeStream[] = []
  for (const stream of streams) {
    const last = lastDay(stream)
    if (last < span.first - stream.everyDays) continue
    // A feed that ended says nothing about payments after its end, so silence is counted up to there.
    if (span.last - last <= silentDaysMax(stream)) running.push(stream)
    else if (stream.isSteady) stopped.push(stream)
  }
  let other = income
  for (const { payments } of [...running, ...stopped]) {
    for (const [day, amount] of payments) if (day >= span.first && day <= span.last) other -= amount
  }
  const recurring = running.reduce((sum, stream) => sum + monthlyOf(stream), 0)
  const largest = [...running, ...stopped].sort((a, b) => monthlyOf(b) - monthlyOf(a))[0]
  return {
    recurring,
    other: (Math.max(0, other) * MONTH_DAYS) / lengthOf(span),
    stopped: stoppedAtOnce(stopped),
    lastPaid: largest && lastDay(largest),
  }
}

/** The most that stopped streams paid at the same time: one employer after another is not several incomes lost. */
function stoppedAtOnce(stopped: readonly IncomeStream[]): number {
  const sums = stopped.map((stream) => {
    const end = lastDay(stream)
    const atOnce = stopped.filter((other) => other.payments[0]![0] <= end && lastDay(other) >= end)
    return atOnce.reduce((sum, other) => sum + monthlyOf(other), 0)
  })
  return Math.max(0, ...sums)
}

function monthlyOf(stream: IncomeStream): number {
  return (paidPerCadence(stream) * MONTH_DAYS) / stream.everyDays
}

function lastDay({ payments }: IncomeStream): number {
  return payments.at(-1)![0]
}

/** The number of days of a span. */
export function lengthOf({ first, last }: ObservedSpan): number {
  return last - first + 1
}

// Five weeks always hold a monthly salary, however months and weekends fall.
const LEAN_DAYS = 35

/** The income of the leanest five weeks of a span, from its days, in units of the state; undefined if the span is shorter. */
export function leanestIncome(days: readonly DayFigures[], { first, last }: ObservedSpan): number | undefined {
  if (last - first + 1 < LEAN_DAYS) return undefined
  // The leanest stretch starts with the span or right after a payment; a window slides over the days.
  let leanest = Number.POSITIVE_INFINITY
  let [sum, next] = [0, 0]
  for (let start = -1; start < days.length; start++) {
    const from = start < 0 ? first : days[start]!.day + 1
    if (from + LEAN_DAYS - 1 > last) break
    if (start >= 0) sum -= days[start]!.income
    while (next < days.length && days[next]!.day < from + LEAN_DAYS) sum += days[next++]!.income
    leanest = Math.min(leanest, sum)
  }
  return leanest
}
