import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

/** An erasure, and what the log says of it. */
export type Erasure = RowOf<'erasures'> & {
  /** Whether this service wrote its entry, about this entity: a row that was inserted with SQL erases nothing. */
  is_confirmed: boolean
  /** Whether the entry has its leaf on the log. */
  is_sealed: boolean
}

const COLUMNS = columnsOf('erasures')
  .map((column) => `erasure.${column}`)
  .join(', ')

/** Reads of erasures. */
export function erasureQueries(database: Database, isAuthentic: IsAuthentic) {
  /** Adds what the log says to erasures. */
  async function confirmed(rows: readonly RowOf<'erasures'>[]): Promise<Erasure[]> {
    if (rows.length === 0) return []
    const entries = await database.query<StoredEntry & Row>(
      `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf
       FROM unnest($1::text[], $2::text[]) AS wanted (org_id, id)
       CROSS JOIN LATERAL (SELECT * FROM audit_entries AS each WHERE each.org_id = wanted.org_id AND each.id = wanted.id LIMIT 1) AS entry`,
      [rows.map(({ org_id }) => org_id), rows.map(({ entry_id }) => entry_id)],
    )
    const byId = new Map(entries.map((entry) => [`${entry.org_id} ${entry.id}`, entry]))
    return rows.map((row) => {
      const entry = byId.get(`${row.org_id} ${row.entry_id}`)
      const isAbout =
        entry?.type === 'entity.erased' &&
        entry.trail_id === row.entity_id &&
        entry.subject_id === row.entity_id &&
        dataOf(entry).entity_id === row.entity_id
      return { ...row, is_confirmed: isAbout && isAuthentic(entry), is_sealed: (entry?.sealed_leaf ?? null) !== null }
    })
  }
  return {
    /** Erasures that are not done, of all organizations, oldest first. */
    async pending(limit: number): Promise<Erasure[]> {
      const rows = await database.query<RowOf<'erasures'> & Row>(
        `SELECT ${COLUMNS} FROM erasures AS erasure WHERE done_at IS NULL ORDER BY approved_at, org_id, entity_id LIMIT $1`,
        [limit],
      )
      return confirmed(rows)
    },

    /** Those of these entities that were erased, by their id; an erasure that the log does not confirm is not among them. */
    async ofEntities(organizationId: string, entityIds: readonly string[]): Promise<Map<string, Erasure>> {
      if (entityIds.length === 0) return new Map()
      const rows = await database.query<RowOf<'erasures'> & Row>(
        `SELECT ${COLUMNS} FROM erasures AS erasure WHERE org_id = $1 AND entity_id = ANY($2::text[])`,
        [organizationId, entityIds],
      )
      const known = (await confirmed(rows)).filter(({ is_confirmed }) => is_confirmed)
      return new Map(known.map((erasure) => [erasure.entity_id, erasure]))
    },

    /** All erasures of an organization, in pages in the order of the entities. */
    async *all(organizationId: string): AsyncGenerator<Erasure[]> {
      for (let after = ''; ; ) {
        const rows = await database.query<RowOf<'erasures'> & Row>(
          `SELECT ${COLUMNS} FROM erasures AS erasure WHERE org_id = $1 AND entity_id > $2 ORDER BY entity_id LIMIT ${ROWS_PER_READ}`,
          [organizationId, after],
        )
        yield await confirmed(rows)
        if (rows.length < ROWS_PER_READ) return
        after = rows.at(-1)!.entity_id
      }
    },
  }
}

const ROWS_PER_READ = 100
