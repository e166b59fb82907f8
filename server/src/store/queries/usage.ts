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

/** Reads of usage. */
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
  }
}
