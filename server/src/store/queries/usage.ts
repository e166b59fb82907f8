import type { Verdict } from '../../core/vocabularies.ts'
import type { Database } from '../database/database.ts'

/** The counters of usage, kept by organization and day. */
export const USAGE_COUNTERS = [
  'requests',
  'errors',
  'decisions',
  'entities',
  'transactions',
  'webhook_deliveries',
] as const

/** The name of a counter; each verdict has one. */
export type UsageCounter = (typeof USAGE_COUNTERS)[number] | `verdict.${Verdict}`

/** The value of one counter on one day, summed over all nodes. */
export interface UsageCount {
  day: string
  counter: string
  count: number
}

/** The node of rows that were summed over all nodes. */
const ALL_NODES = 'all'
const DAYS_PER_COMPACTION = 500

/** Reads of usage, and its compaction. */
export function usageQueries(database: Database) {
  return {
    /** The counters of an organization by day, from one day up to and including another. */
    async usageByDay(organizationId: string, from: string, to: string): Promise<UsageCount[]> {
      return database.query<UsageCount & Record<string, unknown>>(
        `SELECT day, counter, sum(count)::bigint AS count FROM usage_by_day
         WHERE org_id = $1 AND day BETWEEN $2::date AND $3::date GROUP BY day, counter ORDER BY day, counter`,
        [organizationId, from, to],
      )
    },

    /**
     * Sums the counters of all nodes on days before this one into one row each, because every start of a process adds
     * rows of its own; returns how many rows it wrote. A node that writes to such a day later gets a new row, which the
     * next compaction adds.
     */
    async compactUsage(beforeDay: string): Promise<number> {
      const rows = await database.query(
        `WITH old AS (
           SELECT DISTINCT org_id, day FROM usage_by_day WHERE node <> '${ALL_NODES}' AND day < $1::date LIMIT $2
         ),
         moved AS (
           DELETE FROM usage_by_day AS usage USING old
           WHERE usage.org_id = old.org_id AND usage.day = old.day AND usage.node <> '${ALL_NODES}'
           RETURNING usage.org_id, usage.day, usage.counter, usage.count
         )
         INSERT INTO usage_by_day (org_id, day, node, counter, count)
         SELECT org_id, day, '${ALL_NODES}', counter, sum(count) FROM moved GROUP BY org_id, day, counter
         ON CONFLICT (org_id, day, node, counter) DO UPDATE SET count = usage_by_day.count + excluded.count
         RETURNING 1`,
        [beforeDay, DAYS_PER_COMPACTION],
      )
      return rows.length
    },
  }
}
