import type { FactValue } from '../facts/facts.ts'
import { AMOUNT_MAX } from '../money.ts'
import type {
  CompiledBound,
  CompiledPolicy,
  CompiledRule,
  CompiledTier,
  ProductTerms,
} from '../policy/compile/compiled-policy.ts'
import { JUDGED_NAMES, type JudgedVariable } from '../policy/compile/judged-variables.ts'
import { largestLent, smallestLent } from '../policy/compile/product-bounds.ts'
import type { LimitTerm } from './evaluation.ts'
import type { Figures } from './read-figures.ts'
import type { SlotReading } from './read-slots.ts'
import { nameOfSlot } from './run-rules.ts'

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
}

/** The values that limit terms and rules after the score read, by slot. */
export type JudgedSlots = (FactValue | undefined)[]

const MILLION = 1_000_000

/** The terms of the product for a tier, whose price may differ. */
export function pricedTerms({ terms }: Figures, { tier }: CompiledTier): ProductTerms {
  return terms.byTier?.get(tier) ?? terms
}

/** Appends the variables of a judged amount to the inputs. */
export function judgedSlots(policy: CompiledPolicy, judged: JudgedAmount): JudgedSlots {
  const { figures, reading, tier, total, badPpm } = judged
  const product = pricedTerms(figures, tier)
  const rates = figures.currency === undefined ? undefined : policy.currencies.get(figures.currency)
  const variables: Record<JudgedVariable, FactValue | undefined> = {
    'tier.cap': tier.cap,
    'tier.balance_multiple': tier.balanceMultiple,
    'score.bad_probability': badPpm === null ? undefined : badPpm / MILLION,
    'product.annuity_factor': product.annuityFactor,
    'product.term_months': product.term_months,
    'currency.per_reference': rates?.perReference,
    'tier.name': tier.tier,
    'score.total': total,
    'score.probability': badPpm === null ? undefined : (MILLION - badPpm) / MILLION,
    'product.annual_rate': product.annual_rate,
    'segment.name': policy.segment ?? '',
    // Filled in once the limit is known.
    'limit.amount': undefined,
  }
  const slots = reading.values.slice()
  JUDGED_NAMES.forEach((name, place) => {
    slots[policy.slots.firstVariable + place] = variables[name]
  })
  return slots
}

/**
 * Evaluates every term of the limit, and the bounds of the rules that hold and cap it. A term whose facts are missing does
 * not count as zero: it makes the limit unknown.
 */
export function limitBounds(
  policy: CompiledPolicy,
  { figures, tier, badPpm }: JudgedAmount,
  { slots, held }: { slots: JudgedSlots; held: readonly CompiledRule[] },
): LimitBounds | null {
  const { amount, currency } = figures
  if (amount === undefined || currency === undefined) return null
  const product = pricedTerms(figures, tier)
  const rates = policy.currencies.get(currency)
  const step = rates?.step ?? null
  const missing: string[] = rates === undefined ? ['request.currency'] : []
  const smallest = rates === undefined ? 0 : smallestLent(product.minimum, rates)
  const bounds: LimitBounds = { currency, step, smallest, terms: [], missing, lowest: undefined }
  for (const { term, evaluate, reads, isInstalment } of policy.limitTerms) {
    const value = boundOf({ evaluate, reads }, { policy, slots, missing })
    if (value === undefined) continue
    addTerm(bounds, { amount: inCents(isInstalment ? amountOf(value, product, figures) : value), term })
  }
  if (badPpm === null) missing.push(policy.document.scorecard.external_probability ?? '')
  if (rates !== undefined && product.maximum !== undefined)
    addTerm(bounds, { amount: Math.min(AMOUNT_MAX, largestLent(product.maximum, rates)), term: 'maximum' })
  addCaps(bounds, held, { policy, slots })
  return bounds
}

/** Adds the bounds of the rules that hold and cap the limit. */
export function addCaps(
  bounds: LimitBounds,
  held: readonly CompiledRule[],
  { policy, slots }: { policy: CompiledPolicy; slots: JudgedSlots },
): void {
  for (const { id, cap } of held) {
    if (cap === undefined) continue
    const value = boundOf(cap, { policy, slots, missing: bounds.missing })
    if (value !== undefined) addTerm(bounds, { amount: inCents(value), term: id })
  }
}

/** The value of a bound; undefined, with the features that it lacks in `missing`, if it has none. */
function boundOf(
  { evaluate, reads }: CompiledBound,
  { policy, slots, missing }: { policy: CompiledPolicy; slots: JudgedSlots; missing: string[] },
): number | undefined {
  const value = evaluate(slots)
  if (typeof value === 'number' && !Number.isNaN(value)) return value
  // Without a missing value the bound is 0 ÷ 0, which says as little as a missing value does.
  const lacking = reads.some((slot) => slots[slot] === undefined)
  for (const slot of reads) {
    if (lacking && slots[slot] !== undefined) continue
    const feature = nameOfSlot(policy, slot)
    if (!NAMED_OTHERWISE.test(feature) && !missing.includes(feature)) missing.push(feature)
  }
  return undefined
}

/** `request.currency` and the external probability stand for these. */
const NAMED_OTHERWISE = /^(currency|score)\./

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
