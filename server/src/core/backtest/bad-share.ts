import type { BadShare } from './backtest-result.ts'

/** Counts of cases with a known outcome. */
export interface Ends {
  known: number
  bad: number
}

/** The 97.5 % quantile of the normal distribution. */
const Z = 1.96

/** The share of bad ends with its Wilson interval, which holds for few cases and for shares near 0 and 1 as well. */
export function badShare({ known, bad }: Ends): BadShare {
  if (known === 0) return { known, bad, share: null, low: null, high: null }
  const share = bad / known
  const spread = 1 + (Z * Z) / known
  const middle = (share + (Z * Z) / (2 * known)) / spread
  const half = (Z * Math.sqrt((share * (1 - share)) / known + (Z * Z) / (4 * known * known))) / spread
  return { known, bad, share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}
