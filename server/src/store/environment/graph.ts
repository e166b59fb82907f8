import { hash } from 'node:crypto'
import { dayOf } from '../../core/graph/decay.ts'
import {
  BEYOND_FAN_OUT_MAX,
  FAN_OUT,
  type FollowedLinks,
  LINKS_PER_NEIGHBOUR_MAX,
  LINKS_SCANNED_MAX,
  type Link,
  type LinkType,
} from '../../core/graph/link.ts'
import type { OutcomeTally } from '../../core/graph/track-record.ts'
import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import { Params, type RowOf, unnestAs } from '../schema/tables.ts'
import { hasDecision } from '../write-path/decision-statements.ts'
import { deleteCauses } from './consequences.ts'
import { newestMergeIfAny } from './entity-merges.ts'

/** An entity's track record as stored: its tallies, and the version that the next write must follow (optimistic lock). */
export interface StoredTrackRecord {
  tallies: OutcomeTally[]
  isAdverse: boolean
  version: number
}

/** The entity whose links a request needs, and the day. */
interface LinksWanted {
  organizationId: string
  entityId: string
  today: number
}

/** The rank of links, as in `rankLinks`; the indexes of graph_links have the same order. */
const BY_RANK = "(NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type, claim"

/** The order in which links to one neighbour are kept, as in `selectLinks`. */
const BY_KIND_AND_AGE = "(NOT verified), (type = 'payment'), base_ppm DESC, since DESC, type, claim"

/** How many expired links each write of exposures deletes; more than are made in that time. */
const EXPIRED_PER_WRITE = 200

