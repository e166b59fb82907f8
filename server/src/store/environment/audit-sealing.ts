import type { NodePosition, TreeNode } from '../../core/audit/merkle-tree.ts'
import { type Database, DatabaseError, type Row } from '../database/database.ts'
import { TIMELINE } from '../database/find-primary.ts'
import { insertRows, ofOrganization, Params, type RowOf, unnestAs } from '../schema/tables.ts'
import { countOf, eachIdOf, idsIn } from '../write-path/entry-list.ts'
import type { EventRow } from '../write-path/record.ts'
import { fanOutEvents } from '../write-path/webhook-statements.ts'
import { type PositionInLog, readNodeHashes } from './tree-nodes.ts'

/** The entries of one statement on one log that wait for their leaves. */
export interface FlushToSeal {
  org_id: string
  flush: number
  entry_ids: string[]
  leaf_hashes: Uint8Array
  mac: Uint8Array
  /** Whether an entry names this statement; a copy of another list has none. */
  is_named: boolean
  /** Whether it had leaves before: as many are missing beside those of the statements around it. */
  was_sealed: boolean
}

/** Where to go on reading what waits on an organization's log: after this statement. */
export type PendingCursor = Pick<FlushToSeal, 'org_id' | 'flush'>

/** The newest signed head of a log, and when a head of it was announced last; null if there is none. */
export interface LogEnd {
  org_id: string
  head: RowOf<'audit_heads'> | null
  /** How many leaves the stored lists reach to; as many as the head covers, unless rows were altered. */
  leaves: number
  announced_at: string | null
  /** The timeline of the database. */
  timeline: string
}

/** Everything that sealing the entries of some statements on one log writes. */
export interface Seal {
  organizationId: string
  sealed: readonly { flush: number; first_leaf: number }[]
  nodes: readonly TreeNode[]
  head: Omit<RowOf<'audit_heads'>, 'org_id'>
  /** The event that announces the head, unless one was announced a short while ago. */
  event?: EventRow
}

/** The announcement of a head that was signed before. */
export type Announcement = Required<Pick<Seal, 'organizationId' | 'event'>> & { head: Seal['head'] }

/**
 * SQL: whether leaves are missing beside those of the next statement that is sealed, so that `waiting`, which is earlier,
 * must have had them. Statements may commit in another order than that of their numbers: most of those that come late had none.
 * Statements are sealed nearly in their order, so the leaves are missing close by if at all; `audit verify` finds the others.
 */
const WAS_SEALED = `EXISTS (SELECT 1 FROM (
    SELECT first_leaf FROM audit_flushes AS each WHERE each.org_id = waiting.org_id AND each.flush > waiting.flush
      ORDER BY each.flush LIMIT 1) AS next
  CROSS JOIN LATERAL (
    (SELECT first_leaf FROM audit_flushes AS each WHERE each.org_id = waiting.org_id AND each.first_leaf <= next.first_leaf
      ORDER BY each.first_leaf DESC LIMIT 500)
    UNION ALL
    (SELECT first_leaf FROM audit_flushes AS each WHERE each.org_id = waiting.org_id AND each.first_leaf > next.first_leaf
      ORDER BY each.first_leaf LIMIT 500)) AS beside
  WHERE beside.first_leaf - ${countOf('waiting')} >= coalesce((
    SELECT each.first_leaf + ${countOf('each')} FROM audit_flushes AS each
    WHERE each.org_id = waiting.org_id AND each.first_leaf < beside.first_leaf ORDER BY each.first_leaf DESC LIMIT 1), 0))`

