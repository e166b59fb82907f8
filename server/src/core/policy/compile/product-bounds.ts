import type { CurrencyTerms } from './compiled-policy.ts'

/** The smallest amount that is lent in a currency: the minimum of the product, rounded up to the step; else the step. */
export function smallestLent(minimum: number, { perReference, step }: CurrencyTerms): number {
  return Math.max(1, Math.ceil(convert(minimum, perReference) / step)) * step
}

/** The maximum of a product in a currency. */
export function largestLent(maximum: number, { perReference }: CurrencyTerms): number {
  return convert(maximum, perReference)
}

/** Rounds to cents: 700 × 1.1 is 770.0000000000001 in binary, which rounded up to a step of 10 would be 780. */
function convert(amount: number, perReference: number): number {
  return Math.round(amount * perReference * 100) / 100
}
