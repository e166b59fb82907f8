import type { OutcomeType, Verdict } from '../../core/vocabularies.ts'
import type { Database, Row } from '../database/database.ts'
import { NOT_RETRACTED } from './outcomes.ts'

/** Ids of decisions from `from` on and before `before`. Ids sort by time. */
export interface CaseBounds {
  from: string
  before: string
}

/** A recorded decision with the facts that it was made from; they are empty if their row was deleted. */
export interface StoredCase {
  id: string
  entity_id: string
  verdict: Verdict
  created_at: string
  /** The start of what follows the name of the limit in the recorded body; empty without a limit. */
  limit_text: string
  facts: string
}

/**
 * The database cuts out the limit, because a body is a third of what a page would transfer. Only the member itself is
 * found: inside of a JSON string, the quotation marks of its name would be escaped.
 */
const LIMIT_TEXT = `left(split_part(decision.body, '"recommended_limit":', 2), 32)`

/** Reads of recorded decisions in bulk, for backtests. */
export function backtestCaseQueries(database: Database) {
  return {
    /** How many decisions are within bounds; counting ends at `max`. */
    async countCases(organizationId: string, { from, before }: CaseBounds, max: number): Promise<number> {
      const [row] = await database.query<{ count: number }>(
        `SELECT count(*) AS count FROM (SELECT 1 FROM decisions WHERE org_id = $1 AND id >= $2 AND id < $3
           ORDER BY id DESC LIMIT $4) AS counted`,
        [organizationId, from, before, max],
      )
      return row!.count
    },

    /**
     * Decisions with their facts, newest first. `LIMIT 1` keeps the planner from reading the whole table of evidence for a hash
     * join, which it does while one organization has nearly all rows.
     */
    async recordedCases(organizationId: string, { from, before }: CaseBounds, limit: number): Promise<StoredCase[]> {
      return database.query<StoredCase & Row>(
        `SELECT decision.id, decision.entity_id, decision.verdict, decision.created_at, ${LIMIT_TEXT} AS limit_text,
           coalesce(evidence.facts, '') AS facts
         FROM (SELECT * FROM decisions WHERE org_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4) AS decision
         LEFT JOIN LATERAL (SELECT facts FROM decision_evidence AS one
           WHERE one.org_id = $1 AND one.decision_id = decision.id LIMIT 1) AS evidence ON true
         ORDER BY decision.id DESC`,
        [organizationId, from, before, limit],
      )
    },

    /** The outcome reports that count, of the decisions with these ids and between them. */
    async outcomesBetween(
      organizationId: string,
      { first, last }: { first: string; last: string },
    ): Promise<{ id: string; decisionId: string; type: OutcomeType; occurredAt: string }[]> {
      return database.query(
        `SELECT id, decision_id AS "decisionId", type, occurred_at AS "occurredAt" FROM outcomes
         WHERE org_id = $1 AND decision_id >= $2 AND decision_id <= $3 AND ${NOT_RETRACTED}`,
        [organizationId, first, last],
      )
    },
  }
}
