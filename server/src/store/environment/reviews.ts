import type { DatedReview } from '../../core/facts/open-offers.ts'
import type { Database } from '../database/database.ts'
import { entryIdOf } from '../write-path/record.ts'

/** The newest review of a decision, as a list of decisions reads it; null where no person has looked at it. */
export interface NewestReview {
  review_id: string | null
  review_body: string | null
}

/** The API key that a review came through. */
export interface ReviewKey {
  id: string
  /** Null if the key is not stored any more. */
  name: string | null
}

/** Selects `review_id` and `review_body` from `NEWEST_REVIEW`. */
export const REVIEW_COLUMNS = 'review.id AS review_id, review.body AS review_body'

/** Joins the newest review of `decision`, whose organization is `$1`: one index look-up for each row. */
export const NEWEST_REVIEW = `LEFT JOIN LATERAL (
  SELECT id, body FROM reviews WHERE reviews.org_id = $1 AND reviews.decision_id = decision.id
  ORDER BY id DESC LIMIT 1) AS review ON true`

/** Reads of reviews. */
export function reviewQueries(database: Database) {
  return {
    /** The newest review of a decision, if a person has looked at it. */
    async newest(organizationId: string, decisionId: string): Promise<(DatedReview & { id: string }) | undefined> {
      const [row] = await database.query<{ body: string }>(
        'SELECT body FROM reviews WHERE org_id = $1 AND decision_id = $2 ORDER BY id DESC LIMIT 1',
        [organizationId, decisionId],
        { keepPlan: true },
      )
      return row && (JSON.parse(row.body) as DatedReview & { id: string })
    },

    /** The API keys through which reviews came, by the ids of the reviews; a review of the console came through none. */
    async keys(organizationId: string, reviewIds: readonly string[]): Promise<Map<string, ReviewKey>> {
      if (reviewIds.length === 0) return new Map()
      const rows = await database.query<{ review_id: string; id: string; name: string | null }>(
        `SELECT wanted.id AS review_id, entry.actor_id AS id, key.name
         FROM unnest($2::text[], $3::text[]) AS wanted (id, entry_id)
         CROSS JOIN LATERAL (
           SELECT actor_id FROM audit_entries WHERE org_id = $1 AND id = wanted.entry_id AND subject_id = wanted.id
             AND type = 'decision.reviewed' AND actor_type = 'api_key' LIMIT 1) AS entry
         LEFT JOIN LATERAL (SELECT name FROM api_keys WHERE org_id = $1 AND id = entry.actor_id LIMIT 1) AS key ON true`,
        [organizationId, reviewIds, reviewIds.map(entryIdOf)],
      )
      return new Map(rows.map(({ review_id, ...key }) => [review_id, key]))
    },
  }
}
