import type { DayBucket } from './day-bucket.ts'

/** What came in and went out on a day. */
export type FlowDay = Pick<DayBucket, 'day' | 'credits' | 'debits' | 'otherCredits'>

/** A single credit or debit, with its place in the list of its day. */
interface Movement {
  day: number
  amount: number
  index: number
}

/** Credits and debits by `placeOf`: money that came in and went out again. */
export interface CircularFlows {
  credits: ReadonlySet<number>
  debits: ReadonlySet<number>
}

// Money that only passes through leaves within days. Honest accounts rarely have equal totals so close together.
const DAYS_APART_MAX = 4

// A credit below a fiftieth of all income is too small to matter, and small amounts match by chance.
const SHARE_MIN = 0.02

// Parts: at most three, each at least a tenth of the whole. More and smaller parts match by chance.
const PARTS_MAX = 3
const PART_SHARE_MIN = 0.1
const CANDIDATES_MAX = 24

/**
 * Finds credits that are matched by debits of exactly the same total within a few days, whole or in parts, whichever the
 * counterparties are; and debits that are matched by several credits. The largest are matched first.
 */
export function circularFlows(days: readonly FlowDay[]): CircularFlows {
  const credits: Movement[] = []
  const debits: Movement[] = []
  let inflow = 0
  for (const bucket of days) {
    const { day } = bucket
    for (const [index, [units]] of bucket.credits.entries()) credits.push({ day, index, amount: Number(units) })
    for (const [index, units] of bucket.debits.entries()) debits.push({ day, index, amount: Number(units) })
    inflow += Number(bucket.otherCredits)
  }
  const amountMin = credits.reduce((sum, { amount }) => sum + amount, inflow) * SHARE_MIN
  const found = { credits: new Set<number>(), debits: new Set<number>() }
  match({ movements: credits, found: found.credits }, { movements: debits, found: found.debits }, amountMin)
  match({ movements: debits, found: found.debits }, { movements: credits, found: found.credits }, amountMin)
  return found
}

interface Side {
  movements: readonly Movement[]
  found: Set<number>
}

/** Matches each large movement of one side with one to three of the other. */
function match(wholes: Side, parts: Side, amountMin: number): void {
  const byDay = Map.groupBy(parts.movements, ({ day }) => day)
  const large = wholes.movements.filter(({ amount }) => amount >= amountMin).sort(largestFirst)
  for (const whole of large) {
    if (wholes.found.has(placeOf(whole))) continue
    const near = nearby(byDay, whole).filter((part) => !parts.found.has(placeOf(part)))
    const matched = partsOf(whole.amount, near, PARTS_MAX)
    if (matched === undefined) continue
    wholes.found.add(placeOf(whole))
    for (const part of matched) parts.found.add(placeOf(part))
  }
}

function nearby(byDay: ReadonlyMap<number, Movement[]>, { day, amount }: Movement): Movement[] {
  const near: Movement[] = []
  for (let other = day - DAYS_APART_MAX; other <= day + DAYS_APART_MAX; other++) near.push(...(byDay.get(other) ?? []))
  const fitting = near.filter((part) => part.amount <= amount && part.amount >= amount * PART_SHARE_MIN)
  return fitting.sort(largestFirst).slice(0, CANDIDATES_MAX)
}

/** Up to `count` of the movements, which are sorted largest first, that add up to the total exactly. */
function partsOf(total: number, movements: readonly Movement[], count: number): Movement[] | undefined {
  for (const [index, part] of movements.entries()) {
    if (part.amount > total) continue
    if (part.amount === total) return [part]
    if (part.amount * count < total) return undefined
    const rest = partsOf(total - part.amount, movements.slice(index + 1), count - 1)
    if (rest !== undefined) return [part, ...rest]
  }
  return undefined
}

/** Equal amounts stay in the order of their days: the sort is stable, and movements come oldest first. */
function largestFirst(a: Movement, b: Movement): number {
  return b.amount - a.amount
}

// The longest list has the five largest debits of 64 accounts of each of ten merged entities.
const PLACES_PER_DAY = 4_096

/** A number for the day of a movement and its place in that day's list. */
export function placeOf({ day, index }: { day: number; index: number }): number {
  return day * PLACES_PER_DAY + index
}
