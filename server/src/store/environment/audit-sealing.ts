import type { NodePosition } from '../../core/audit/merkle-tree.ts'
import { type Database, DatabaseError, type Row } from '../database/database.ts'
import { insertRows, ofOrganization, Params, type RowOf, unnestAs } from '../schema/tables.ts'
import type { EventRow } from '../write-path/record.ts'
import { fanOutEvents } from '../write-path/webhook-statements.ts'

/** A pending audit entry. */
export type EntryToSeal = Pick<RowOf<'audit_entries'>, 'org_id' | 'id' | 'trail_id' | 'leaf_hash' | 'mac'> & {
  seq: number
}

/** Where to go on reading an organization's pending entries: after this one. */
export type PendingCursor = Pick<EntryToSeal, 'org_id' | 'trail_id' | 'seq'>

/** The newest signed head of a log, and when a head of it was announced last; null if there is none. */
export interface LogEnd {
  org_id: string
  head: RowOf<'audit_heads'> | null
  announced_at: string | null
}

/** Everything that sealing a batch of one organization's entries writes. */
export interface Seal {
  organizationId: string
  sealed: readonly Pick<EntryToSeal, 'trail_id' | 'seq'>[]
  leaves: Omit<RowOf<'audit_leaves'>, 'org_id'>[]
  nodes: Omit<RowOf<'audit_nodes'>, 'org_id'>[]
  head: Omit<RowOf<'audit_heads'>, 'org_id'>
  /** The event that announces the head, unless one was announced a short while ago. */
  event?: EventRow
}

/** The announcement of a head that was signed before. */
export type Announcement = Required<Pick<Seal, 'organizationId' | 'event'>> & { head: Seal['head'] }

/** The queries of the sealer. Each works on many organizations at once, because 500 may be active at a time. */
export function auditSealingQueries(database: Database) {
  return {
    /** Organizations with pending entries. */
    async organizations(): Promise<string[]> {
      const rows = await database.query<{ org_id: string }>('SELECT DISTINCT org_id FROM audit_pending')
      return rows.map((row) => row.org_id)
    },

    /** Pending entries after each cursor, in the order of each trail, so that leaves keep that order. */
    async entries(after: readonly PendingCursor[], limitEach: number): Promise<EntryToSeal[]> {
      // Materialized: otherwise the planner may scan the whole log instead of looking the pending entries up by key.
      return database.query<EntryToSeal & Row>(
        `WITH pending AS MATERIALIZED (
           SELECT waiting.* FROM unnest($1::text[], $2::text[], $3::bigint[]) AS wanted (org_id, trail_id, seq)
           CROSS JOIN LATERAL (SELECT * FROM audit_pending AS each WHERE each.org_id = wanted.org_id
             AND (each.trail_id, each.seq) > (wanted.trail_id, wanted.seq) ORDER BY each.trail_id, each.seq LIMIT $4) AS waiting
         )
         SELECT entry.org_id, entry.id, entry.trail_id, entry.seq, entry.leaf_hash, entry.mac FROM pending
         JOIN audit_entries AS entry ON entry.org_id = pending.org_id AND entry.trail_id = pending.trail_id AND entry.seq = pending.seq
           AND entry.id = pending.entry_id
         ORDER BY pending.org_id, pending.trail_id, pending.seq`,
        [
          after.map(({ org_id }) => org_id),
          after.map(({ trail_id }) => trail_id),
          after.map(({ seq }) => seq),
          limitEach,
        ],
      )
    },

    /** The end of each organization's log, in the order of the ids. */
    async logEnds(organizationIds: readonly string[]): Promise<LogEnd[]> {
      const rows = await database.query<
        RowOf<'audit_heads'> & Row & { organization: string; announced_at: string | null }
      >(
        `SELECT wanted.org_id AS organization, announced.announced_at, head.*
         FROM unnest($1::text[]) WITH ORDINALITY AS wanted (org_id, ordinality)
         LEFT JOIN LATERAL (SELECT * FROM audit_heads WHERE audit_heads.org_id = wanted.org_id ORDER BY tree_size DESC LIMIT 1) AS head ON true
         LEFT JOIN audit_announced AS announced ON announced.org_id = wanted.org_id
         ORDER BY wanted.ordinality`,
        [organizationIds],
      )
      return rows.map(({ organization, announced_at, ...head }) => ({
        org_id: organization,
        head: head.org_id === null ? null : head,
        announced_at,
      }))
    },

    /** The hashes of complete subtrees of one organization's tree, in the order of `positions`; level 0 are the leaves. */
    nodeHashes(organizationId: string, positions: readonly NodePosition[]): Promise<string[]> {
      return readNodeHashes(database, ofOrganization(organizationId, positions))
    },

    /** The hashes of complete subtrees of several trees, in the order of `positions`. */
    nodeHashesOf(positions: readonly (NodePosition & { org_id: string })[]): Promise<string[]> {
      return readNodeHashes(database, positions)
    },

    /** Writes seals in one statement; false, with nothing written, if another sealer wrote one of them first. */
    async seal(seals: readonly Seal[]): Promise<boolean> {
      const params = new Params()
      const all = <R extends object>(rowsOf: (seal: Seal) => readonly R[]) =>
        seals.flatMap((seal) => ofOrganization(seal.organizationId, rowsOf(seal)))
      const announced = seals.filter(({ event }) => event !== undefined) as Announcement[]
      const leaves = all((seal) => seal.leaves)
      const steps = [
        `leaves AS (${insertRows('audit_leaves', leaves, params)})`,
        `nodes AS (${insertRows(
          'audit_nodes',
          all((seal) => seal.nodes),
          params,
        )})`,
        `heads AS (${insertRows(
          'audit_heads',
          all(({ head }) => [head]),
          params,
        )})`,
        ...announcing(announced, params),
        `sealed AS (${deletePending(
          all((seal) => seal.sealed),
          params,
        )})`,
      ]
      const expected = params.add(leaves.length, 'bigint')
      return written(
        database,
        `WITH ${steps.join(', ')} SELECT require_rows((SELECT count(*) FROM sealed), ${expected}, 'audit_pending')`,
        params,
      )
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
      return written(
        database,
        `WITH ${steps.join(', ')} SELECT require_rows((SELECT count(*) FROM announced), ${expected}, 'audit_announced')`,
        params,
      )
    },
  }
}

