import { dayOf } from '../../core/graph/decay.ts'
import {
  BEHIND_MAX,
  FAN_OUT,
  type FollowedLinks,
  type Link,
  type LinkType,
  LOOKED_THROUGH,
} from '../../core/graph/link.ts'
import type { OutcomeTally } from '../../core/graph/track-record.ts'
import type { Database, Row } from '../database/database.ts'
import { Params, type RowOf } from '../schema/tables.ts'
import { deleteConsequences } from './consequences.ts'
import { claimQueries } from './graph-claims.ts'
import { paymentFlowQueries } from './payment-flows.ts'

/** An entity's track record as stored: its tallies, and the version that the next write must follow (optimistic lock). */
export interface StoredTrackRecord {
  tallies: OutcomeTally[]
  isAdverse: boolean
  version: number
}

/** The order in which links are followed; the indexes of graph_links are in it too. */
const BY_RANK = "(NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type"

/** How many faded links go with each write of exposures; more than are made in that time. */
const FADED_PER_WRITE = 200

/** Reads of the trust graph, each bounded whatever stands in it. */
export function graphQueries(database: Database) {
  return {
    ...claimQueries(database),
    ...paymentFlowQueries(database),

    /** The links of these entities that are followed on a day, as `followLinks` chooses them. */
    async followedLinks(
      organizationId: string,
      entityIds: readonly string[],
      today: number,
    ): Promise<Map<string, FollowedLinks>> {
      const first = (limit: number, filter = '') =>
        `SELECT *, row_number() OVER (ORDER BY ${BY_RANK}) AS place FROM (
           SELECT neighbour_id, type, verified, base_ppm, since FROM graph_links
           WHERE org_id = $1 AND graph_links.entity_id = wanted.entity_id AND expires > $3 ${filter} ORDER BY ${BY_RANK} LIMIT ${limit}
         ) AS first`
      const harmBehind = `SELECT true AS found FROM graph_links AS onward
        WHERE link.place > ${FAN_OUT} AND onward.org_id = $1 AND onward.entity_id = link.neighbour_id AND onward.to_adverse
          AND onward.neighbour_id <> wanted.entity_id AND onward.expires > $3 LIMIT 1`
      const rows = await database.query<PlacedLink>(
        `SELECT wanted.entity_id, link.*, harm.found IS NOT NULL AS is_near, false AS to_adverse
         FROM unnest($2::text[]) AS wanted (entity_id) CROSS JOIN LATERAL (${first(LOOKED_THROUGH)}) AS link
         LEFT JOIN LATERAL (${harmBehind}) AS harm ON true
         WHERE link.place <= ${FAN_OUT + BEHIND_MAX} OR harm.found
         UNION ALL
         SELECT wanted.entity_id, link.*, false, true
         FROM unnest($2::text[]) AS wanted (entity_id) CROSS JOIN LATERAL (${first(FAN_OUT, 'AND to_adverse')}) AS link`,
        [organizationId, entityIds, today],
      )
      const byEntity = Map.groupBy(rows, ({ entity_id }) => entity_id)
      return new Map(entityIds.map((id) => [id, listed(byEntity.get(id) ?? [])]))
    },

    /** The track records of these entities; an entity without outcomes has none. */
    async trackRecords(organizationId: string, entityIds: readonly string[]): Promise<Map<string, StoredTrackRecord>> {
      if (entityIds.length === 0) return new Map()
      const rows = await database.query<RowOf<'graph_track_records'> & Row>(
        'SELECT * FROM graph_track_records WHERE org_id = $1 AND entity_id = ANY($2::text[])',
        [organizationId, entityIds],
      )
      return new Map(
        rows.map(({ entity_id, tallies, is_adverse: isAdverse, version }) => [
          entity_id,
          { tallies: JSON.parse(tallies), isAdverse, version },
        ]),
      )
    },

    /** Which of these entities the organization has. */
    async knownEntities(organizationId: string, entityIds: readonly string[]): Promise<Set<string>> {
      const rows = await database.query<{ id: string }>(
        'SELECT id FROM entities WHERE org_id = $1 AND id = ANY($2::text[])',
        [organizationId, entityIds],
      )
      return new Set(rows.map(({ id }) => id))
    },

    /**
     * Notes on links that lead to an entity whether it has had bad outcomes; on a page of them, by neighbour. Returns that
     * page. Noted with its identifiers too, for those who come to share one later.
     */
    async markLinksTo(
      organizationId: string,
      entityId: string,
      { isAdverse, after, limit }: { isAdverse: boolean; after: string; limit: number },
    ): Promise<string[]> {
      const rows = await database.query<{ neighbour_id: string }>(
        `WITH page AS (
           SELECT DISTINCT neighbour_id FROM graph_links WHERE org_id = $1 AND entity_id = $2 AND neighbour_id > $3 ORDER BY neighbour_id LIMIT $4
         ), marked AS (
           UPDATE graph_links SET to_adverse = $5 FROM page
           WHERE graph_links.org_id = $1 AND graph_links.entity_id = page.neighbour_id AND graph_links.neighbour_id = $2 AND to_adverse <> $5
         ), held AS (
           UPDATE identifier_holders SET is_adverse = $5 WHERE org_id = $1 AND entity_id = $2 AND is_adverse <> $5
         ) SELECT neighbour_id FROM page ORDER BY neighbour_id`,
        [organizationId, entityId, after, limit, isAdverse],
      )
      return rows.map(({ neighbour_id }) => neighbour_id)
    },

    /**
     * Writes exposures, has the latest decisions of those entities looked at again, and takes the consequences away that led
     * here. Links that have faded go with it, a few at a time: they would be in the way of those that are read by rank.
     */
    async writeExposures(
      rows: readonly { org_id: string; entity_id: string; summary: string; trust: string; as_of: string }[],
      done: readonly RowOf<'consequences'>[],
    ): Promise<void> {
      const params = new Params()
      const column = (name: 'org_id' | 'entity_id' | 'summary' | 'trust' | 'as_of', type: string) =>
        params.add(
          rows.map((row) => row[name]),
          type,
        )
      const values = `unnest(${column('org_id', 'text[]')}, ${column('entity_id', 'text[]')}, ${column('summary', 'text[]')}, ${column('trust', 'text[]')}, ${column('as_of', 'timestamptz[]')})`
      await database.query(
        `WITH written AS (
           INSERT INTO graph_exposures (org_id, entity_id, summary, trust, as_of) SELECT * FROM ${values}
           ON CONFLICT (org_id, entity_id) DO UPDATE SET summary = excluded.summary, trust = excluded.trust, as_of = excluded.as_of
             WHERE graph_exposures.as_of <= excluded.as_of -- whoever read later knows more
           RETURNING org_id, entity_id, summary
         ), due AS (
           INSERT INTO consequences (org_id, kind, entity_id, mark)
           SELECT latest.org_id, 'reevaluation', latest.entity_id, md5(written.summary) FROM written
           JOIN latest_decisions AS latest ON latest.org_id = written.org_id AND latest.entity_id = written.entity_id
           ON CONFLICT (org_id, kind, entity_id) DO UPDATE SET mark = excluded.mark
         ), gone AS (${deleteFadedLinks(rows, params)}) ${deleteConsequences(done, params)}`,
        params.values,
      )
    },

    /** Entities whose exposure was computed before a moment, oldest first. */
    async agedExposures(before: string, limit: number): Promise<Pick<RowOf<'consequences'>, 'org_id' | 'entity_id'>[]> {
      return database.query<Pick<RowOf<'consequences'>, 'org_id' | 'entity_id'> & Row>(
        `SELECT org_id, entity_id FROM graph_exposures WHERE as_of < $1
           AND NOT EXISTS (
             SELECT 1 FROM consequences AS known WHERE known.org_id = graph_exposures.org_id AND known.kind = 'exposure' AND known.entity_id = graph_exposures.entity_id)
         ORDER BY as_of LIMIT $2`,
        [before, limit],
      )
    },
  }
}

