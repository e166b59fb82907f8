import type { FlushMacInput } from '../../core/audit/entry-mac.ts'
import { BLOCK_LEAVES, BLOCK_LEVEL, hashesIn } from '../../core/audit/merkle-tree.ts'
import type { StoredLeaf } from '../../core/audit/stored-blocks.ts'
import type { LogPage } from '../../core/audit/verify-log.ts'
import type { Database, Row } from '../database/database.ts'
import type { RowOf } from '../schema/tables.ts'
import { countOf, eachIdOf, idAt, idsIn } from '../write-path/entry-list.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { entryOf, LEAF } from './stored-entry.ts'

/**
 * The most leaves or entries that one statement of a verification reads. The embedded database has one connection, so
 * requests wait for such a statement. It also has no statistics, so each page looks its other rows up with `LATERAL …
 * LIMIT 1`: with joins the planner read the whole log for each page (200 of 3,000 leaves: 213 ms, now 47 ms, machine busy).
 */
const ROWS_PER_READ = 100

/** A leaf as it is stored, with the copy of its hash that its entry has, and whether the entry names this place. */
export type VerifiedLeaf = StoredLeaf & { isNamed: boolean }

/** The list of the entries that one statement wrote on a log, once these have their leaves. */
export type SealedFlush = FlushMacInput & { flush: number; first_leaf: number; mac: Uint8Array }

/** An entry on its trail, with its leaf if it is sealed; `is_queued` says that it waits for the sealer. */
export type EntryOnTrail = RowOf<'audit_entries'> & {
  seq: number
  leaf_index: number | null
  sealed_hash: string | null
  is_queued: boolean
}

/** The reads of a verification of the audit log, each in pages: memory is bounded, and requests get their turn. */
export function auditVerificationQueries(database: Database) {
  return {
    /**
     * The size of the log in one snapshot. Leaves and heads are written together, so both end at this size unless rows
     * were tampered with.
     */
    async logSize(organizationId: string): Promise<number> {
      const [row] = await database.query<{ size: number | null }>(
        `SELECT greatest((SELECT max(tree_size) FROM audit_heads WHERE org_id = $1), (SELECT first_leaf + ${countOf('audit_flushes')}
           FROM audit_flushes WHERE org_id = $1 ORDER BY first_leaf DESC LIMIT 1)) AS size`,
        [organizationId],
      )
      return row?.size ?? 0
    },

    /** The leaves of an organization's log up to a size, with their entries and the heads over them. */
    async *pages(
      organizationId: string,
      sizeMax: number,
    ): AsyncGenerator<LogPage & { leaves: readonly VerifiedLeaf[]; flushes: readonly SealedFlush[] }> {
      // From the lowest number that is read exactly, because SQL can drop the check that no leaf is negative.
      let headAfter = Number.MIN_SAFE_INTEGER
      for (let from = Number.MIN_SAFE_INTEGER; ; ) {
        const flushes = await readFlushes(database, { organizationId, from, sizeMax })
        const isLast = flushes.length === 0
        const leaves = await readLeaves(database, organizationId, flushes)
        const headMax = isLast ? sizeMax : lastLeafOf(flushes) + 1
        let heads = await readHeads(database, { organizationId, after: headAfter, sizeMax: headMax })
        yield { flushes, leaves: leaves.filter(({ leafIndex }) => leafIndex < sizeMax), heads }
        // More heads than leaves: the log was cut off, or heads were inserted.
        while (heads.length === ROWS_PER_READ) {
          heads = await readHeads(database, { organizationId, after: heads.at(-1)!.tree_size, sizeMax: headMax })
          yield { flushes: [], leaves: [], heads }
        }
        if (isLast) return
        headAfter = headMax
        from = flushes.at(-1)!.first_leaf
      }
    },

    /** All entries of an organization, sealed or not, in the order of their trails. */
    async *entriesByTrail(organizationId: string): AsyncGenerator<EntryOnTrail[]> {
      let [trail, seq]: [string, number] = ['', -1]
      for (;;) {
        const rows = await database.query<EntryOnTrail & Row>(
          `WITH entry AS MATERIALIZED (SELECT * FROM audit_entries WHERE org_id = $1 AND (trail_id, seq) > ($2, $3) ORDER BY trail_id, seq LIMIT $4)
           SELECT ${ENTRY_COLUMNS}, entry.seq, ${LEAF},
             EXISTS (SELECT FROM audit_pending WHERE org_id = $1 AND flush = entry.flush
               AND ${idAt('audit_pending', 'entry.place')} = entry.id) AS is_queued
           FROM entry
           LEFT JOIN LATERAL (SELECT * FROM audit_flushes WHERE org_id = $1 AND flush = entry.flush
             AND ${idAt('audit_flushes', 'entry.place')} = entry.id LIMIT 1) AS flush ON true
           ORDER BY entry.trail_id, entry.seq`,
          [organizationId, trail, seq, ROWS_PER_READ],
        )
        yield rows
        if (rows.length < ROWS_PER_READ) return
        ;({ trail_id: trail, seq } = rows.at(-1)!)
      }
    },

    /** Ids of entries that are listed for the sealer, but do not exist. */
    async queuedWithoutEntry(organizationId: string): Promise<string[]> {
      const rows = await database.query<{ entry_id: string }>(
        `SELECT listed.id AS entry_id FROM audit_pending AS pending CROSS JOIN LATERAL ${eachIdOf('pending')} AS listed
         LEFT JOIN audit_entries AS entry ON entry.org_id = pending.org_id AND entry.id = listed.id
         WHERE pending.org_id = $1 AND entry.id IS NULL ORDER BY listed.id LIMIT 100`,
        [organizationId],
      )
      return rows.map((row) => row.entry_id)
    },

    /** A batch of leaf hashes from the index `from` on, up to a size. */
    async leafHashes(organizationId: string, from: number, sizeMax: number): Promise<string[]> {
      const flushes = await readFlushes(database, { organizationId, from: from - 1, sizeMax })
      return flushes.flatMap(({ leaf_hashes }) => hashesIn(leaf_hashes)).slice(0, sizeMax - from)
    },
  }
}

