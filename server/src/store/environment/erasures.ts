import type { Database, Row } from '../database/database.ts'
import { TIMELINE } from '../database/find-primary.ts'
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
  /** The operator who proposed it, by the entry; null without one. */
  proposed_by: string | null
}

/**
 * SQL: where the database is. A dump is restored into another server or makes the table anew, and a restore to a point in time
 * begins a timeline; files that are copied back stay where they were.
 */
const PLACE = `(SELECT system_identifier::text FROM pg_control_system()) || ' ' || ${TIMELINE} || ' ' || 'erasures'::regclass::oid`

const COLUMNS = columnsOf('erasures')
  .map((column) => `erasure.${column}`)
  .join(', ')

/** SQL: what lists call an entity that was erased; NULL for any other. */
export function erasedName(organization: string, entity: string): string {
  return `(SELECT 'erased' FROM erasures WHERE erasures.org_id = ${organization} AND erasures.entity_id = ${entity})`
}

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
      const proposedBy = isAbout ? dataOf(entry).proposed_by : null
      return {
        ...row,
        is_confirmed: isAbout && isAuthentic(entry),
        is_sealed: (entry?.sealed_leaf ?? null) !== null,
        proposed_by: typeof proposedBy === 'string' ? proposedBy : null,
      }
    })
  }
  /** The erasures that meet a condition, in pages, oldest first. */
  async function* pagesWhere(condition: string): AsyncGenerator<Erasure[]> {
    for (let after = ['', '', '']; ; ) {
      const rows = await database.query<RowOf<'erasures'> & Row>(
        `SELECT ${COLUMNS} FROM erasures AS erasure WHERE ${condition}
           AND (approved_at, org_id, entity_id) > (coalesce(nullif($1, '')::timestamptz, '-infinity'), $2, $3)
         ORDER BY approved_at, org_id, entity_id LIMIT ${ROWS_PER_READ}`,
        after,
      )
      yield await confirmed(rows)
      if (rows.length < ROWS_PER_READ) return
      const { approved_at, org_id, entity_id } = rows.at(-1)!
      after = [approved_at, org_id, entity_id]
    }
  }
  return {
    /** Erasures that are not done, of all organizations, in pages, oldest first. */
    pending: (): AsyncGenerator<Erasure[]> => pagesWhere('done_at IS NULL'),

    /** Erasures of these organizations that are not done and that the log confirms: those whose entry may be sealed next. */
    async pendingOf(organizationIds: readonly string[]): Promise<Erasure[]> {
      const rows = await database.query<RowOf<'erasures'> & Row>(
        `SELECT ${COLUMNS} FROM erasures AS erasure WHERE done_at IS NULL AND org_id = ANY($1::text[])`,
        [organizationIds],
      )
      return (await confirmed(rows)).filter(({ is_confirmed }) => is_confirmed)
    },

    /** Erasures that were approved at a time or later, and that the log confirms, but for those that are known already. */
    async *approvedSince(
      since: string,
      isKnown: (erasure: Pick<Erasure, 'org_id' | 'entity_id'>) => boolean,
    ): AsyncGenerator<Erasure[]> {
      for (let after = { approved_at: since, org_id: '', entity_id: '' }; ; ) {
        const rows = await database.query<RowOf<'erasures'> & Row>(
          `SELECT ${COLUMNS} FROM erasures AS erasure WHERE (approved_at, org_id, entity_id) > ($1, $2, $3)
           ORDER BY approved_at, org_id, entity_id LIMIT ${ROWS_PER_READ}`,
          [after.approved_at, after.org_id, after.entity_id],
        )
        yield (await confirmed(rows.filter((row) => !isKnown(row)))).filter(({ is_confirmed }) => is_confirmed)
        if (rows.length < ROWS_PER_READ) return
        after = rows.at(-1)!
      }
    },

    /** Which of these entities, of several organizations, are stored. */
    async stored<E extends Pick<Erasure, 'org_id' | 'entity_id'>>(erasures: readonly E[]): Promise<E[]> {
      const rows = await database.query<{ n: number }>(
        `SELECT wanted.n::integer AS n FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (org_id, id, n)
         JOIN entities ON entities.org_id = wanted.org_id AND entities.id = wanted.id`,
        [erasures.map(({ org_id }) => org_id), erasures.map(({ entity_id }) => entity_id)],
      )
      return rows.map(({ n }) => erasures[n - 1]!)
    },

    /**
     * Where the database is, and where it was when a node compared it with the erasures that it knows: undefined before the first
     * time. `place` is null on a server that is read-only, as a standby is.
     */
    async compared(): Promise<{ place: string | null; comparedAt: string | undefined }> {
      const [row] = await database.query<{ place: string | null; compared_at_place: string | null }>(
        `SELECT ${PLACE} AS place, (SELECT place FROM erasures_compared) AS compared_at_place`,
      )
      return { place: row!.place, comparedAt: row!.compared_at_place ?? undefined }
    },

    /** Notes that the database was compared where it is now. */
    async noteCompared(place: string, now: string): Promise<void> {
      await database.query(
        `INSERT INTO erasures_compared (place, compared_at) VALUES ($1, $2)
         ON CONFLICT (is_only) DO UPDATE SET place = excluded.place, compared_at = excluded.compared_at`,
        [place, now],
      )
    },

    /** Erasures of which decisions still have their documents, of all organizations, in pages, oldest first. */
    withDecisions: (): AsyncGenerator<Erasure[]> => pagesWhere('decisions_done_at IS NULL AND done_at IS NOT NULL'),

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
