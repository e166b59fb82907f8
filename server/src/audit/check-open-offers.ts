import {
  type DatedReview,
  EXPIRE_DAYS_MAX,
  expireDaysIn,
  type OpenOffer,
  offerOf,
  openAt,
} from '../core/facts/open-offers.ts'
import { outcomeFact, type RecordedOutcome } from '../core/facts/recorded-outcome.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { StandingOffer } from '../store/environment/open-offers.ts'
import { storedOffers } from '../store/environment/stored-offers.ts'

const DAY_MS = 86_400_000

/** How far the clocks of nodes may be apart: an offer that one has removed as expired is not missed before. */
const SKEW_MS = 5 * 60_000

/**
 * Compares the open offers that rows list with what decisions, reviews, outcomes and the log say, each of which is compared itself.
 * Describes every entity where they differ. Offers that have expired count nowhere, so they are not compared.
 */
export async function findAlteredOffers(
  { store, organizationId, nowMs }: { store: EnvironmentStore; organizationId: string; nowMs: number },
  report: (problem: string) => void,
): Promise<void> {
  const expireDays = new Map<string, number | undefined>()
  const daysOf = async (version: string) => {
    if (!expireDays.has(version))
      expireDays.set(version, expireDaysIn((await store.policies.byVersion(organizationId, version))?.document))
    return expireDays.get(version)
  }
  const [now, later] = [nowMs, nowMs + SKEW_MS].map((ms) => new Date(ms).toISOString()) as [string, string]
  const since = new Date(nowMs - EXPIRE_DAYS_MAX * DAY_MS - SKEW_MS).toISOString()
  for await (const page of store.openOffers.onRecord(organizationId, since)) {
    for (const { entity_id, offers, standing } of page) {
      const made = await Promise.all(standing.map(async (one) => offerIn(one, await daysOf(one.policy_version)) ?? []))
      const problem = compare(offers, made.flat(), { now, later })
      if (problem) report(`The open offers of the entity ${entity_id} were changed: ${problem}.`)
    }
  }
}

function offerIn(
  { review_body, draws, ...decision }: StandingOffer,
  expireDays: number | undefined,
): OpenOffer | undefined {
  const review = review_body === null ? undefined : (JSON.parse(review_body) as DatedReview)
  const outcomes = draws === null ? [] : (JSON.parse(draws) as RecordedOutcome[]).map(outcomeFact)
  return offerOf(decision, review, { expireDays, outcomes })
}

function compare(
  row: string | null,
  made: readonly OpenOffer[],
  { now, later }: { now: string; later: string },
): string | undefined {
  const listed = row === null ? [] : storedOffers(row)
  if (!listed) return 'its row cannot be read'
  const [recorded, stored] = [new Set(made.map(textOf)), new Set(listed.map(textOf))]
  const forged = openAt(listed, now).find((offer) => !recorded.has(textOf(offer)))
  if (forged) return `its row lists ${textOf(forged)}, which is not on record`
  if (stored.size < listed.length) return 'its row lists an offer twice'
  const lacking = openAt(made, later).find((offer) => !stored.has(textOf(offer)))
  return lacking && `its row lacks ${textOf(lacking)}`
}

/** An offer as it is compared, and as a report names it. */
function textOf({ decisionId, amount, currency, expiresAt, reference }: OpenOffer): string {
  return `${decisionId} of ${amount} ${currency} until ${expiresAt}${reference === undefined ? '' : ` (${reference})`}`
}
