import { type OpenOffer, openAt } from '../../core/facts/open-offers.ts'
import type { RequestedAmount } from '../../core/facts/read-fact.ts'

/** An approval that was not taken up, as pages show it. */
export interface DescribedOffer {
  decision_id: string
  offered: RequestedAmount
  expires_at: string
}

/** The approvals that were not taken up, the next one to expire first. */
export function describeOffers(offers: readonly OpenOffer[], now: string): DescribedOffer[] {
  return openAt(offers, now)
    .sort((one, other) => (one.expiresAt < other.expiresAt ? -1 : 1))
    .map(({ decisionId, amount, currency, expiresAt }) => ({
      decision_id: decisionId,
      offered: { amount, currency },
      expires_at: expiresAt,
    }))
}
