import { type Money, moneyNumber } from '../money.ts'

/** The largest ratio, and with a minus the smallest; beyond it a larger ratio carries no more information. */
export const RATIO_MAX = 1000

const SCALE = 1_000_000n

/** `a ÷ b`, truncated to six decimals; `RATIO_MAX` if `b` is not positive, because then nothing covers `a`. */
export function ratioOf(a: bigint, b: bigint): number {
  if (b <= 0n) return RATIO_MAX
  return Math.max(-RATIO_MAX, Math.min(RATIO_MAX, Number((a * SCALE) / b) / 1e6))
}

/**
 * Standard deviation ÷ mean of `count` values, from their sum and sum of squares.
 *
 * Computed in integers, because engines may differ in the last digit of a floating-point square root.
 */
export function variationOf({ count, sum, squares }: { count: number; sum: bigint; squares: bigint }): number {
  const spread = BigInt(count) * squares - sum * sum
  return ratioOf(squareRoot(spread * SCALE * SCALE), sum * SCALE)
}

/** The mean of `count` amounts that add up to `sum`, in major units. */
export function meanMoney(sum: Money, count: number): number {
  return moneyNumber(sum / BigInt(count))
}

/** The smallest of one or more amounts. */
export function lowestMoney(amounts: readonly Money[]): Money {
  return amounts.reduce((lowest, amount) => (amount < lowest ? amount : lowest), amounts[0] ?? 0n)
}

/** The middle amount, or the mean of the two in the middle. */
export function medianMoney(amounts: readonly Money[]): Money {
  const sorted = [...amounts].sort(ascending)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0n
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0n) + upper) / 2n
}

function ascending(a: Money, b: Money): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The integer square root by Newton's method, rounded down. */
function squareRoot(square: bigint): bigint {
  if (square < 2n) return square
  let root = startAbove(square)
  for (;;) {
    const next = (root + square / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

/** A start slightly above the root, from which Newton's method descends: from a double, or else from a power of two. */
function startAbove(square: bigint): bigint {
  const estimate = Math.sqrt(Number(square)) * (1 + 2 ** -50)
  return Number.isFinite(estimate)
    ? BigInt(Math.ceil(estimate)) + 1n
    : 1n << BigInt((square.toString(2).length + 1) >> 1)
}
