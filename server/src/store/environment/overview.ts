import type { Verdict } from '../../core/vocabularies.ts'
import type { Database, Row } from '../database/database.ts'
import { NEWEST_REVIEW, type NewestReview, REVIEW_COLUMNS } from './reviews.ts'

/** A decision as the overview lists it. */
export interface NewestDecision extends NewestReview {
  id: string
  entity_id: string
  entity_name: string | null
  external_id: string | null
  product: string
  verdict: Verdict
  risk_tier: string
  requested_amount: number | null
  currency: string | null
  recommended_limit: number | null
  score: number | null
  score_cutoff: number | null
  created_at: string
}

/** The figures of a decision that lists show, for queries that alias its table as `decision`. */
export const FIGURE_COLUMNS =
  'decision.requested_amount, decision.currency, decision.recommended_limit, decision.score, decision.score_cutoff'

/** How many decisions have waited for a person for so long. */
export interface WaitingBand {
  /** The index of the band in `WAITING_BANDS_HOURS`: 0 is below its first bound. */
  band: number
  count: number
  oldest: string
}

/** What an organization has done already, for its first steps. */
export interface FirstUses {
  has_used_key: boolean
  has_entity: boolean
  has_decision: boolean
  has_delivery: boolean
}

/** The bounds, in hours, of the bands by which waiting decisions are counted. */
export const WAITING_BANDS_HOURS = [1, 2, 4, 8, 24, 168] as const

/** The most waiting decisions that are counted. */
export const WAITING_COUNTED_MAX = 10_000

/** The queries of the console's overview, none of which counts decisions. */
export function overviewQueries(database: Database) {
  return {
    /** The newest decisions of an organization. */
    async newestDecisions(organizationId: string, limit: number): Promise<NewestDecision[]> {
      return database.query<NewestDecision & Row>(
        `SELECT decision.id, decision.entity_id, entity.display_name AS entity_name, entity.external_id, decision.product,
           decision.verdict, decision.risk_tier, ${FIGURE_COLUMNS}, decision.created_at, ${REVIEW_COLUMNS}
         FROM (SELECT * FROM decisions WHERE org_id = $1 ORDER BY id DESC LIMIT $2) AS decision
         LEFT JOIN entities AS entity ON entity.org_id = decision.org_id AND entity.id = decision.entity_id
         ${NEWEST_REVIEW}
         ORDER BY decision.id DESC`,
        [organizationId, limit],
      )
    },

    /** Counts the decisions that wait for a person by how long they have waited, at most `WAITING_COUNTED_MAX` of them. */
    async waitingReviews(organizationId: string, now: string): Promise<WaitingBand[]> {
      return database.query<WaitingBand & Row>(
        `SELECT width_bucket(extract(epoch FROM $2::timestamptz - since)::float8, $3::float8[]) AS band,
           count(*) AS count, min(since) AS oldest
         FROM (SELECT since FROM waiting_reviews WHERE org_id = $1 ORDER BY decision_id LIMIT $4) AS waiting
         GROUP BY 1 ORDER BY 1`,
        [organizationId, now, WAITING_BANDS_HOURS.map((hours) => hours * 3_600), WAITING_COUNTED_MAX],
      )
    },

    /** When policies of an organization were activated since a time, oldest first. */
    async activationsSince(organizationId: string, since: string): Promise<{ version: string; at: string }[]> {
      return database.query<{ version: string; at: string }>(
        `SELECT policy.version, step.taken_at AS at FROM policy_steps AS step
         JOIN policies AS policy ON policy.org_id = step.org_id AND policy.id = step.policy_id
         WHERE step.org_id = $1 AND step.step = 'activated' AND step.taken_at >= $2::timestamptz ORDER BY step.taken_at LIMIT 20`,
        [organizationId, since],
      )
    },

    /** Whether an organization has used a key, created an entity, decided, and delivered an event. */
    async firstUses(organizationId: string): Promise<FirstUses> {
      const [row] = await database.query<FirstUses & Row>(
        `SELECT EXISTS (SELECT 1 FROM api_keys WHERE org_id = $1 AND last_used_at IS NOT NULL) AS has_used_key,
           EXISTS (SELECT 1 FROM entities WHERE org_id = $1) AS has_entity,
           EXISTS (SELECT 1 FROM decisions WHERE org_id = $1) AS has_decision,
           EXISTS (SELECT 1 FROM usage_by_day WHERE org_id = $1 AND counter = 'webhook_deliveries') AS has_delivery`,
        [organizationId],
      )
      return row!
    },
  }
}
