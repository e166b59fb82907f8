import { isObject } from '../../core/stored-json.ts'
import { VERDICTS, type Verdict } from '../../core/vocabularies.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import type { NewestReview, ReviewKey } from '../../store/environment/reviews.ts'
import { parseBodies } from '../../underwriting/describe-evidence.ts'

/** What a person granted, on which conditions, and who it was. The decision itself never changes. */
export interface GrantedReview {
  verdict: Verdict | null
  /** The limit that the person granted; null if the review names none. */
  limit: { amount: number; currency: string } | null
  conditions: { code: string; label: string }[]
  reviewer: string
  /** The API key that the review came through; null for a review on the console. */
  through_key: ReviewKey | null
  at: string
}

/** A person's review of a decision, as the view lists it. */
export interface ShownReview extends GrantedReview {
  id: string
  reason: string
  overrides: boolean
}

type Body = Record<string, unknown>

/** Describes a review; a stored body may have been altered in any way. */
export function describeReview(body: Body, keys: ReadonlyMap<string, ReviewKey>): ShownReview {
  const { id, reason, overrides } = body
  return {
    id: String(id),
    ...describeGrant(body, keys.get(String(id)) ?? null),
    reason: String(reason ?? ''),
    overrides: overrides === true,
  }
}

/** The newest reviews of listed decisions, by the ids of the reviews. */
export async function newestReviews(
  store: EnvironmentStore,
  organizationId: string,
  rows: readonly NewestReview[],
): Promise<Map<string, GrantedReview>> {
  const ids = rows.flatMap(({ review_id }) => review_id ?? [])
  const keys = await store.reviews.keys(organizationId, ids)
  return new Map(
    rows.flatMap(({ review_id, review_body }) => {
      const [body] = review_body === null ? [] : parseBodies([review_body])
      return review_id !== null && body ? [[review_id, describeGrant(body, keys.get(review_id) ?? null)]] : []
    }),
  )
}

function describeGrant(body: Body, key: ReviewKey | null): GrantedReview {
  const { verdict, reviewer, recommended_limit, currency, conditions, created_at } = body
  const person = isObject(reviewer) ? reviewer : {}
  const isLimit = typeof recommended_limit === 'number' && typeof currency === 'string'
  return {
    verdict: VERDICTS.find((known) => known === verdict) ?? null,
    limit: isLimit ? { amount: recommended_limit, currency } : null,
    conditions: (Array.isArray(conditions) ? conditions.filter(isObject) : []).map(({ code, label }) => ({
      code: String(code),
      label: String(label),
    })),
    reviewer: String(person.name ?? person.id ?? ''),
    through_key: key,
    at: String(created_at),
  }
}
