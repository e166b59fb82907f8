import { batchedRead } from '../database/batched-read.ts'
import type { Database, Row } from '../database/database.ts'
import { columnsOf, type RowOf } from '../schema/tables.ts'
import { dataOf } from '../write-path/entry-data.ts'
import { recordSha256 } from '../write-path/record-hash.ts'
import { ENTRY_COLUMNS } from './audit-trail.ts'
import { type IsAuthentic, type StoredEntry, sealedLeaf } from './stored-entry.ts'

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
export function outcomeQueries(database: Database, isAuthentic: IsAuthentic) {
  const bodiesOf = batchedRead<{ organizationId: string; decisionId: string }, string[]>({
    keyText: ({ organizationId, decisionId }) => `${organizationId} ${decisionId}`,
    async load(keys) {
      const rows = await database.query<Pick<RowOf<'outcomes'>, 'org_id' | 'decision_id' | 'body'> & Row>(
        `SELECT outcomes.org_id, outcomes.decision_id, outcomes.body
         FROM unnest($1::text[], $2::text[]) AS wanted (org_id, decision_id)
         JOIN outcomes ON outcomes.org_id = wanted.org_id AND outcomes.decision_id = wanted.decision_id
         WHERE ${NOT_RETRACTED} ORDER BY outcomes.id`,
        [keys.map(({ organizationId }) => organizationId), keys.map(({ decisionId }) => decisionId)],
        { keepPlan: true },
      )
      const byDecision = Map.groupBy(rows, ({ org_id, decision_id }) => `${org_id} ${decision_id}`)
      return new Map([...byDecision].map(([key, own]) => [key, own.map(({ body }) => body)]))
    },
  })
  return {
    /** Whether the log confirms the newest proposal to take an outcome back: its operator made it. */
    async isProposalConfirmed(organizationId: string, outcomeId: string): Promise<boolean> {
      const [proposal] = await database.query<RowOf<'outcome_retractions'> & Row>(
        `SELECT ${columnsOf('outcome_retractions').join(', ')} FROM outcome_retractions
         WHERE org_id = $1 AND outcome_id = $2 AND step = 'proposed' ORDER BY id DESC LIMIT 1`,
        [organizationId, outcomeId],
      )
      if (!proposal) return false
      const [entry] = await database.query<StoredEntry & Row>(
        `SELECT ${ENTRY_COLUMNS}, ${sealedLeaf('entry')} AS sealed_leaf FROM audit_entries AS entry
         WHERE org_id = $1 AND subject_id = $2 AND type = 'decision.outcome_retraction_proposed' AND actor_type <> 'api_key'`,
        [organizationId, proposal.id],
      )
      const recorded = entry && isAuthentic(entry) ? dataOf(entry).record_sha256 : undefined
      return recorded === recordSha256<'outcome_retractions'>(organizationId, proposal)
    },

    /** The response bodies of a decision's outcomes that count, in the order in which they were recorded. */
    async ofDecision(organizationId: string, decisionId: string): Promise<string[]> {
      return (await bodiesOf({ organizationId, decisionId })) ?? []
    },

    /** The response bodies of all outcomes of an entity that count. */
    async ofEntity(organizationId: string, entityId: string): Promise<string[]> {
      const rows = await database.query<{ body: string }>(
        `SELECT body FROM outcomes WHERE org_id = $1 AND entity_id = $2 AND ${NOT_RETRACTED}`,
        [organizationId, entityId],
      )
      return rows.map(({ body }) => body)
    },

    /** The outcome with this id, retracted or not. */
    async withRetraction(organizationId: string, id: string): Promise<OutcomeWithRetraction | undefined> {
      const [row] = await database.query<OutcomeWithRetraction & Row>(
        `${WITH_RETRACTION} WHERE outcomes.org_id = $1 AND outcomes.id = $2`,
        [organizationId, id],
      )
      return row
    },

    /** All outcomes of a decision, retracted or not, in the order in which they were recorded. */
    async ofDecisionWithRetractions(organizationId: string, decisionId: string): Promise<OutcomeWithRetraction[]> {
      return database.query<OutcomeWithRetraction & Row>(
        `${WITH_RETRACTION} WHERE outcomes.org_id = $1 AND outcomes.decision_id = $2 ORDER BY outcomes.id`,
        [organizationId, decisionId],
      )
    },
  }
}
