import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'

/** An outcome with the steps of its retraction; null where a step was not taken. */
export type OutcomeWithRetraction = RowOf<'outcomes'> &
  Record<'proposed_by' | 'proposed_at' | 'proposed_reason' | 'retracted_by' | 'retracted_at', string | null>

const COLUMNS = columnsOf('outcomes')
  .map((column) => `outcomes.${column}`)
  .join(', ')

/** The condition in SQL that a row of `outcomes` counts. */
export const NOT_RETRACTED = `NOT EXISTS (
  SELECT 1 FROM outcome_retractions AS retraction
  WHERE retraction.org_id = outcomes.org_id AND retraction.outcome_id = outcomes.id AND retraction.step = 'approved')`

/** The newest step of its kind: an outcome may have several proposals. */
const stepOf = (step: RowOf<'outcome_retractions'>['step']) =>
  `LEFT JOIN LATERAL (
     SELECT * FROM outcome_retractions AS taken
     WHERE taken.org_id = outcomes.org_id AND taken.outcome_id = outcomes.id AND taken.step = '${step}'
     ORDER BY taken.id DESC LIMIT 1
   ) AS ${step} ON true`

const WITH_RETRACTION = `SELECT ${COLUMNS}, proposed.actor_id AS proposed_by, proposed.taken_at AS proposed_at,
    proposed.reason AS proposed_reason, approved.actor_id AS retracted_by, approved.taken_at AS retracted_at
  FROM outcomes ${stepOf('proposed')} ${stepOf('approved')}`

/** Reads of outcomes. An outcome that was retracted counts nowhere; only the reads with its retraction return it. */
export function outcomeQueries(database: Database) {
  return {
    /** The response bodies of a decision's outcomes that count, in the order in which they were recorded. */
    async outcomesOf(organizationId: string, decisionId: string): Promise<string[]> {
      const rows = await database.query<{ body: string }>(
        `SELECT body FROM outcomes WHERE org_id = $1 AND decision_id = $2 AND ${NOT_RETRACTED} ORDER BY id`,
        [organizationId, decisionId],
        { keepPlan: true },
      )
      return rows.map(({ body }) => body)
    },

    /** The response bodies of all outcomes of an entity that count. */
    async outcomesOfEntity(organizationId: string, entityId: string): Promise<string[]> {
      const rows = await database.query<{ body: string }>(
        `SELECT body FROM outcomes WHERE org_id = $1 AND entity_id = $2 AND ${NOT_RETRACTED}`,
        [organizationId, entityId],
      )
      return rows.map(({ body }) => body)
    },

    /** The outcome with this id, retracted or not. */
    async outcomeWithRetraction(organizationId: string, id: string): Promise<OutcomeWithRetraction | undefined> {
      const [row] = await database.query<OutcomeWithRetraction & Row>(
        `${WITH_RETRACTION} WHERE outcomes.org_id = $1 AND outcomes.id = $2`,
        [organizationId, id],
      )
      return row
    },

    /** All outcomes of a decision, retracted or not, in the order in which they were recorded. */
    async outcomesWithRetractions(organizationId: string, decisionId: string): Promise<OutcomeWithRetraction[]> {
      return database.query<OutcomeWithRetraction & Row>(
        `${WITH_RETRACTION} WHERE outcomes.org_id = $1 AND outcomes.decision_id = $2 ORDER BY outcomes.id`,
        [organizationId, decisionId],
      )
    },
  }
}