/** The lists of entries whose first leaf comes after `from`: as many as have about `ROWS_PER_READ` leaves. */
async function readFlushes(
  database: Database,
  { organizationId, from, sizeMax }: { organizationId: string; from: number; sizeMax: number },
): Promise<SealedFlush[]> {
  const rows = await database.query<Omit<SealedFlush, 'entry_ids'> & { entry_ids: string } & Row>(
    `SELECT org_id, flush, first_leaf, entry_ids, leaf_hashes, mac FROM (
       SELECT *, sum(${countOf('next')}) OVER (ORDER BY first_leaf) - ${countOf('next')} AS leaves_before FROM (
         SELECT * FROM audit_flushes WHERE org_id = $1 AND first_leaf > $2 AND first_leaf < $3 ORDER BY first_leaf LIMIT $4
       ) AS next
     ) AS counted WHERE leaves_before < $4 ORDER BY first_leaf`,
    [organizationId, from, sizeMax, ROWS_PER_READ],
  )
  return rows.map((row) => ({ ...row, entry_ids: idsIn(row.entry_ids) }))
}

function lastLeafOf(flushes: readonly SealedFlush[]): number {
  const { first_leaf, entry_ids } = flushes.at(-1)!
  return first_leaf + entry_ids.length - 1
}

/** The leaves of lists of entries, each with its entry if that is stored. */
async function readLeaves(
  database: Database,
  organizationId: string,
  flushes: readonly SealedFlush[],
): Promise<VerifiedLeaf[]> {
  const leaves = flushes.flatMap(({ flush, first_leaf, entry_ids, leaf_hashes }) => {
    const hashes = hashesIn(leaf_hashes)
    return entry_ids.map((entryId, place) => ({
      flush,
      place,
      leafIndex: first_leaf + place,
      entryId,
      leafHash: hashes[place] ?? '',
    }))
  })
  const rows = await database.query<Row & RowOf<'audit_entries'> & { flush: number; place: number }>(
    `SELECT ${ENTRY_COLUMNS}, entry.flush, entry.place
     FROM unnest($2::text[]) WITH ORDINALITY AS leaf (entry_id, ordinality)
     LEFT JOIN LATERAL (SELECT * FROM audit_entries WHERE org_id = $1 AND id = leaf.entry_id LIMIT 1) AS entry ON true
     ORDER BY leaf.ordinality`,
    [organizationId, leaves.map(({ entryId }) => entryId)],
  )
  const blockHashes = await readBlockHashes(database, organizationId, leaves)
  return leaves.map(({ flush, place, ...leaf }, index) => {
    const row = rows[index]!
    const isStored = row.id !== null
    return {
      ...leaf,
      entry: isStored ? entryOf(row) : null,
      isNamed: row.flush === flush && row.place === place,
      flush: isStored ? row.flush : flush,
      place: isStored ? row.place : place,
      blockHash: blockHashes.get(blockOf(leaf)) ?? null,
    }
  })
}

function blockOf({ leafIndex }: { leafIndex: number }): number {
  return Math.floor(leafIndex / BLOCK_LEAVES)
}

/** The stored nodes over the blocks of leaves, by the index of the block. */
async function readBlockHashes(
  database: Database,
  organizationId: string,
  leaves: readonly { leafIndex: number }[],
): Promise<Map<number, string>> {
  const rows = await database.query<{ index: number; hash: string }>(
    `SELECT index, encode(hash, 'hex') AS hash FROM audit_nodes WHERE org_id = $1 AND level = ${BLOCK_LEVEL} AND index = ANY($2::bigint[])`,
    [organizationId, [...new Set(leaves.map(blockOf))]],
  )
  return new Map(rows.map(({ index, hash }) => [index, hash]))
}

async function readHeads(
  database: Database,
  { organizationId, after, sizeMax }: { organizationId: string; after: number; sizeMax: number },
): Promise<RowOf<'audit_heads'>[]> {
  return database.query<RowOf<'audit_heads'> & Row>(
    'SELECT * FROM audit_heads WHERE org_id = $1 AND tree_size > $2 AND tree_size <= $3 ORDER BY tree_size LIMIT $4',
    [organizationId, after, sizeMax, ROWS_PER_READ],
  )
}
