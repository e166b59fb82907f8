/** The largest ratio, and with a minus the smallest; beyond it a larger ratio carries no more information. */
export const RATIO_MAX = 1000

/** `over ÷ under`, rounded down to six decimals; `RATIO_MAX` if `under` is not positive, because nothing covers `over`. */
export function ratioOf(over: number, under: number): number {
  return under <= 0 ? RATIO_MAX : sixDecimals(over / under)
}

/** A ratio within its bounds, rounded down to six decimals. */
export function sixDecimals(ratio: number): number {
  return Math.floor(Math.max(-RATIO_MAX, Math.min(RATIO_MAX, ratio)) * 1e6) / 1e6
}
