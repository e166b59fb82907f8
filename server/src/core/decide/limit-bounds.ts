import { AMOUNT_MAX } from '../money.ts'
import type {
  CompiledBound,
  CompiledPolicy,
  CompiledRule,
  CompiledTier,
  ProductTerms,
} from '../policy/compile/compiled-policy.ts'
import { largestLent, smallestLent } from '../policy/compile/product-bounds.ts'
import type { Slots } from '../policy/expression/compile-expression.ts'
import type { LimitTerm } from './evaluation.ts'
import type { Figures } from './read-figures.ts'
import type { SlotReading } from './read-slots.ts'

/** The terms of the limit at one amount; `missing` are the features without which a term has no value. */
export interface LimitBounds {
  currency: string
  /** Null if the policy has no exchange rate for the currency. */
  step: number | null
  /** The smallest amount that is lent: the step, or the minimum of the product rounded up to it. */
  smallest: number
  terms: LimitTerm[]
  missing: string[]
  /** The lowest term that is known. */
  lowest: LimitTerm | undefined
}

/** What is known once an amount was judged by its score: the values that limit terms and rules after the score read. */
export interface JudgedAmount {
  figures: Figures
  reading: SlotReading
  tier: CompiledTier
  total: number
  /** Null if the policy has no probability for this score. */
  badPpm: number | null
  /** The requested amount, if this is another one. */
  asked: { figures: Figures; tier: CompiledTier; bounds: LimitBounds | null } | undefined
}

const MILLION = 1_000_000

/** The terms of the product for a tier and an amount, whose price may differ. */
export function pricedTerms({ terms, amount = 0, perReference }: Figures, { tier }: CompiledTier): ProductTerms {
  const prices = terms.byTier?.get(tier)
  return prices?.findLast(({ from }) => from * perReference <= amount)?.terms ?? terms
}

/** Fills in the variables of a judged amount, which limit terms and rules after the score read besides the inputs. */
export function fillVariables({ slots, currencies, segment }: CompiledPolicy, judged: JudgedAmount): void {
  const { figures, reading, tier, total, badPpm } = judged
  const { values } = reading
  const { variables } = slots
  const product = pricedTerms(figures, tier)
  const rates = figures.currency === undefined ? undefined : currencies.get(figures.currency)
  values[variables['tier.cap']] = tier.cap
  values[variables['tier.balance_multiple']] = tier.balanceMultiple
  values[variables['score.bad_probability']] = badPpm === null ? undefined : badPpm / MILLION
  values[variables['product.annuity_factor']] = product.annuityFactor
  values[variables['product.term_months']] = product.term_months
  values[variables['currency.per_reference']] = rates?.perReference
  values[variables['tier.name']] = tier.tier
  values[variables['score.total']] = total
  values[variables['score.probability']] = badPpm === null ? undefined : (MILLION - badPpm) / MILLION
  values[variables['product.annual_rate']] = product.annual_rate
  values[variables['segment.name']] = segment ?? ''
  // Filled in once the limit is known.
  values[variables['limit.amount']] = undefined
}

/**
 * Evaluates every term of the limit, and the bounds of the rules that hold and cap it. A term whose facts are missing does
 * not count as zero: it makes the limit unknown.
 */
export function limitBounds(
  policy: CompiledPolicy,
  { figures, reading, tier, badPpm, asked }: JudgedAmount,
  held: readonly CompiledRule[],
): LimitBounds | null {
  const { amount, currency } = figures
  if (amount === undefined || currency === undefined) return null
  const slots = reading.values
  const product = pricedTerms(figures, tier)
  const rates = policy.currencies.get(currency)
  const step = rates?.step ?? null
  const missing: string[] = rates === undefined ? ['request.currency'] : []
  const smallest = rates === undefined ? 0 : smallestLent(product.minimum, rates)
  const bounds: LimitBounds = { currency, step, smallest, terms: [], missing, lowest: undefined }
  const isLikeAsked = asked?.bounds?.missing.length === 0 && pricedTerms(asked.figures, asked.tier) === product
  for (let index = 0; index < policy.limitTerms.length; index++) {
    const bound = policy.limitTerms[index]!
    const before = asked?.bounds?.terms[index]
    // A term that is 0 ÷ 0 is left out, so that another may be in its place.
    if (isLikeAsked && !bound.followsAmount && before?.term === bound.term) {
      addTerm(bounds, before)
      continue
    }
    const value = boundOf(bound, slots, missing)
    if (value === undefined) continue
    const amount = inCents(bound.isInstalment ? amountOf(value, product, figures) : value)
    addTerm(bounds, { amount, term: bound.term })
  }
  if (badPpm === null && policy.isScored) missing.push(policy.document.scorecard.external_probability ?? '')
  if (rates !== undefined && product.maximum !== undefined)
    addTerm(bounds, { amount: Math.min(AMOUNT_MAX, largestLent(product.maximum, rates)), term: 'maximum' })
  addCaps(bounds, held, slots)
  return bounds
}

/** Adds the bounds of the rules that hold and cap the limit. */
export function addCaps(bounds: LimitBounds, held: readonly CompiledRule[], slots: Slots): void {
  for (const { id, cap } of held) {
    if (cap === undefined) continue
    const value = boundOf(cap, slots, bounds.missing)
    if (value !== undefined) addTerm(bounds, { amount: inCents(value), term: id })
  }
}

/** The value of a bound; undefined, with the features that it lacks in `missing`, if it has none. */
function boundOf({ evaluate, reads, namedReads }: CompiledBound, slots: Slots, missing: string[]): number | undefined {
  const value = evaluate(slots)
  if (typeof value === 'number' && !Number.isNaN(value)) return value
  // Without a missing value the bound is 0 ÷ 0, which says as little as a missing value does.
  const lacking = reads.some((slot) => slots[slot] === undefined)
  for (const { slot, feature } of namedReads)
    if (!(lacking && slots[slot] !== undefined) && !missing.includes(feature)) missing.push(feature)
  return undefined
}

function addTerm(bounds: LimitBounds, term: LimitTerm): void {
  bounds.terms.push(term)
  if (bounds.lowest === undefined || term.amount < bounds.lowest.amount) bounds.lowest = term
}

/** The amount that a monthly instalment repays, after the fees. */
function amountOf(instalment: number, product: ProductTerms, { fee }: Figures): number {
  return (instalment * product.annuityFactor - fee) / (1 + product.feeRate)
}

/** Rounds down to cents, from zero to the largest amount of a request; a policy may write "no bound" as a huge number. */
function inCents(amount: number): number {
  return Math.floor(Math.max(0, Math.min(AMOUNT_MAX, amount)) * 100) / 100
}
