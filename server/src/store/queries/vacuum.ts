/**
 * Upkeep of the embedded database, which has no background processes: without it, the space of deleted and replaced rows
 * is never used again (measured: 45,000 audit entries that were queued and sealed left 7 MB), and write-ahead logs are
 * kept for ever (321 MB after 400,000 rows). A PostgreSQL server does both by itself.
 */
import { type Database, quotedSchema } from '../database/database.ts'

const PAGE_BYTES = 8_192
/** A table is vacuumed when it has grown by this much since the last time: autovacuum's share, and one megabyte. */
const GROWTH_SHARE = 0.2
const GROWTH_PAGES_MIN = 128

/** Vacuums the table that has grown most since it was vacuumed last; false if none has grown enough. */
export async function vacuumGrownTable(database: Database): Promise<boolean> {
  // VACUUM itself keeps `relpages`, the size that it found. Tables that only ever grow are left out: they have no dead rows.
  const [grown] = await database.query<{ name: string }>(
    `SELECT class.relname AS name FROM pg_class AS class
     WHERE class.relnamespace = $1::regnamespace AND class.relkind = 'r'
       AND pg_relation_size(class.oid) / ${PAGE_BYTES} - class.relpages > ${GROWTH_PAGES_MIN} + ${GROWTH_SHARE} * class.relpages
       AND NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = class.oid AND tgname = 'append_only_rows')
     ORDER BY pg_relation_size(class.oid) / ${PAGE_BYTES} - class.relpages DESC LIMIT 1`,
    [quotedSchema(database.schema)],
  )
  if (!grown) return false
  await database.query(`VACUUM ${grown.name}`)
  return true
}

/** Writes all changed pages to the files, after which old write-ahead logs are removed. Costs milliseconds when idle. */
export async function checkpoint(database: Database): Promise<false> {
  await database.query('CHECKPOINT')
  return false
}
