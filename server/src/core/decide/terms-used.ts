import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { Offer } from './counter-offer.ts'
import type { CreditTerms, NoTerms, TermsUsed } from './evaluation.ts'
import { pricedTerms } from './limit-bounds.ts'
import { inCents, instalmentOf } from './measure-request.ts'

/** The terms of what is approved, or else of what was requested; access without credit has none. */
export function termsUsed({ policy, offer }: { policy: CompiledPolicy; offer: Offer }): TermsUsed {
  const { segment } = policy
  const { figures, tier } = offer.offered
  const { amount, product: requested_product = null } = figures
  const terms = pricedTerms(figures, tier)
  const { product } = terms
  if (amount === undefined) return { segment, product, requested_product, tier: tier.tier, ...NO_TERMS }
  return {
    segment,
    product,
    requested_product,
    tier: tier.tier,
    term_months: terms.term_months,
    annual_rate: terms.annual_rate,
    fee_rate: terms.feeRate,
    fee_amount: figures.fee,
    instalment: inCents(instalmentOf(amount, { fee: figures.fee, terms })),
  }
}

/** The terms of access without credit. */
export const NO_TERMS: NoTerms<CreditTerms> = {
  term_months: null,
  annual_rate: null,
  fee_rate: null,
  fee_amount: null,
  instalment: null,
}
