import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { Offer } from './counter-offer.ts'
import type { TermsUsed } from './evaluation.ts'
import { pricedTerms } from './limit-bounds.ts'
import { instalmentOf } from './measure-request.ts'

/** The terms of what is approved, or else of what was requested. */
export function termsUsed({ policy, offer }: { policy: CompiledPolicy; offer: Offer }): TermsUsed {
  const { figures, tier } = offer.offered
  const terms = pricedTerms(figures, tier)
  const { amount } = figures
  return {
    segment: policy.segment,
    product: terms.product,
    requested_product: figures.product ?? null,
    tier: tier.tier,
    term_months: terms.term_months,
    annual_rate: terms.annual_rate,
    fee_rate: terms.feeRate,
    fee_amount: figures.fee,
    instalment: amount === undefined ? null : inCents(instalmentOf(amount, { fee: figures.fee, terms })),
  }
}

function inCents(amount: number): number {
  return Math.round(amount * 100) / 100
}
