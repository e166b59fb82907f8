import type { Money } from '../money.ts'

/**
 * An exact amount inside an entity's state, in ten-thousandths of a major unit: a JSON number as long as a double holds
 * it exactly, otherwise text. Numbers take half the space of text and need no conversion when facts are derived.
 */
export type Units = number | string

/** Packs an exact amount for the state. */
export function unitsOf(money: Money): Units {
  const units = Number(money)
  return Number.isSafeInteger(units) ? units : String(money)
}

/** The sum of an amount of the state, which may be absent, and another. */
export function addUnits(units: Units | undefined, money: Money): Units {
  return unitsOf(BigInt(units ?? 0) + money)
}

/** The exact sum of amounts. */
export function sumUnits(amounts: readonly Units[]): Units {
  return amounts.length === 0 ? 0 : unitsOf(amounts.reduce((sum: bigint, units) => sum + BigInt(units), 0n))
}

/** Compares two amounts exactly, for sorting in ascending order. */
export function compareUnits(a: Units, b: Units): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [one, other] = [BigInt(a), BigInt(b)]
  return one < other ? -1 : one > other ? 1 : 0
}

/** The largest ratio, and with a minus the smallest; beyond it a larger ratio carries no more information. */
export const RATIO_MAX = 1000

/** `over ÷ under`, rounded down to six decimals; `RATIO_MAX` if `under` is not positive, because nothing covers `over`. */
export function ratioOf(over: number, under: number): number {
  return under <= 0 ? RATIO_MAX : sixDecimals(over / under)
}

/** A share of a count, rounded down to six decimals: one of millions is little, but not none. */
export function shareAtLeast(part: number, all: number): number {
  return part === 0 ? 0 : Math.max(LEAST_SHARE, ratioOf(part, all))
}

const LEAST_SHARE = 1e-6

/** A ratio within its bounds, rounded down to six decimals. */
export function sixDecimals(ratio: number): number {
  return Math.floor(Math.max(-RATIO_MAX, Math.min(RATIO_MAX, ratio)) * 1e6) / 1e6
}
