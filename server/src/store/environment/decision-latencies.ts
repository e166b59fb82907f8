import type { Database, Row } from '../database/database.ts'
import { deleteOldDays } from './old-days.ts'
import { ALL_NODES } from './usage.ts'

/** The hour of rows that hold a whole day. */
const WHOLE_DAY = 24
const DAYS_PER_COMPACTION = 500

/** How long the decisions of one hour took, or of one day if upkeep has summed it up; a histogram. */
export interface LatenciesOfHour {
  day: string
  /** 24 for a whole day. */
  hour: number
  counts: number[]
}

// Arrays of different lengths are padded with NULL.
const ADD = `counts = ARRAY(SELECT coalesce(had, 0) + coalesce(added, 0)
  FROM unnest(decision_latencies.counts, excluded.counts) WITH ORDINALITY AS bucket (had, added, number) ORDER BY number)`

/** Reads and writes of how long decisions took. */
export function decisionLatencyQueries(database: Database) {
  return {
    /** The first day for which latencies of decisions are known. */
    async firstDay(organizationId: string): Promise<string | null> {
      const [row] = await database.query<{ day: string | null }>(
        'SELECT min(day) AS day FROM decision_latencies WHERE org_id = $1',
        [organizationId],
      )
      return row?.day ?? null
    },

    /** Adds the histograms that a node gathered since it last did. */
    async add(
      node: string,
      histograms: readonly { organizationId: string; day: string; hour: number; counts: readonly number[] }[],
    ): Promise<void> {
      await database.query(
        `INSERT INTO decision_latencies (org_id, day, node, hour, counts)
         SELECT org_id, day, $1, hour, counts::bigint[]
         FROM unnest($2::text[], $3::date[], $4::integer[], $5::text[]) AS added (org_id, day, hour, counts)
         ON CONFLICT (org_id, day, node, hour) DO UPDATE SET ${ADD}`,
        [
          node,
          histograms.map(({ organizationId }) => organizationId),
          histograms.map(({ day }) => day),
          histograms.map(({ hour }) => hour),
          histograms.map(({ counts }) => `{${counts.join(',')}}`),
        ],
      )
    },

    /** The histograms of an organization from one day up to and including another, of every node and hour. */
    async byHour(organizationId: string, from: string, to: string): Promise<LatenciesOfHour[]> {
      const rows = await database.query<Omit<LatenciesOfHour, 'counts'> & { counts: string } & Row>(
        `SELECT day, hour, array_to_json(counts)::text AS counts FROM decision_latencies
         WHERE org_id = $1 AND day BETWEEN $2::date AND $3::date`,
        [organizationId, from, to],
      )
      return rows.map((row) => ({ ...row, counts: JSON.parse(row.counts) }))
    },

    /** Sums the hours of all nodes on days before this one into one row each; returns how many rows it wrote. */
    async compact(beforeDay: string): Promise<number> {
      const rows = await database.query(
        `WITH old AS (
           SELECT DISTINCT org_id, day FROM decision_latencies WHERE node <> '${ALL_NODES}' AND day < $1::date LIMIT $2
         ),
         moved AS (
           DELETE FROM decision_latencies AS hour USING old
           WHERE hour.org_id = old.org_id AND hour.day = old.day AND hour.node <> '${ALL_NODES}'
           RETURNING hour.org_id, hour.day, hour.counts
         ),
         buckets AS (
           SELECT org_id, day, number, sum(count)::bigint AS count
           FROM moved, unnest(moved.counts) WITH ORDINALITY AS bucket (count, number) GROUP BY org_id, day, number
         )
         INSERT INTO decision_latencies (org_id, day, node, hour, counts)
         SELECT org_id, day, '${ALL_NODES}', ${WHOLE_DAY}, array_agg(count ORDER BY number) FROM buckets GROUP BY org_id, day
         ON CONFLICT (org_id, day, node, hour) DO UPDATE SET ${ADD}
         RETURNING 1`,
        [beforeDay, DAYS_PER_COMPACTION],
      )
      return rows.length
    },

    /** Deletes the latencies of days before one, some rows at once; whether there is more. */
    async purge(beforeDay: string, limit: number): Promise<boolean> {
      return (await deleteOldDays(database, 'decision_latencies', { beforeDay, limit })) === limit
    },
  }
}
