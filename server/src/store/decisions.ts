import { batchedRead } from './batched-read.ts'
import type { Database, Row } from './database.ts'
import { columnsOf, type RowOf } from './tables.ts'

/** A decision with everything it was made from. */
export type RecordedDecision = RowOf<'decisions'> & Omit<RowOf<'decision_evidence'>, 'org_id' | 'decision_id'>

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

    /** The decision of that id with its evidence. */
    async recordedDecision(organizationId: string, id: string): Promise<RecordedDecision | undefined> {
      const [row] = await database.query<RecordedDecision & Row>(
        `SELECT ${COLUMNS}, evidence.facts, evidence.trace, evidence.graph, evidence.audit_entry_id FROM decisions AS decision
         JOIN decision_evidence AS evidence ON evidence.org_id = decision.org_id AND evidence.decision_id = decision.id
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

    /** The newest outcome of a decision. */
    async newestOutcome(
      organizationId: string,
      decisionId: string,
    ): Promise<Pick<RowOf<'outcomes'>, 'type' | 'occurred_at'> | undefined> {
      const [row] = await database.query<Pick<RowOf<'outcomes'>, 'type' | 'occurred_at'> & Row>(
        'SELECT type, occurred_at FROM outcomes WHERE org_id = $1 AND decision_id = $2 ORDER BY occurred_at DESC, id DESC LIMIT 1',
        [organizationId, decisionId],
      )
      return row
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
