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

    /** What was decided last about these entities, for those that had a decision. */
    async latestDecisions(
      organizationId: string,
      entityIds: readonly string[],
    ): Promise<Map<string, RowOf<'latest_decisions'>>> {
      const rows = await database.query<RowOf<'latest_decisions'> & Row>(
        'SELECT * FROM latest_decisions WHERE org_id = $1 AND entity_id = ANY($2::text[])',
        [organizationId, entityIds],
      )
      return new Map(rows.map((row) => [row.entity_id, row]))
    },
  }
}