/** Queries of the trust graph. The cost of each is bounded by the fan-out or a page, not by the degree of an entity. */
export function graphQueries(database: Database) {
  return {
    /** The links of these entities that a walk follows on a day; the same selection as `selectLinks` makes. */
    followedLinks: async (organizationId: string, entityIds: readonly string[], today: number) =>
      (await readFollowedLinks(database, { organizationId, entityIds, today })).links,

    /** The same, and the newest step of each of these entities, and of those that share an identifier with it, that was ever merged. */
    followedLinksAndMerges: (organizationId: string, entityIds: readonly string[], today: number) =>
      readFollowedLinks(database, { organizationId, entityIds, today }),

    /** The same of one entity, for requests: those that are handled at the same time share a statement. */
    followedLinksOf: batchedRead<LinksWanted, FollowedLinks>({
      keyText: linksKey,
      async load(keys) {
        const found = new Map<string, FollowedLinks>()
        for (const group of Map.groupBy(keys, ({ organizationId, today }) => `${organizationId} ${today}`).values()) {
          const { organizationId, today } = group[0]!
          const entityIds = [...new Set(group.map(({ entityId }) => entityId))]
          const { links } = await readFollowedLinks(database, { organizationId, entityIds, today })
          for (const [entityId, followed] of links) found.set(linksKey({ organizationId, entityId, today }), followed)
        }
        return found
      },
    }),

    /** The track records of these entities; an entity without outcomes has none. */
    async trackRecords(organizationId: string, entityIds: readonly string[]): Promise<Map<string, StoredTrackRecord>> {
      if (entityIds.length === 0) return new Map()
      const rows = await database.query<RowOf<'graph_track_records'> & Row>(
        'SELECT * FROM graph_track_records WHERE org_id = $1 AND entity_id = ANY($2::text[])',
        [organizationId, entityIds],
        { keepPlan: true },
      )
      return recordsOf(rows)
    },

    /** The same, and the newest step of each that was ever merged, in one read: nearly every entity is alone. */
    async trackRecordsAndMerges(
      organizationId: string,
      entityIds: readonly string[],
    ): Promise<{ records: Map<string, StoredTrackRecord>; mergeIds: Map<string, string> }> {
      if (entityIds.length === 0) return { records: new Map(), mergeIds: new Map() }
      const rows = await database.query<RowOf<'graph_track_records'> & Row & { merge_id: string | null }>(
        `SELECT wanted.id AS entity_id, merge.id AS merge_id, record.tallies, record.is_adverse, record.version
         FROM unnest($2::text[]) AS wanted (id)
         LEFT JOIN graph_track_records AS record ON record.org_id = $1 AND record.entity_id = wanted.id
         LEFT JOIN LATERAL ${newestMergeIfAny('wanted.id')} AS merge ON true
         WHERE record.entity_id IS NOT NULL OR merge.id IS NOT NULL`,
        [organizationId, entityIds],
        { keepPlan: true },
      )
      const merged = rows.filter(({ merge_id }) => merge_id !== null)
      return {
        records: recordsOf(rows.filter(({ tallies }) => tallies !== null)),
        mergeIds: new Map(merged.map(({ entity_id, merge_id }) => [entity_id, merge_id!])),
      }
    },

    /** Which of these entities the organization has. */
    async knownEntities(organizationId: string, entityIds: readonly string[]): Promise<Set<string>> {
      const rows = await database.query<{ id: string }>(
        'SELECT id FROM entities WHERE org_id = $1 AND id = ANY($2::text[])',
        [organizationId, entityIds],
      )
      return new Set(rows.map(({ id }) => id))
    },

    /** Sets `to_adverse` on the links that lead to an entity, for one page of its neighbours, and returns that page. */
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
         ) SELECT neighbour_id FROM page ORDER BY neighbour_id`,
        [organizationId, entityId, after, limit, isAdverse],
        { keepPlan: true },
      )
      return rows.map(({ neighbour_id }) => neighbour_id)
    },

    /** The number of a refresh that is about to read; a later one gets a higher number, on any node. */
    async nextExposureRead(): Promise<number> {
      const [row] = await database.query<{ number: number }>("SELECT nextval('exposure_reads') AS number")
      return row!.number
    },

    /**
     * Writes exposures, queues the latest decisions of those entities for re-evaluation, and deletes the causes that are
     * done. Also deletes a few expired links, because reads by rank would have to skip them.
     *
     * INVARIANT: the decisions are sought by a second statement. One that commits during the first is seen by the second, and one
     * that commits later is checked against the new exposure (`queueOvertaken`). After a crash between them, the causes are left.
     */
    async writeExposures(
      rows: readonly { org_id: string; entity_id: string; summary: string; trust: string; as_of: string }[],
      { readNumber, done }: { readNumber: number; done: readonly RowOf<'consequences'>[] },
    ): Promise<void> {
      const params = new Params()
      const columns = { org_id: 'text', entity_id: 'text', summary: 'text', trust: 'text', as_of: 'timestamptz' }
      await database.query(
        `WITH written AS (
           INSERT INTO graph_exposures (org_id, entity_id, summary, trust, as_of, read_number)
           SELECT computed.*, ${params.add(readNumber, 'bigint')} FROM ${unnestAs('computed', rows, columns, params)}
           WHERE NOT EXISTS (SELECT FROM erasures WHERE erasures.org_id = computed.org_id AND erasures.entity_id = computed.entity_id)
           ON CONFLICT (org_id, entity_id) DO UPDATE
             SET summary = excluded.summary, trust = excluded.trust, as_of = excluded.as_of, read_number = excluded.read_number
             WHERE graph_exposures.read_number < excluded.read_number -- a concurrent refresh that read later wins
           RETURNING org_id, entity_id, summary, trust, as_of
         ), noted AS ( -- the statement reads the row of graph_exposures as it was before
           INSERT INTO trust_history (org_id, entity_id, day, score)
           SELECT written.org_id, written.entity_id, (written.as_of AT TIME ZONE 'UTC')::date, (written.trust::json ->> 'score')::double precision
           FROM written LEFT JOIN graph_exposures AS before ON before.org_id = written.org_id AND before.entity_id = written.entity_id
           WHERE before.trust IS NULL OR (before.trust::json ->> 'score') <> (written.trust::json ->> 'score')
           ORDER BY 1, 2 -- in key order, so that two statements cannot deadlock
           ON CONFLICT (org_id, entity_id, day) DO UPDATE SET score = excluded.score
         ) ${deleteExpiredLinks(rows, params)}`,
        params.values,
        { keepPlan: true },
      )
      const marks = new Params()
      const marked = rows.map(({ org_id, entity_id, summary }) => ({
        org_id,
        entity_id,
        mark: hash('sha256', summary),
      }))
      await database.query(
        `WITH due AS (
           INSERT INTO consequences (org_id, kind, entity_id, mark)
           SELECT written.org_id, 'reevaluation', written.entity_id, written.mark
           FROM ${unnestAs('written', marked, { org_id: 'text', entity_id: 'text', mark: 'text' }, marks)}
           WHERE ${hasDecision('written.org_id', 'written.entity_id')}
           ORDER BY written.org_id, written.entity_id
           ON CONFLICT (org_id, kind, entity_id) DO UPDATE SET mark = excluded.mark
         ) ${deleteCauses(done, marks)}`,
        marks.values,
        { keepPlan: true },
      )
    },

    /** Entities whose exposure was computed before an instant and is not queued for a refresh, oldest first. */
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

function recordsOf(rows: readonly RowOf<'graph_track_records'>[]): Map<string, StoredTrackRecord> {
  return new Map(
    rows.map(({ entity_id, tallies, is_adverse: isAdverse, version }) => [
      entity_id,
      { tallies: JSON.parse(tallies), isAdverse, version },
    ]),
  )
}

const linksKey = ({ organizationId, entityId, today }: LinksWanted) => `${organizationId} ${entityId} ${today}`

/** The links of some entities, and the newest step of each entity that was ever merged. */
interface LinksAndMerges {
  links: Map<string, FollowedLinks>
  mergeIds: Map<string, string>
}

/** The links of these entities that a walk follows on a day; the same selection as `selectLinks` makes. */
async function readFollowedLinks(
  database: Database,
  { organizationId, entityIds, today }: { organizationId: string; entityIds: readonly string[]; today: number },
): Promise<LinksAndMerges> {
  if (entityIds.length === 0) return { links: new Map(), mergeIds: new Map() }
  // `place` is the rank of the neighbour, `nth` the number of the link among those to the neighbour.
  const first = (filter = '') =>
    `SELECT *, dense_rank() OVER (ORDER BY first_rank) AS place FROM (
       SELECT *, min(rank) OVER (PARTITION BY neighbour_id) AS first_rank,
         row_number() OVER (PARTITION BY neighbour_id ORDER BY ${BY_KIND_AND_AGE}) AS nth
       FROM (
         SELECT *, row_number() OVER (ORDER BY ${BY_RANK}) AS rank FROM (
           SELECT neighbour_id, type, verified, base_ppm, since, claim FROM graph_links
           WHERE org_id = $1 AND graph_links.entity_id = wanted.entity_id AND expires > $3 ${filter}
           ORDER BY ${BY_RANK} LIMIT ${LINKS_SCANNED_MAX}
         ) AS scanned
       ) AS by_rank
     ) AS by_neighbour WHERE nth <= ${LINKS_PER_NEIGHBOUR_MAX}`
  const adverseOnward = `SELECT true AS found FROM graph_links AS onward
    WHERE link.place > ${FAN_OUT} AND onward.org_id = $1 AND onward.entity_id = link.neighbour_id AND onward.to_adverse
      AND onward.neighbour_id <> wanted.entity_id AND onward.expires > $3 LIMIT 1`
  // The same of the entities that the neighbour is merged with. What a forged step names is only looked at, and counts for nothing.
  const mergedOnward = `SELECT true AS found FROM ${newestMergeIfAny(`CASE WHEN link.place > ${FAN_OUT} AND onward.found IS NULL THEN link.neighbour_id END`)} AS newest
    JOIN entity_merges AS merge ON merge.org_id = $1 AND merge.id = newest.id
    CROSS JOIN LATERAL string_to_table(merge.members, ' ') AS member (id)
    CROSS JOIN LATERAL (SELECT FROM graph_links AS far
      WHERE far.org_id = $1 AND far.entity_id = member.id AND far.to_adverse
        AND far.neighbour_id <> wanted.entity_id AND far.expires > $3 LIMIT 1) AS far LIMIT 1`
  const rows = await database.query<SelectedLink | MergedAlone>(
    `SELECT selected.*, asked.entity_id AS asked_id, asked.merge_id, other.id AS other_merge_id,
       CASE WHEN verified THEN crowd.verified_holders ELSE crowd.holders END AS holders
     FROM (
       SELECT wanted.entity_id, link.*, coalesce(onward.found, merged_onward.found, false) AS is_near_adverse, false AS to_adverse
       FROM unnest($2::text[]) AS wanted (entity_id) CROSS JOIN LATERAL (${first()}) AS link
       LEFT JOIN LATERAL (${adverseOnward}) AS onward ON true
       LEFT JOIN LATERAL (${mergedOnward}) AS merged_onward ON true
       WHERE link.place <= ${FAN_OUT + BEYOND_FAN_OUT_MAX} OR onward.found OR merged_onward.found
       UNION ALL
       SELECT wanted.entity_id, link.*, false, true
       FROM unnest($2::text[]) AS wanted (entity_id) CROSS JOIN LATERAL (${first('AND to_adverse')}) AS link
       WHERE link.place <= ${FAN_OUT}
     ) AS selected
     LEFT JOIN graph_claims AS crowd ON selected.claim <> '' AND crowd.org_id = $1 AND crowd.claim = selected.claim
     -- Merged entities are one holder of an identifier that more than two have.
     LEFT JOIN LATERAL ${newestMergeIfAny('CASE WHEN crowd.holders > 2 THEN selected.neighbour_id END')} AS other ON true
     FULL JOIN (
       SELECT wanted.entity_id, merge.id AS merge_id FROM unnest($2::text[]) AS wanted (entity_id)
       CROSS JOIN LATERAL ${newestMergeIfAny('wanted.entity_id')} AS merge
     ) AS asked ON asked.entity_id = selected.entity_id`,
    [organizationId, entityIds, today],
    { keepPlan: true },
  )
  const byEntity = Map.groupBy(
    rows.filter((row): row is SelectedLink => row.entity_id !== null),
    ({ entity_id }) => entity_id,
  )
  const mergeIds = new Map<string, string>()
  for (const { asked_id, merge_id, neighbour_id, other_merge_id } of rows) {
    if (asked_id !== null) mergeIds.set(asked_id, merge_id!)
    if (other_merge_id !== null) mergeIds.set(neighbour_id!, other_merge_id)
  }
  return { links: new Map(entityIds.map((id) => [id, followedLinksOf(byEntity.get(id) ?? [])])), mergeIds }
}

/** `DELETE` of expired links; skips the rows that another transaction has locked. */
function deleteExpiredLinks(rows: readonly { as_of: string }[], params: Params): string {
  const today = Math.min(...rows.map(({ as_of }) => dayOf(as_of)))
  return `DELETE FROM graph_links USING (
      SELECT org_id, entity_id, neighbour_id, type, claim FROM graph_links WHERE expires <= ${params.add(today, 'integer')}
      ORDER BY expires LIMIT ${EXPIRED_PER_WRITE} FOR UPDATE SKIP LOCKED
    ) AS expired
    WHERE graph_links.org_id = expired.org_id AND graph_links.entity_id = expired.entity_id
      AND graph_links.neighbour_id = expired.neighbour_id AND graph_links.type = expired.type AND graph_links.claim = expired.claim`
}

/** A selected link with its rank and that of its neighbour, among all links of the entity or, with `to_adverse`, among the adverse. */
type SelectedLink = RowOf<'graph_links'> &
  Merges & { rank: number; place: number; is_near_adverse: boolean; holders: number | null }

/** The newest step of the entity whose link it is, and that of its neighbour. */
type Merges = Row & Record<'asked_id' | 'merge_id' | 'other_merge_id', string | null>

/** A merged entity without links. */
type MergedAlone = Merges & { [column in keyof RowOf<'graph_links'>]: null }

function followedLinksOf(rows: readonly SelectedLink[]): FollowedLinks {
  const byRank = rows.toSorted((a, b) => a.rank - b.rank)
  const linksWhere = (isWanted: (row: SelectedLink) => boolean) => byRank.filter(isWanted).map(linkOfRow)
  const near = new Set(byRank.filter((row) => row.is_near_adverse).map(({ place }) => place))
  const firstNear = new Set([...near].sort((a, b) => a - b).slice(0, FAN_OUT))
  return {
    ranked: linksWhere(({ to_adverse, place }) => !to_adverse && place <= FAN_OUT),
    adverse: linksWhere(({ to_adverse }) => to_adverse),
    nearAdverse: linksWhere(({ is_near_adverse, place }) => is_near_adverse && firstNear.has(place)),
    beyondFanOut: linksWhere(
      ({ to_adverse, place }) => !to_adverse && place > FAN_OUT && place <= FAN_OUT + BEYOND_FAN_OUT_MAX,
    ),
  }
}

function linkOfRow({ neighbour_id, type, verified, base_ppm, since, claim, holders }: SelectedLink): Link {
  const link = { neighbour: neighbour_id, type: type as LinkType, verified, basePpm: base_ppm, since }
  return { ...link, ...(claim !== '' && { claim }), ...(holders !== null && { holders }) }
}