/** The queries of the sealer. Each works on many organizations at once, because 500 may be active at a time. */
export function auditSealingQueries(database: Database) {
  return {
    /** Organizations with entries that wait for their leaves. */
    async organizations(): Promise<string[]> {
      const rows = await database.query<{ org_id: string }>('SELECT DISTINCT org_id FROM audit_pending')
      return rows.map((row) => row.org_id)
    },

    /**
     * What waits after each cursor, in the order of the statements, which keeps the order of every trail.
     *
     * Entries and sealed lists are looked up by scalar subqueries: PostgreSQL takes a list to name a thousand entries, and for as
     * many it read a log of some ten thousand entries from end to end, for each list that waited.
     */
    async pending(after: readonly PendingCursor[], limitEach: number): Promise<FlushToSeal[]> {
      const rows = await database.query<Omit<FlushToSeal, 'entry_ids'> & { entry_ids: string } & Row>(
        `SELECT waiting.org_id, waiting.flush, waiting.entry_ids, waiting.leaf_hashes, waiting.mac, EXISTS (
             SELECT FROM ${eachIdOf('waiting')} AS named WHERE waiting.flush = (
               SELECT flush FROM audit_entries AS entry WHERE entry.org_id = waiting.org_id AND entry.id = named.id)) AS is_named,
           coalesce(
             (SELECT true FROM audit_flushes AS each WHERE each.org_id = waiting.org_id AND each.flush = waiting.flush),
             waiting.flush < last.flush AND ${WAS_SEALED}, false) AS was_sealed
         FROM unnest($1::text[], $2::bigint[]) AS wanted (org_id, flush)
         LEFT JOIN LATERAL (SELECT flush FROM audit_flushes AS each WHERE each.org_id = wanted.org_id
           ORDER BY each.first_leaf DESC LIMIT 1) AS last ON true
         CROSS JOIN LATERAL (SELECT * FROM audit_pending AS each WHERE each.org_id = wanted.org_id
           AND each.flush > wanted.flush ORDER BY each.flush LIMIT $3) AS waiting
         ORDER BY waiting.org_id, waiting.flush`,
        [after.map(({ org_id }) => org_id), after.map(({ flush }) => flush), limitEach],
      )
      return rows.map((row) => ({ ...row, entry_ids: idsIn(row.entry_ids) }))
    },

    /** The end of each organization's log, in the order of the ids. */
    async logEnds(organizationIds: readonly string[]): Promise<LogEnd[]> {
      const rows = await database.query<
        RowOf<'audit_heads'> &
          Row & { organization: string; leaves: number | null } & Pick<LogEnd, 'announced_at' | 'timeline'>
      >(
        `SELECT wanted.org_id AS organization, announced.announced_at, ${TIMELINE} AS timeline, head.*, (
             SELECT each.first_leaf + ${countOf('each')} FROM audit_flushes AS each
             WHERE each.org_id = wanted.org_id ORDER BY each.first_leaf DESC LIMIT 1) AS leaves
         FROM unnest($1::text[]) WITH ORDINALITY AS wanted (org_id, ordinality)
         LEFT JOIN LATERAL (SELECT * FROM audit_heads WHERE audit_heads.org_id = wanted.org_id ORDER BY tree_size DESC LIMIT 1) AS head ON true
         LEFT JOIN audit_announced AS announced ON announced.org_id = wanted.org_id
         ORDER BY wanted.ordinality`,
        [organizationIds],
      )
      return rows.map(({ organization, leaves, announced_at, timeline, ...head }) => ({
        org_id: organization,
        head: head.org_id === null ? null : head,
        leaves: leaves ?? 0,
        announced_at,
        timeline,
      }))
    },

    /** The hashes of complete subtrees of one organization's tree, see `readNodeHashes`. */
    nodeHashes(organizationId: string, positions: readonly NodePosition[]): Promise<string[]> {
      return readNodeHashes(database, ofOrganization(organizationId, positions))
    },

    /** The hashes of complete subtrees of several trees. */
    nodeHashesOf(positions: readonly PositionInLog[]): Promise<string[]> {
      return readNodeHashes(database, positions)
    },

    /**
     * Writes seals in one statement, and returns the timeline of the database that has them; undefined, with nothing written, if
     * another sealer wrote one of them first.
     */
    async seal(seals: readonly Seal[]): Promise<string | undefined> {
      const params = new Params()
      const all = <R extends object>(rowsOf: (seal: Seal) => readonly R[]) =>
        seals.flatMap((seal) => ofOrganization(seal.organizationId, rowsOf(seal)))
      const announced = seals.filter(({ event }) => event !== undefined) as Announcement[]
      const sealed = all((seal) => seal.sealed)
      const steps = [
        `nodes AS (${insertRows(
          'audit_nodes',
          all((seal) => seal.nodes.map((node) => ({ ...node, hash: Buffer.from(node.hash, 'hex') }))),
          params,
        )})`,
        `heads AS (${insertRows(
          'audit_heads',
          all(({ head }) => [head]),
          params,
        )})`,
        ...announcing(announced, params),
        ...givingLeaves(sealed, params),
      ]
      const expected = params.add(sealed.length, 'bigint')
      const rows = await written<{ timeline: string }>(
        database,
        `WITH ${steps.join(', ')}
         SELECT ${TIMELINE} AS timeline, require_rows((SELECT count(*) FROM sealed), ${expected}, 'audit_pending')`,
        params,
      )
      return rows?.[0]?.timeline
    },

    /** Logs whose newest head was not announced, although the last announcement was at `before` or earlier. */
    async headsToAnnounce(before: string, limit: number): Promise<RowOf<'audit_heads'>[]> {
      return database.query<RowOf<'audit_heads'> & Row>(
        `SELECT head.* FROM audit_announced AS announced
         CROSS JOIN LATERAL (SELECT * FROM audit_heads WHERE audit_heads.org_id = announced.org_id ORDER BY tree_size DESC LIMIT 1) AS head
         WHERE announced.announced_at <= $1 AND head.tree_size > announced.tree_size LIMIT $2`,
        [before, limit],
      )
    },

    /** Writes the events of heads that were signed before; false if another sealer announced one of them first. */
    async announce(announcements: readonly Announcement[]): Promise<boolean> {
      const params = new Params()
      const steps = announcing(announcements, params)
      const expected = params.add(announcements.length, 'bigint')
      const rows = await written(
        database,
        `WITH ${steps.join(', ')} SELECT require_rows((SELECT count(*) FROM announced), ${expected}, 'audit_announced')`,
        params,
      )
      return rows !== undefined
    },
  }
}

