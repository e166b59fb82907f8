import { batchedRead } from './batched-read.ts'
import type { Database, Row } from './database.ts'
import { columnsOf, type RowOf } from './tables.ts'

/** A decision with everything it was made from; null is what somebody took away. */
export type RecordedDecision = RowOf<'decisions'> &
  Record<'facts' | 'trace' | 'graph' | 'policy' | 'audit_entry_id' | 'audit_data', string | null>

const COLUMNS = columnsOf('decisions')
  .map((column) => `decision.${column}`)
  .join(', ')

/** Reads of decisions. */
export function decisionQueries(database: Database) {
  return {
    /** The decision of that id, if the organization has it. */
    decision: batchedRead<{ organizationId: string; id: string }, RowOf<'decisions'>>({
      keyText: ({ organizationId, id }) => `${organizationId} ${id}`,
      async load(keys) {
        const rows = await database.query<RowOf<'decisions'> & Row>(
          `SELECT ${COLUMNS} FROM decisions AS decision
           JOIN unnest($1::text[], $2::text[]) AS wanted (org_id, id) ON decision.org_id = wanted.org_id AND decision.id = wanted.id`,
          [keys.map(({ organizationId }) => organizationId), keys.map(({ id }) => id)],
        )
        return new Map(rows.map((row) => [`${row.org_id} ${row.id}`, row]))
      },
    }),

    /** The decision of that id with what is left of its evidence, its policy, and what its audit entry says about them. */
    async recordedDecision(organizationId: string, id: string): Promise<RecordedDecision | undefined> {
      const [row] = await database.query<RecordedDecision & Row>(
        `SELECT ${COLUMNS}, evidence.facts, evidence.trace, evidence.graph, policy.document AS policy, entry.id AS audit_entry_id, entry.data AS audit_data
         FROM decisions AS decision
         LEFT JOIN decision_evidence AS evidence ON evidence.org_id = decision.org_id AND evidence.decision_id = decision.id
         LEFT JOIN audit_entries AS entry ON entry.org_id = decision.org_id AND entry.trail_id = decision.entity_id
           AND entry.type = 'decision.created' AND entry.subject_id = decision.id
         LEFT JOIN policies AS policy ON policy.org_id = decision.org_id AND policy.version = decision.policy_version
         WHERE decision.org_id = $1 AND decision.id = $2`,
        [organizationId, id],
      )
      return row
    },

    /** The leaf of an audit entry, once it is sealed. */
    async leafOf(organizationId: string, entryId: string): Promise<number | undefined> {
      const [row] = await database.query<{ leaf_index: number }>(
        'SELECT leaf_index FROM audit_leaves WHERE org_id = $1 AND entry_id = $2',
        [organizationId, entryId],
      )
      return row?.leaf_index
    },

    /** The outcomes of a decision, in the order in which they were recorded. */
    async outcomesOf(
      organizationId: string,
      decisionId: string,
    ): Promise<Pick<RowOf<'outcomes'>, 'type' | 'occurred_at'>[]> {
      return database.query<Pick<RowOf<'outcomes'>, 'type' | 'occurred_at'> & Row>(
        'SELECT type, occurred_at FROM outcomes WHERE org_id = $1 AND decision_id = $2 ORDER BY id',
        [organizationId, decisionId],
      )
    },

    /** What was decided last about an entity, if anything was. */
    latestDecision: batchedRead<{ organizationId: string; entityId: string }, RowOf<'latest_decisions'>>({
      keyText: ({ organizationId, entityId }) => `${organizationId} ${entityId}`,
      async load(keys) {
        const rows = await database.query<RowOf<'latest_decisions'> & Row>(
          `SELECT latest.* FROM latest_decisions AS latest
           JOIN unnest($1::text[], $2::text[]) AS wanted (org_id, entity_id)
             ON latest.org_id = wanted.org_id AND latest.entity_id = wanted.entity_id`,
          [keys.map(({ organizationId }) => organizationId), keys.map(({ entityId }) => entityId)],
        )
        return new Map(rows.map((row) => [`${row.org_id} ${row.entity_id}`, row]))
      },
    }),

    /**
     * Takes away what decisions left to be looked at again, where nothing has come to be known since: nearly all of it.
     * The mark is compared with what `seenMark` made of the decision.
     */
    async settleReevaluations(limit: number): Promise<void> {
      await database.query(
        `DELETE FROM consequences WHERE (org_id, kind, entity_id, mark) IN (
           SELECT cause.org_id, cause.kind, cause.entity_id, cause.mark FROM consequences AS cause
           JOIN latest_decisions AS latest ON latest.org_id = cause.org_id AND latest.entity_id = cause.entity_id
           JOIN entities AS entity ON entity.org_id = cause.org_id AND entity.id = cause.entity_id
           LEFT JOIN graph_exposures AS exposure ON exposure.org_id = cause.org_id AND exposure.entity_id = cause.entity_id
           WHERE cause.kind = 'reevaluation' AND cause.mark = latest.decision_id || ':' || entity.version || ':' ||
             coalesce(left(encode(sha256(convert_to(exposure.summary, 'UTF8')), 'hex'), 16), '-')
           LIMIT $1)`,
        [limit],
      )
    },
  }
}
