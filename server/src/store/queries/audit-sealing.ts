import type { NodePosition } from '../../core/audit/merkle-tree.ts'
import { type Database, DatabaseError, type Row } from '../database/database.ts'
import { insertRows, type NewRow, ofOrganization, Params, type RowOf } from '../schema/tables.ts'
import type { EventRow } from '../write-path/record.ts'
import { fanOutEvents } from '../write-path/webhook-statements.ts'

/** A pending audit entry. */
export type EntryToSeal = Pick<RowOf<'audit_entries'>, 'id' | 'trail_id' | 'leaf_hash'> & { seq: number }

/** Everything that sealing a batch of one organization's entries writes. */
export interface Seal {
  organizationId: string
  sealed: readonly Pick<EntryToSeal, 'trail_id' | 'seq'>[]
  leaves: NewRow<'audit_leaves'>[]
  nodes: NewRow<'audit_nodes'>[]
  head: NewRow<'audit_heads'>
  event: EventRow
}

/** The queries of the sealer. */
export function auditSealingQueries(database: Database) {
  return {
    /** Organizations with pending entries. */
    async organizationsToSeal(): Promise<string[]> {
      const rows = await database.query<{ org_id: string }>('SELECT DISTINCT org_id FROM audit_pending')
      return rows.map((row) => row.org_id)
    },

    /** Pending entries of an organization, in the order of each trail, so that leaves keep that order. */
    async entriesToSeal(organizationId: string, limit: number): Promise<EntryToSeal[]> {
      // Materialized: otherwise the planner may scan the whole log instead of looking the pending entries up by key.
      return database.query<EntryToSeal & Row>(
        `WITH pending AS MATERIALIZED (SELECT * FROM audit_pending WHERE org_id = $1 ORDER BY trail_id, seq LIMIT $2)
         SELECT entry.id, entry.trail_id, entry.seq, entry.leaf_hash FROM pending
         JOIN audit_entries AS entry ON entry.org_id = pending.org_id AND entry.trail_id = pending.trail_id AND entry.seq = pending.seq
           AND entry.id = pending.entry_id
         ORDER BY pending.trail_id, pending.seq`,
        [organizationId, limit],
      )
    },

    /** The hashes of complete subtrees, in the order of `positions`; level 0 are the leaves. */
    async nodeHashes(organizationId: string, positions: readonly NodePosition[]): Promise<string[]> {
      if (positions.length === 0) return []
      const rows = await database.query<{ hash: string }>(
        `SELECT coalesce(node.hash, leaf.leaf_hash) AS hash
         FROM unnest($1::text[], $2::integer[], $3::bigint[]) WITH ORDINALITY AS wanted (org_id, level, index, ordinality)
         LEFT JOIN audit_nodes AS node ON node.org_id = wanted.org_id AND node.level = wanted.level AND node.index = wanted.index
         LEFT JOIN audit_leaves AS leaf ON leaf.org_id = wanted.org_id AND wanted.level = 0 AND leaf.leaf_index = wanted.index
         ORDER BY wanted.ordinality`,
        [positions.map(() => organizationId), positions.map(({ level }) => level), positions.map(({ index }) => index)],
      )
      return rows.map((row) => row.hash)
    },

    /** Writes a seal in one statement; false if another sealer wrote these leaves first. */
    async seal({ organizationId, sealed, leaves, nodes, head, event }: Seal): Promise<boolean> {
      const params = new Params()
      const own = <R extends object>(rows: readonly R[]) => ofOrganization(organizationId, rows)
      const steps = [
        `leaves AS (${insertRows('audit_leaves', own(leaves), params)})`,
        `nodes AS (${insertRows('audit_nodes', own(nodes), params)})`,
        `head AS (${insertRows('audit_heads', own([head]), params)})`,
        `event AS (${insertRows('events', own([event]), params)})`,
        `deliveries AS (${fanOutEvents(own([event]), params)})`,
        `sealed AS (${deletePending(organizationId, sealed, params)})`,
      ]
      const expected = params.add(leaves.length, 'bigint')
      try {
        await database.query(
          `WITH ${steps.join(', ')} SELECT require_rows((SELECT count(*) FROM sealed), ${expected}, 'audit_pending')`,
          params.values,
        )
        return true
      } catch (error) {
        if (error instanceof DatabaseError && (error.isUniqueViolation || error.code === 'VG001')) return false
        throw error
      }
    },
  }
}

function deletePending(organizationId: string, sealed: Seal['sealed'], params: Params): string {
  const organizations = params.add(
    sealed.map(() => organizationId),
    'text[]',
  )
  const trails = params.add(
    sealed.map((entry) => entry.trail_id),
    'text[]',
  )
  const seqs = params.add(
    sealed.map((entry) => entry.seq),
    'bigint[]',
  )
  return `DELETE FROM audit_pending AS pending USING unnest(${organizations}, ${trails}, ${seqs}) AS sealed (org_id, trail_id, seq)
    WHERE pending.org_id = sealed.org_id AND pending.trail_id = sealed.trail_id AND pending.seq = sealed.seq RETURNING 1`
}