/** Runs a statement; undefined if a concurrent sealer was first, so that nothing was written. */
async function written<R extends Row>(database: Database, sql: string, params: Params): Promise<R[] | undefined> {
  try {
    return await database.query<R>(sql, params.values)
  } catch (error) {
    if (error instanceof DatabaseError && (error.isUniqueViolation || error.isTransient || error.code === 'VG001'))
      return undefined
    throw error
  }
}

/** The steps that write the events of heads, queue their deliveries, and note which heads were announced. */
function announcing(announcements: readonly Announcement[], params: Params): string[] {
  if (announcements.length === 0) return []
  const events = announcements.flatMap(({ organizationId, event }) => ofOrganization(organizationId, [event]))
  const rows = announcements.flatMap(({ organizationId, head, event }) =>
    ofOrganization(organizationId, [{ tree_size: head.tree_size, announced_at: event.created_at }]),
  )
  return [
    `events AS (${insertRows('events', events, params)})`,
    `deliveries AS (${fanOutEvents(events, params)})`,
    `announced AS (${insertRows('audit_announced', rows, params)}
      ON CONFLICT (org_id) DO UPDATE SET tree_size = excluded.tree_size, announced_at = excluded.announced_at
        WHERE audit_announced.tree_size < excluded.tree_size RETURNING 1)`,
  ]
}

/** The steps that move what waited to the sealed lists, each with its first leaf. */
function givingLeaves(
  sealed: readonly { org_id: string; flush: number; first_leaf: number }[],
  params: Params,
): string[] {
  const columns = { org_id: 'text', flush: 'bigint', first_leaf: 'bigint' }
  return [
    `taken AS (DELETE FROM audit_pending AS pending USING ${unnestAs('given', sealed, columns, params)}
      WHERE pending.org_id = given.org_id AND pending.flush = given.flush RETURNING pending.*, given.first_leaf)`,
    `sealed AS (INSERT INTO audit_flushes (flush, first_leaf, org_id, entry_ids, leaf_hashes, mac)
      SELECT flush, first_leaf, org_id, entry_ids, leaf_hashes, mac FROM taken ORDER BY org_id, first_leaf RETURNING 1)`,
  ]
}
