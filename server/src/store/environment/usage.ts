import { VERDICTS, type Verdict } from '../../core/vocabularies.ts'
import type { Database } from '../database/database.ts'
import { deleteOldDays } from './old-days.ts'

/** The counters of usage that the API reports, kept by organization and day. */
export const USAGE_COUNTERS = [
  'requests',
  'errors',
  'decisions',
  'entities',
  'transactions',
  'webhook_deliveries',
] as const

/** The name of a counter. Each verdict has one for each hour; past days have one for each verdict. */
export type UsageCounter =
  | (typeof USAGE_COUNTERS)[number]
  | 'rate_limited'
  | `verdict.${Verdict}`
  | `verdict.${Verdict}@${string}`

/** The counter of a verdict in the hour of a time, ISO 8601 in UTC. */
export function verdictCounter(verdict: Verdict, time: string): UsageCounter {
  return `verdict.${verdict}@${time.slice(11, 13)}`
}

/** The verdict that a counter counts; undefined for other counters. */
export function verdictCountedBy(counter: string): Verdict | undefined {
  return VERDICTS.find((verdict) => counter.startsWith(`verdict.${verdict}@`))
}

/** The value of one counter on one day, summed over all nodes. */
export interface UsageCount {
  day: string
  counter: string
  count: number
}

/** The node of rows that were summed over all nodes. */
export const ALL_NODES = 'all'
const DAYS_PER_COMPACTION = 500

/** Reads of usage, and its compaction. */
export function usageQueries(database: Database) {
  return {
    /** The counters of an organization by day, from one day up to and including another. */
    async byDay(organizationId: string, from: string, to: string): Promise<UsageCount[]> {
      return database.query<UsageCount & Record<string, unknown>>(
        `SELECT day, split_part(counter, '@', 1) AS counter, sum(count)::bigint AS count FROM usage_by_day
         WHERE org_id = $1 AND day BETWEEN $2::date AND $3::date GROUP BY 1, 2 ORDER BY 1, 2`,
        [organizationId, from, to],
      )
    },

    /** The verdicts of an organization by hour; of days that upkeep has not summed up yet: today and yesterday. */
    async verdictsByHour(organizationId: string, from: string, to: string): Promise<VerdictsOfHour[]> {
      return database.query<VerdictsOfHour & Record<string, unknown>>(
        `SELECT day, split_part(counter, '@', 2)::integer AS hour, split_part(split_part(counter, '@', 1), '.', 2) AS verdict,
           sum(count)::bigint AS count FROM usage_by_day
         WHERE org_id = $1 AND day BETWEEN $2::date AND $3::date AND counter LIKE 'verdict.%@%' GROUP BY 1, 2, 3`,
        [organizationId, from, to],
      )
    },

    /**
     * Sums the counters of all nodes on days before this one into one row each, because every start of a process adds
     * rows of its own; returns how many rows it wrote. A node that writes to such a day later gets a new row, which the
     * next compaction adds.
     */
    async compact(beforeDay: string): Promise<number> {
      const rows = await database.query(
        `WITH old AS (
           SELECT DISTINCT org_id, day FROM usage_by_day WHERE node <> '${ALL_NODES}' AND day < $1::date LIMIT $2
         ),
         moved AS (
           DELETE FROM usage_by_day AS usage USING old
           WHERE usage.org_id = old.org_id AND usage.day = old.day AND usage.node <> '${ALL_NODES}'
           RETURNING usage.org_id, usage.day, split_part(usage.counter, '@', 1) AS counter, usage.count
         )
         INSERT INTO usage_by_day (org_id, day, node, counter, count)
         SELECT org_id, day, '${ALL_NODES}', counter, sum(count) FROM moved GROUP BY org_id, day, counter
         ON CONFLICT (org_id, day, node, counter) DO UPDATE SET count = usage_by_day.count + excluded.count
         RETURNING 1`,
        [beforeDay, DAYS_PER_COMPACTION],
      )
      return rows.length
    },

    /** Deletes usage of days before one, of organizations and of their keys, some rows at once; whether there is more. */
    async purge(beforeDay: string, limit: number): Promise<boolean> {
      const tables = ['usage_by_day', 'usage_by_key'] as const
      const deleted = await Promise.all(tables.map((table) => deleteOldDays(database, table, { beforeDay, limit })))
      return deleted.includes(limit)
    },
  }
}

/** How often a verdict was given in one hour of a day, in UTC. */
export interface VerdictsOfHour {
  day: string
  hour: number
  verdict: Verdict
  count: number
}
