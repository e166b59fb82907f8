import { type CircularFlows, placeOf } from './circular-flows.ts'
import { type DayBucket, REFUND } from './day-bucket.ts'

/** Income that recurs: its cadence in days, and what was paid on which day, oldest first. */
export interface IncomeStream {
  everyDays: number
  /** Whether its silence means that it stopped: it paid several times, and the payer hardly paid otherwise. */
  isSteady: boolean
  payments: Payment[]
}

/** A cadence with the days by which a payment may be early or late, and how many payments show it. */
interface Cadence {
  everyDays: number
  slackDays: number
  paymentsMin: number
}

// A payment moves with weekends and holidays. A monthly salary is recognised from its second payment, so that a new
// employer counts within a month; a shorter cadence needs more payments, which chance could bring about.
const CADENCES: readonly Cadence[] = [
  { everyDays: 7, slackDays: 2, paymentsMin: 6 },
  { everyDays: 14, slackDays: 3, paymentsMin: 5 },
  { everyDays: 30.4375, slackDays: 5, paymentsMin: 2 },
  { everyDays: 91.3125, slackDays: 10, paymentsMin: 3 },
]

// A raise at most doubles a payment; a larger difference is another kind of payment, such as a bonus.
const AMOUNT_RATIO_MAX = 2

// So many payments per cadence come from a crowd, such as the guests of a season, and not from one payer.
const CROWDED = 1.6

const STEADY_PAYMENTS = 3
const STEADY_SHARE = 0.75

// Bounds the state; an applicant with more regular payers has no single one to lose.
const STREAMS_MAX = 12

type Payment = [day: number, amount: number]

/** What came in on a day. */
export type CreditDay = Pick<DayBucket, 'day' | 'credits'>

/**
 * Finds the payers, or purposes, whose credits come at a regular cadence; money that goes around is left out. A stream has
 * only the payments that keep the cadence, so that a payment in between takes nothing away from it.
 */
export function incomeStreams(days: readonly CreditDay[], circular: Pick<CircularFlows, 'credits'>): IncomeStream[] {
  const streams: IncomeStream[] = []
  for (const payments of paymentsByKey(days, circular).values()) {
    const stream = streamOf(payments)
    if (stream !== undefined) streams.push(stream)
  }
  return streams
    .sort((a, b) => totalOf(b.payments) - totalOf(a.payments) || firstDay(a) - firstDay(b))
    .slice(0, STREAMS_MAX)
}

function paymentsByKey(
  days: readonly CreditDay[],
  { credits: circular }: Pick<CircularFlows, 'credits'>,
): Map<number, Payment[]> {
  const byKey = new Map<number, Payment[]>()
  for (const { day, credits } of days) {
    for (const [index, [units, key]] of credits.entries()) {
      if (key === REFUND || circular.has(placeOf({ day, index }))) continue
      const payments = byKey.get(key) ?? []
      payments.push([day, Number(units)])
      byKey.set(key, payments)
    }
  }
  return byKey
}

/** The payments at the shortest cadence that enough of them keep. */
function streamOf(payments: readonly Payment[]): IncomeStream | undefined {
  for (const cadence of CADENCES) {
    if (payments.length > CROWDED * periodsOf(payments, cadence.everyDays)) continue
    const regular = payments.filter((payment) => payments.some((other) => isRepeated(payment, other, cadence)))
    if (regular.length < cadence.paymentsMin) continue
    const isSteady = regular.length >= STEADY_PAYMENTS && regular.length >= payments.length * STEADY_SHARE
    return { everyDays: cadence.everyDays, isSteady, payments: regular }
  }
  return undefined
}

/** Whether one payment follows the other by the cadence, or comes before it, with a similar amount. */
function isRepeated(
  [day, amount]: Payment,
  [otherDay, otherAmount]: Payment,
  { everyDays, slackDays }: Cadence,
): boolean {
  const isDue = Math.abs(Math.abs(day - otherDay) - everyDays) <= slackDays
  return isDue && amount <= otherAmount * AMOUNT_RATIO_MAX && otherAmount <= amount * AMOUNT_RATIO_MAX
}

/** What a stream pays per cadence now: the mean of its last payments, or of twice as many if that is less. */
export function paidPerCadence({ everyDays, payments }: IncomeStream): number {
  const count = Math.max(2, Math.round(RECENT_DAYS / everyDays))
  const last = payments.at(-1)![0]
  const periods = periodsOf(payments, everyDays)
  const meanOver = (cadences: number) => {
    const from = last - (cadences - 0.5) * everyDays
    const sum = payments.reduce((total, [day, amount]) => (day > from ? total + amount : total), 0)
    return sum / cadences
  }
  return Math.min(meanOver(Math.min(count, periods)), meanOver(Math.min(2 * count, periods)))
}

// A quarter: long enough to even out single payments, short enough that a raise shows.
const RECENT_DAYS = 91

/** Days without a payment after which a stream has stopped: before a second payment is missed. */
export function silentDaysMax({ everyDays }: IncomeStream): number {
  return everyDays * 1.5 + 5
}

/** How many payments a cadence has from the first to the last one. */
function periodsOf(payments: readonly Payment[], everyDays: number): number {
  return Math.round((payments.at(-1)![0] - payments[0]![0]) / everyDays) + 1
}

function totalOf(payments: readonly Payment[]): number {
  return payments.map(([, amount]) => amount).reduce((sum, amount) => sum + amount)
}

function firstDay({ payments }: IncomeStream): number {
  return payments[0]![0]
}
