import type { OutcomeType, Verdict } from '../../core/vocabularies.ts'
import type { Database, Row } from '../database/database.ts'
import { readDocuments } from '../documents/documents.ts'
import { NOT_RETRACTED } from './outcomes.ts'

/** Ids of decisions from `from` on and before `before`. Ids sort by time. */
export interface CaseBounds {
  from: string
  before: string
}

/** A recorded decision with the facts that it was made from; they are empty if they were deleted. */
export interface StoredCase {
  id: string
  entity_id: string
  verdict: Verdict
  created_at: string
  recommended_limit: number | null
  facts: string
}

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

    /** Decisions with their facts, newest first. */
    async recordedCases(organizationId: string, { from, before }: CaseBounds, limit: number): Promise<StoredCase[]> {
      const decisions = await database.query<Omit<StoredCase, 'facts'> & Row & { org_id: string; flush: number }>(
        `SELECT org_id, id, entity_id, verdict, recommended_limit, created_at, flush FROM decisions
         WHERE org_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4`,
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
    ): Promise<{ id: string; decisionId: string; type: OutcomeType; occurredAt: string }[]> {
      return database.query(
        `SELECT id, decision_id AS "decisionId", type, occurred_at AS "occurredAt" FROM outcomes
         WHERE org_id = $1 AND decision_id >= $2 AND decision_id <= $3 AND ${NOT_RETRACTED}`,
        [organizationId, first, last],
      )
    },
  }
}
