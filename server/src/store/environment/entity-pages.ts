import type { Database, Row } from '../database/database.ts'
import type { RowOf } from '../schema/tables.ts'
import { latestDecision } from '../write-path/decision-statements.ts'
import { erasedName } from './erasures.ts'
import { NEWEST_REVIEW, type NewestReview, REVIEW_COLUMNS } from './reviews.ts'

/** A decision as the page of its entity lists it. */
export type DecisionOfEntity = RowOf<'decisions'> & NewestReview

/** An entity as a list shows it. */
export interface ListedEntity {
  id: string
  external_id: string
  name: string | null
  type: string | null
  country: string | null
  created_at: string
  /** The trust as the API returns it; null until first computed. */
  trust: string | null
  /** The verdict of the latest decision about it. */
  latest_verdict: string | null
}

/** The newest outcome of an entity, for the nodes of the graph. */
export interface NewestOutcome {
  entity_id: string
  type: string
  occurred_at: string
}

/** An entity of an organization. */
type EntityKey = Pick<RowOf<'decisions'>, 'org_id' | 'entity_id'>

/** How many records of each kind the page of an entity lists. */
const LISTED_MAX = 100
const HISTORY_DAYS_MAX = 400
const NEIGHBOURS_COUNTED_MAX = 1_000
/** Scores of an entity that one statement deletes at most: those of more than two years. */
const SCORES_PER_ENTITY = 1_000

const LISTED = `entity.id, entity.external_id, entity.display_name AS name, entity.type, entity.country, entity.created_at,
  exposure.trust, latest.verdict AS latest_verdict`

/** What a list shows about the entities that `found` selects. */
const listStatement = (found: string) => `SELECT ${LISTED} FROM (${found}) AS entity
  LEFT JOIN graph_exposures AS exposure ON exposure.org_id = entity.org_id AND exposure.entity_id = entity.id
  LEFT JOIN LATERAL ${latestDecision('entity.org_id', 'entity.id')} AS latest ON true`