async function readNodeHashes(
  database: Database,
  positions: readonly (NodePosition & { org_id: string })[],
): Promise<string[]> {
  if (positions.length === 0) return []
  const rows = await database.query<{ hash: string }>(
    `SELECT coalesce(node.hash, leaf.leaf_hash) AS hash
     FROM unnest($1::text[], $2::integer[], $3::bigint[]) WITH ORDINALITY AS wanted (org_id, level, index, ordinality)
     LEFT JOIN audit_nodes AS node ON node.org_id = wanted.org_id AND node.level = wanted.level AND node.index = wanted.index
     LEFT JOIN audit_leaves AS leaf ON leaf.org_id = wanted.org_id AND wanted.level = 0 AND leaf.leaf_index = wanted.index
     ORDER BY wanted.ordinality`,
    [positions.map(({ org_id }) => org_id), positions.map(({ level }) => level), positions.map(({ index }) => index)],
  )
  return rows.map((row) => row.hash)
}

/** Runs a statement; false if a concurrent sealer was first, so that nothing was written. */
async function written(database: Database, sql: string, params: Params): Promise<boolean> {
  try {
    await database.query(sql, params.values)
    return true
  } catch (error) {
    if (error instanceof DatabaseError && (error.isUniqueViolation || error.isTransient || error.code === 'VG001'))
      return false
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

function deletePending(sealed: readonly PendingCursor[], params: Params): string {
  return `DELETE FROM audit_pending AS pending
    USING ${unnestAs('sealed', sealed, { org_id: 'text', trail_id: 'text', seq: 'bigint' }, params)}
    WHERE pending.org_id = sealed.org_id AND pending.trail_id = sealed.trail_id AND pending.seq = sealed.seq RETURNING 1`
}
