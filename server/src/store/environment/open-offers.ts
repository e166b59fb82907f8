import { changesOffer, endsCredit } from '../../core/facts/outcome-course.ts'
import { OUTCOME_TYPES } from '../../core/vocabularies.ts'
import type { Database, Row } from '../database/database.ts'
import type { RowOf } from '../schema/tables.ts'
import { NOT_RETRACTED } from './outcomes.ts'
import { NEWEST_REVIEW, type NewestReview, REVIEW_COLUMNS } from './reviews.ts'
import { entriesAbout } from './stored-entry.ts'

/** The outcomes that take up an offer. */
const DRAWS = OUTCOME_TYPES.filter((type) => changesOffer(type) && !endsCredit(type))

/** How many entities a statement of a verification reads. */
const ENTITIES_PER_READ = 100

/** The columns of a decision that say what it offers. */
const OFFERING = [
  'id',
  'verdict',
  'requested_amount',
  'recommended_limit',
  'currency',
  'reference',
  'created_at',
  'policy_version',
] as const satisfies readonly (keyof RowOf<'decisions'>)[]

/** A decision that may be an open offer, with its newest review and what was paid out. */
export type StandingOffer = Pick<RowOf<'decisions'>, (typeof OFFERING)[number]> &
  NewestReview & {
    /** A JSON list of what was paid out on it; null if nothing was. */
    draws: string | null
  }

/** The open offers of an entity as its row lists them, and the decisions that nothing on record has ended since a day. */
export interface OffersOnRecord {
  entity_id: string
  offers: string | null
  standing: StandingOffer[]
}

/** Reads of open offers from the records that they are made of. */
export function openOfferQueries(database: Database) {
  return {
    /** For decisions about credit, the first later one about one of these entities that has the same reference. */
    async successorsOf(
      organizationId: string,
      { ids, entityIds }: Record<'ids' | 'entityIds', readonly string[]>,
    ): Promise<Map<string, string>> {
      const rows = await database.query<{ id: string; successor: string }>(
        `SELECT decision.id, min(later.id) AS successor FROM decisions AS decision
         JOIN decisions AS later ON later.org_id = $1 AND later.entity_id = ANY($3::text[]) AND later.id > decision.id
           AND later.reference = decision.reference AND later.currency IS NOT NULL
         WHERE decision.org_id = $1 AND decision.id = ANY($2::text[]) AND decision.currency IS NOT NULL
         GROUP BY decision.id`,
        [organizationId, ids, entityIds],
      )
      return new Map(rows.map(({ id, successor }) => [id, successor]))
    },

    /** Every entity with open offers, or with decisions about credit since an instant, in pages; each page is one snapshot. */
    async *onRecord(organizationId: string, since: string): AsyncGenerator<OffersOnRecord[]> {
      for (let after = ''; ; ) {
        const rows = await database.query<{ entity_id: string; offers: string | null } & Partial<StandingOffer> & Row>(
          `WITH page AS MATERIALIZED (SELECT id FROM entities WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT ${ENTITIES_PER_READ})
           SELECT page.id AS entity_id, open.offers, standing.* FROM page
           LEFT JOIN open_offers AS open ON open.org_id = $1 AND open.entity_id = page.id
           LEFT JOIN LATERAL (
             SELECT ${OFFERING.map((column) => `decision.${column}`).join(', ')}, ${REVIEW_COLUMNS},
               (SELECT json_agg(body::json)::text FROM outcomes WHERE outcomes.org_id = $1 AND outcomes.decision_id = decision.id
                 AND outcomes.type = ANY($5::text[]) AND ${NOT_RETRACTED}) AS draws
             FROM decisions AS decision ${NEWEST_REVIEW}
             WHERE decision.org_id = $1 AND decision.entity_id = page.id AND decision.currency IS NOT NULL
               AND (decision.created_at > $3 OR review.id IS NOT NULL)
               AND (decision.verdict IN ('approve', 'approve_with_conditions') OR review.id IS NOT NULL)
               AND NOT EXISTS (SELECT FROM outcomes WHERE outcomes.org_id = $1 AND outcomes.decision_id = decision.id
                 AND outcomes.type = ANY($4::text[]) AND ${NOT_RETRACTED})
               AND (SELECT true FROM ${entriesAbout('$1', 'decision.id')} AS entry
                 WHERE entry.type = 'decision.offer_replaced' LIMIT 1) IS NULL
           ) AS standing ON true
           ORDER BY page.id, standing.id`,
          [organizationId, after, since, OUTCOME_TYPES.filter(endsCredit), DRAWS],
        )
        const byEntity = [...Map.groupBy(rows, ({ entity_id }) => entity_id)]
        yield byEntity.map(([entity_id, own]) => ({
          entity_id,
          offers: own[0]!.offers,
          standing: own.filter(({ id }) => id !== null) as StandingOffer[],
        }))
        if (byEntity.length < ENTITIES_PER_READ) return
        after = byEntity.at(-1)![0]
      }
    },
  }
}
