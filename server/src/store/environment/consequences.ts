import type { Database, Row } from '../database/database.ts'
import { Params, type RowOf, unnestAs } from '../schema/tables.ts'

const CAUSE = { org_id: 'text', kind: 'text', entity_id: 'text', mark: 'text' } as const

/** The queue of follow-up work: exposures to refresh, outcomes to spread and decisions to re-evaluate. */
export function consequenceQueries(database: Database) {
  return {
    /** Whether any cause is queued or postponed. */
    async isAny(): Promise<boolean> {
      const [row] = await database.query<{ found: boolean }>('SELECT EXISTS (SELECT FROM consequences) AS found')
      return row!.found
    },

    /**
     * A page of the due causes of one kind, of the organizations after the given one, so that organizations can take turns.
     * Costs one index probe for each organization in the backlog, however long the backlog is.
     */
    async due(
      kind: string,
      { after, limit, now }: { after: string; limit: number; now: string },
    ): Promise<RowOf<'consequences'>[]> {
      return database.query<RowOf<'consequences'> & Row>(
        `WITH RECURSIVE organizations (org_id) AS (
           (SELECT org_id FROM consequences WHERE kind = $1 AND org_id > $2 ORDER BY org_id LIMIT 1)
           UNION ALL
           SELECT (SELECT next.org_id FROM consequences AS next WHERE next.kind = $1 AND next.org_id > organizations.org_id ORDER BY next.org_id LIMIT 1)
           FROM organizations WHERE organizations.org_id IS NOT NULL
         )
         SELECT due.* FROM organizations CROSS JOIN LATERAL (
           SELECT org_id, kind, entity_id, mark FROM consequences
           WHERE kind = $1 AND consequences.org_id = organizations.org_id AND due_at <= $4 ORDER BY due_at LIMIT $3
         ) AS due LIMIT $3`,
        [kind, after, limit, now],
      )
    },

    /**
     * Postpones failed causes with exponential backoff, from two seconds to ten minutes. A cause whose mark has changed
     * meanwhile is not postponed.
     */
    async postpone(failed: readonly RowOf<'consequences'>[], now: string): Promise<void> {
      const params = new Params()
      const attempts = 'CASE WHEN waiting.failed_mark = waiting.mark THEN waiting.attempts ELSE 0 END + 1'
      await database.query(
        `UPDATE consequences AS waiting SET attempts = ${attempts}, failed_mark = waiting.mark,
           retry_at = ${params.add(now, 'timestamptz')} + make_interval(secs => least(power(2, least(${attempts}, 10)), 600))
         FROM ${unnestAs('failed', failed, CAUSE, params)}
         WHERE waiting.org_id = failed.org_id AND waiting.kind = failed.kind AND waiting.entity_id = failed.entity_id AND waiting.mark = failed.mark`,
        params.values,
      )
    },

    /** Queues causes, and deletes those that are done in the same statement. */
    async queue(
      added: readonly RowOf<'consequences'>[],
      { done = [] }: { done?: readonly RowOf<'consequences'>[] } = {},
    ): Promise<void> {
      const params = new Params()
      await database.query(
        `WITH added AS (
           INSERT INTO consequences (org_id, kind, entity_id, mark) SELECT * FROM ${unnestAs('added', added, CAUSE, params)}
           ON CONFLICT (org_id, kind, entity_id) DO UPDATE SET mark = excluded.mark WHERE consequences.mark <> excluded.mark
         ) ${deleteCauses(done, params)}`,
        params.values,
        { keepPlan: true },
      )
    },

    /**
     * Deletes causes that are done. It skips rows that another statement has locked, so it cannot deadlock with a batch
     * that queues some of them again; a skipped cause is evaluated once more in a later pass.
     */
    async remove(done: readonly RowOf<'consequences'>[]): Promise<void> {
      await database.query(
        `DELETE FROM consequences USING (
           SELECT org_id, kind, entity_id FROM consequences
           JOIN unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS done (org_id, kind, entity_id, mark)
             USING (org_id, kind, entity_id, mark)
           FOR UPDATE OF consequences SKIP LOCKED
         ) AS locked
         WHERE consequences.org_id = locked.org_id AND consequences.kind = locked.kind AND consequences.entity_id = locked.entity_id`,
        [
          done.map((cause) => cause.org_id),
          done.map((cause) => cause.kind),
          done.map((cause) => cause.entity_id),
          done.map((cause) => cause.mark),
        ],
      )
    },

    /** Queues a cause again that is not finished, unless a newer one has been queued meanwhile. */
    async requeue({ org_id, kind, entity_id, mark }: RowOf<'consequences'>): Promise<void> {
      await database.query(
        'INSERT INTO consequences (org_id, kind, entity_id, mark) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
        [org_id, kind, entity_id, mark],
      )
    },

    /**
     * Those of the `reevaluation` causes that a decision left, and whose entity and exposure have not changed since: nearly
     * all of them. Compares their mark with the one that `seenMark` makes.
     */
    async unchangedSinceDecision(causes: readonly RowOf<'consequences'>[]): Promise<RowOf<'consequences'>[]> {
      if (causes.length === 0) return []
      return database.query<RowOf<'consequences'> & Row>(
        `SELECT cause.org_id, 'reevaluation' AS kind, cause.entity_id, cause.mark
         FROM unnest($1::text[], $2::text[], $3::text[]) AS cause (org_id, entity_id, mark)
         JOIN entities AS entity ON entity.org_id = cause.org_id AND entity.id = cause.entity_id
         LEFT JOIN graph_exposures AS exposure ON exposure.org_id = cause.org_id AND exposure.entity_id = cause.entity_id
         WHERE substr(cause.mark, position(':' IN cause.mark)) = ':' || entity.version || ':' ||
           coalesce(left(encode(sha256(convert_to(exposure.summary, 'UTF8')), 'hex'), 16), '-')`,
        [
          causes.map((cause) => cause.org_id),
          causes.map((cause) => cause.entity_id),
          causes.map((cause) => cause.mark),
        ],
      )
    },
  }
}

/**
 * `DELETE` of causes that are done, in the statement that writes their result; it waits for locked rows. A cause whose
 * mark has changed meanwhile stays queued.
 */
export function deleteCauses(done: readonly RowOf<'consequences'>[], params: Params): string {
  return `DELETE FROM consequences USING ${unnestAs('done', done, CAUSE, params)}
    WHERE consequences.org_id = done.org_id AND consequences.kind = done.kind AND consequences.entity_id = done.entity_id AND consequences.mark = done.mark`
}