/** Those that another node writes or takes away at this moment are left to it. */
function deleteFadedLinks(rows: readonly { as_of: string }[], params: Params): string {
  const today = Math.min(...rows.map(({ as_of }) => dayOf(as_of)))
  return `DELETE FROM graph_links USING (
      SELECT org_id, entity_id, neighbour_id, type FROM graph_links WHERE expires <= ${params.add(today, 'integer')}
      ORDER BY expires LIMIT ${FADED_PER_WRITE} FOR UPDATE SKIP LOCKED
    ) AS faded
    WHERE graph_links.org_id = faded.org_id AND graph_links.entity_id = faded.entity_id
      AND graph_links.neighbour_id = faded.neighbour_id AND graph_links.type = faded.type`
}

/** A link with its place in the order of its list; all links are on one, those to the adverse on another. */
type PlacedLink = RowOf<'graph_links'> & Row & { place: number; is_near: boolean }

function listed(rows: readonly PlacedLink[]): FollowedLinks {
  const inOrder = rows.toSorted((a, b) => a.place - b.place)
  const linksWhere = (holds: (row: PlacedLink) => boolean) => inOrder.filter(holds).map(linkOfRow)
  const all = linksWhere((row) => !row.to_adverse && row.place <= FAN_OUT + BEHIND_MAX)
  return {
    ranked: all.slice(0, FAN_OUT),
    adverse: linksWhere((row) => row.to_adverse),
    near: linksWhere((row) => row.is_near).slice(0, FAN_OUT),
    behind: all.slice(FAN_OUT),
  }
}

function linkOfRow({ neighbour_id, type, verified, base_ppm, since }: RowOf<'graph_links'>): Link {
  return { neighbour: neighbour_id, type: type as LinkType, verified, basePpm: base_ppm, since }
}