/** Queries of the pages about entities. */
export function entityPageQueries(database: Database) {
  return {
    /** The newest entities, or those before the one with the id `before`. */
    async newest(
      organizationId: string,
      { before, limit }: { before: string | undefined; limit: number },
    ): Promise<ListedEntity[]> {
      const found = `SELECT * FROM entities WHERE org_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`
      return database.query<ListedEntity & Row>(`${listStatement(found)} ORDER BY entity.id DESC`, [
        organizationId,
        before ?? null,
        limit,
      ])
    },

    /** The entities with one of these ids. */
    async byId(organizationId: string, ids: readonly string[]): Promise<ListedEntity[]> {
      const found = 'SELECT * FROM entities WHERE org_id = $1 AND id = ANY($2::text[])'
      return database.query<ListedEntity & Row>(`${listStatement(found)} ORDER BY entity.id`, [organizationId, ids])
    },

    /** The entity with this id of the caller's, as a list shows it. */
    async listedByExternalId(organizationId: string, externalId: string): Promise<ListedEntity[]> {
      const found = 'SELECT * FROM entities WHERE org_id = $1 AND external_id = $2'
      return database.query<ListedEntity & Row>(listStatement(found), [organizationId, externalId])
    },

    /** Entities whose name begins with a text, in any case, in the order of their names. */
    async byName(organizationId: string, text: string, limit: number): Promise<ListedEntity[]> {
      const found = `SELECT * FROM entities WHERE org_id = $1 AND display_name IS NOT NULL AND lower(display_name) LIKE $2
        ORDER BY lower(display_name) USING ~<~ LIMIT $3`
      const pattern = `${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
      return database.query<ListedEntity & Row>(listStatement(found), [organizationId, pattern, limit])
    },

    /** The names of entities, by id. */
    async names(
      organizationId: string,
      ids: readonly string[],
    ): Promise<Map<string, { name: string | null; external_id: string; type: string | null }>> {
      const rows = await database.query<{ id: string; name: string | null; external_id: string; type: string | null }>(
        `SELECT id, display_name AS name, external_id, type FROM entities WHERE org_id = $1 AND id = ANY($2::text[])
         UNION ALL SELECT wanted.id, erased.name, wanted.id, NULL FROM unnest($2::text[]) AS wanted (id)
         CROSS JOIN LATERAL (SELECT ${erasedName('$1', 'wanted.id')} AS name) AS erased WHERE erased.name IS NOT NULL`,
        [organizationId, ids],
      )
      return new Map(rows.map(({ id, ...names }) => [id, names]))
    },

    /** The entities that have ever reported an identifier, by its hash; verified ones first. */
    async holdersOf(organizationId: string, identifierHash: string, limit: number): Promise<string[]> {
      const rows = await database.query<{ entity_id: string }>(
        `SELECT entity_id FROM identifier_holders WHERE org_id = $1 AND identifier_hash = $2
         ORDER BY verified_at IS NULL, entity_id LIMIT $3`,
        [organizationId, identifierHash, limit],
      )
      return rows.map(({ entity_id }) => entity_id)
    },

    /** The newest identity links that an entity reported, newest first. */
    async identityLinks(organizationId: string, entityId: string): Promise<RowOf<'identity_links'>[]> {
      return database.query<RowOf<'identity_links'> & Row>(
        `SELECT * FROM identity_links WHERE org_id = $1 AND entity_id = $2 ORDER BY id DESC LIMIT ${LISTED_MAX}`,
        [organizationId, entityId],
      )
    },

    /** The newest consents of an entity, newest first. */
    async consents(organizationId: string, entityId: string): Promise<RowOf<'consents'>[]> {
      return database.query<RowOf<'consents'> & Row>(
        `SELECT * FROM consents WHERE org_id = $1 AND entity_id = $2 ORDER BY id DESC LIMIT ${LISTED_MAX}`,
        [organizationId, entityId],
      )
    },

    /** The newest decisions about an entity, newest first, with the newest review of each. */
    async newestDecisions(organizationId: string, entityId: string, limit: number): Promise<DecisionOfEntity[]> {
      return database.query<DecisionOfEntity & Row>(
        `SELECT decision.*, ${REVIEW_COLUMNS}
         FROM (SELECT * FROM decisions WHERE org_id = $1 AND entity_id = $2 ORDER BY id DESC LIMIT $3) AS decision
         ${NEWEST_REVIEW}
         ORDER BY decision.id DESC`,
        [organizationId, entityId, limit],
      )
    },

    /** The days on which the trust score of an entity changed, oldest first. */
    async trustHistory(organizationId: string, entityId: string): Promise<{ day: string; score: number }[]> {
      const rows = await database.query<{ day: string; score: number }>(
        `SELECT day, score FROM trust_history WHERE org_id = $1 AND entity_id = $2 ORDER BY day DESC LIMIT ${HISTORY_DAYS_MAX}`,
        [organizationId, entityId],
      )
      return rows.reverse()
    },

    /**
     * Deletes the trust scores of a page of entities, those after a given one, that were replaced by a day: the score that an
     * entity had on that day is kept, because a chart begins with it. Returns the last entity of the page, if it is not empty.
     */
    async purgeTrustHistory({
      after,
      day,
      limit,
    }: {
      after: EntityKey
      day: string
      limit: number
    }): Promise<EntityKey | undefined> {
      const [last] = await database.query<EntityKey & Row>(
        `WITH page AS MATERIALIZED ( -- every entity with a history has an exposure
           SELECT org_id, entity_id FROM graph_exposures WHERE (org_id, entity_id) > ($1, $2) ORDER BY org_id, entity_id LIMIT $4
         ), deleted AS (
           DELETE FROM trust_history WHERE ctid = ANY (ARRAY (
             SELECT old.ctid FROM page CROSS JOIN LATERAL (
               SELECT day FROM trust_history AS each WHERE each.org_id = page.org_id AND each.entity_id = page.entity_id
                 AND each.day <= $3::date ORDER BY day DESC LIMIT 1) AS kept
             CROSS JOIN LATERAL (
               SELECT ctid FROM trust_history AS each WHERE each.org_id = page.org_id AND each.entity_id = page.entity_id
                 AND each.day < kept.day ORDER BY day LIMIT ${SCORES_PER_ENTITY}) AS old))
         )
         SELECT org_id, entity_id FROM page ORDER BY org_id DESC, entity_id DESC LIMIT 1`,
        [after.org_id, after.entity_id, day, limit],
      )
      return last
    },

    /** The open case about an entity, if there is one. */
    async openCase(organizationId: string, entityId: string): Promise<string | null> {
      const [row] = await database.query<{ id: string }>(
        'SELECT id FROM cases WHERE org_id = $1 AND entity_id = $2 AND review_id IS NULL',
        [organizationId, entityId],
      )
      return row?.id ?? null
    },

    /** The neighbours of an entity over links of the trust graph, counted up to a bound. */
    async countNeighbours(organizationId: string, entityId: string, today: number): Promise<number> {
      const [row] = await database.query<{ count: number }>(
        `SELECT count(DISTINCT neighbour_id)::integer AS count FROM (
           SELECT neighbour_id FROM graph_links WHERE org_id = $1 AND entity_id = $2 AND expires > $3 LIMIT ${NEIGHBOURS_COUNTED_MAX}
         ) AS counted`,
        [organizationId, entityId, today],
      )
      return row!.count
    },

    /** The newest outcome of each of these entities. */
    async newestOutcomes(organizationId: string, entityIds: readonly string[]): Promise<NewestOutcome[]> {
      return database.query<NewestOutcome & Row>(
        `SELECT wanted.entity_id, newest.type, newest.occurred_at FROM unnest($2::text[]) AS wanted (entity_id)
         CROSS JOIN LATERAL (SELECT type, occurred_at FROM outcomes WHERE org_id = $1 AND entity_id = wanted.entity_id
           ORDER BY occurred_at DESC LIMIT 1) AS newest`,
        [organizationId, entityIds],
      )
    },
  }
}
