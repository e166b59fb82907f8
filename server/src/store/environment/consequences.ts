import type { Database, Row } from '../database/database.ts'
import { organizationsAfter } from '../database/organizations-after.ts'
import { Params, type RowOf, unnestAs } from '../schema/tables.ts'

const CAUSE = { org_id: 'text', kind: 'text', entity_id: 'text', mark: 'text' } as const

/** The queue of follow-up work: exposures to refresh, outcomes to spread and decisions to re-evaluate. */
export function consequenceQueries(database: Database) {
  return {
    /** Whether any cause is queued or postponed, or any decision not checked. */
    async isAny(): Promise<boolean> {
      const [row] = await database.query<{ found: boolean }>(
        'SELECT EXISTS (SELECT FROM unchecked_decisions) OR EXISTS (SELECT FROM consequences) AS found',
      )
      return row!.found
    },

    /**
     * A page of the due causes of one kind, of the organizations after the given one, so that organizations can take turns.
     * Costs two index probes for each organization in the backlog, however long the backlog is; only causes that failed and
     * wait for their next attempt are looked at in vain.
     */
    async due(
      kind: string,
      { after, limit, now }: { after: string; limit: number; now: string },
    ): Promise<RowOf<'consequences'>[]> {
      return database.query<RowOf<'consequences'> & Row>(
        `WITH RECURSIVE ${organizationsAfter('$1', 'consequences')}
         SELECT due.* FROM organizations CROSS JOIN LATERAL (
           SELECT org_id, kind, entity_id, mark FROM consequences
           WHERE consequences.org_id = organizations.org_id AND kind = $2 AND due_at <= $4 ORDER BY entity_id LIMIT $3
         ) AS due LIMIT $3`,
        [after, kind, limit, now],
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
        `DELETE FROM consequences WHERE ctid = ANY (ARRAY (
           SELECT locked.ctid FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS done (org_id, kind, entity_id, mark)
           CROSS JOIN LATERAL (SELECT ctid FROM consequences AS each WHERE each.org_id = done.org_id AND each.kind = done.kind
             AND each.entity_id = done.entity_id AND each.mark = done.mark FOR UPDATE SKIP LOCKED) AS locked))`,
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
     * Takes decisions that were not checked yet, a row of each statement, from the organizations after the given one, and queues
     * a re-evaluation of those whose entity or exposure has changed since: hardly any. Returns the organization of each row.
     */
    async queueOvertaken({ after, limit }: { after: string; limit: number }): Promise<string[]> {
      const rows = await database.query<{ org_id: string }>(
        `WITH RECURSIVE ${organizationsAfter('$1', 'unchecked_decisions')},
         taken AS (
           DELETE FROM unchecked_decisions WHERE ctid = ANY (ARRAY (
             SELECT next.ctid FROM organizations CROSS JOIN LATERAL (
               SELECT ctid FROM unchecked_decisions AS each WHERE each.org_id = organizations.org_id ORDER BY flush LIMIT $2
             ) AS next LIMIT $2))
           RETURNING org_id, flush, made_on
         ),
         queued AS (
           INSERT INTO consequences (org_id, kind, entity_id, mark)
           SELECT taken.org_id, 'reevaluation', entity.id, 'since ' || max(taken.flush)
           FROM taken CROSS JOIN LATERAL string_to_table(taken.made_on, ' ') AS each (made_on)
           JOIN entities AS entity ON entity.org_id = taken.org_id AND entity.id = split_part(each.made_on, ':', 1)
           LEFT JOIN graph_exposures AS exposure ON exposure.org_id = entity.org_id AND exposure.entity_id = entity.id
           WHERE each.made_on <> entity.id || ':' || entity.version || ':' ||
             coalesce(left(encode(sha256(convert_to(exposure.summary, 'UTF8')), 'hex'), 16), '-')
           GROUP BY taken.org_id, entity.id ORDER BY taken.org_id, entity.id
           ON CONFLICT (org_id, kind, entity_id) DO UPDATE SET mark = excluded.mark
         )
         SELECT org_id FROM taken ORDER BY org_id`,
        [after, limit],
      )
      return rows.map(({ org_id }) => org_id)
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
