import type { OutcomeType, Verdict } from '../../core/vocabularies.ts'
import type { Database, Row } from '../database/database.ts'
import { readDocuments } from '../documents/documents.ts'
import { NOT_RETRACTED } from './outcomes.ts'

/** Ids of decisions from `from` on and before `before`. Ids sort by time. */
export interface CaseBounds {
  from: string
  before: string
  /** Only decisions with an outcome report. */
  withOutcome?: boolean
}

/** A recorded decision with the facts that it was made from; they are empty if they were deleted. */
export interface StoredCase {
  id: string
  entity_id: string
  verdict: Verdict
  created_at: string
  requested_amount: number | null
  recommended_limit: number | null
  facts: string
}

/** What the newest review of a decision says. */
export interface StoredReview {
  decisionId: string
  verdict: Verdict
  recommended_limit?: number
}

/** The newest decisions within bounds that have an outcome report: read from the reports, which are few. */
const WITH_OUTCOME = `AND id IN (SELECT DISTINCT decision_id FROM outcomes
  WHERE org_id = $1 AND decision_id >= $2 AND decision_id < $3 ORDER BY decision_id DESC LIMIT $4)`

/** Reads of recorded decisions in bulk, for backtests. */
export function backtestCaseQueries(database: Database) {
  return {
    /** How many decisions are within bounds; counting ends at `max`. */
    async countCases(organizationId: string, { from, before, withOutcome }: CaseBounds, max: number): Promise<number> {
      const [row] = await database.query<{ count: number }>(
        `SELECT count(*) AS count FROM (SELECT 1 FROM decisions WHERE org_id = $1 AND id >= $2 AND id < $3
           ${withOutcome ? WITH_OUTCOME : ''} ORDER BY id DESC LIMIT $4) AS counted`,
        [organizationId, from, before, max],
      )
      return row!.count
    },

    /** Decisions with their facts, newest first. */
    async recordedCases(
      organizationId: string,
      { from, before, withOutcome }: CaseBounds,
      limit: number,
    ): Promise<StoredCase[]> {
      const decisions = await database.query<Omit<StoredCase, 'facts'> & Row & { org_id: string; flush: number }>(
        `SELECT org_id, id, entity_id, verdict, requested_amount, recommended_limit, created_at, flush FROM decisions
         WHERE org_id = $1 AND id >= $2 AND id < $3 ${withOutcome ? WITH_OUTCOME : ''} ORDER BY id DESC LIMIT $4`,
        [organizationId, from, before, limit],
      )
      const documents = await readDocuments(database, decisions)
      return decisions.map(({ org_id: _organization, flush: _flush, ...decision }, index) => ({
        ...decision,
        facts: documents[index]!.facts ?? '',
      }))
    },

    /** The outcome reports that count, of the decisions with these ids and between them. */
    async outcomesBetween(
      organizationId: string,
      { first, last }: { first: string; last: string },
    ): Promise<
      { id: string; decisionId: string; type: OutcomeType; occurredAt: string; daysPastDue: number | null }[]
    > {
      return database.query(
        `SELECT id, decision_id AS "decisionId", type, occurred_at AS "occurredAt",
           CASE WHEN type = 'late' THEN (body::json->>'days_past_due')::integer END AS "daysPastDue"
         FROM outcomes WHERE org_id = $1 AND decision_id >= $2 AND decision_id <= $3 AND ${NOT_RETRACTED}`,
        [organizationId, first, last],
      )
    },

    /** The newest review of each of the decisions with these ids and between them that has one. */
    async newestReviewsBetween(
      organizationId: string,
      { first, last }: { first: string; last: string },
    ): Promise<StoredReview[]> {
      const rows = await database.query<{ decision_id: string; body: string }>(
        `SELECT DISTINCT ON (decision_id) decision_id, body FROM reviews
         WHERE org_id = $1 AND decision_id >= $2 AND decision_id <= $3 ORDER BY decision_id, id DESC`,
        [organizationId, first, last],
      )
      return rows.map(({ decision_id: decisionId, body }) => {
        const { verdict, recommended_limit } = JSON.parse(body) as Omit<StoredReview, 'decisionId'>
        return { decisionId, verdict, ...(recommended_limit !== undefined && { recommended_limit }) }
      })
    },
  }
}
