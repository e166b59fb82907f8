import type { Database } from '../database/database.ts'
import { organizationsAfter } from '../database/organizations-after.ts'

/** The tables with a row for each organization and day; their primary keys begin with both. */
type DayTable = 'usage_by_day' | 'usage_by_key' | 'decision_latencies'

/** Deletes rows of days before one, at most `limit` at once, along the primary key; returns how many. */
export async function deleteOldDays(
  database: Database,
  table: DayTable,
  { beforeDay, limit }: { beforeDay: string; limit: number },
): Promise<number> {
  const rows = await database.query(
    `WITH RECURSIVE ${organizationsAfter("''", table)}
     DELETE FROM ${table} WHERE ctid = ANY (ARRAY (
       SELECT old.ctid FROM organizations CROSS JOIN LATERAL (
         SELECT each.ctid FROM ${table} AS each WHERE each.org_id = organizations.org_id AND each.day < $1::date
         ORDER BY each.day LIMIT $2) AS old LIMIT $2))
     RETURNING 1`,
    [beforeDay, limit],
  )
  return rows.length
}
