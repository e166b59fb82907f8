import { type OutcomeTally, tallyOutcome } from '../../core/graph/track-record.ts'
import type { Database } from '../database/database.ts'
import { NOT_RETRACTED } from '../environment/outcomes.ts'
import type { ErasureTarget } from './erase-rows.ts'

/**
 * Leaves of the track record of an entity with a confirmed fraud what the fraud says, and nothing of its other outcomes: a new
 * entity with one of its identifiers is linked to it. Returns whether there was more.
 */
export async function keepFraudAlone(database: Database, { org_id, entity_id }: ErasureTarget): Promise<boolean> {
  const frauds = await database.query<{ occurred_at: string }>(
    `SELECT occurred_at FROM outcomes WHERE org_id = $1 AND entity_id = $2 AND type = 'fraud_confirmed' AND ${NOT_RETRACTED}`,
    [org_id, entity_id],
  )
  if (frauds.length === 0) return false
  const tallies = frauds.reduce<OutcomeTally[]>(
    (known, { occurred_at: occurredAt }) => tallyOutcome(known, { type: 'fraud_confirmed', occurredAt }),
    [],
  )
  const changed = await database.query(
    `UPDATE graph_track_records SET tallies = $3, is_adverse = true, version = version + 1
     WHERE org_id = $1 AND entity_id = $2 AND tallies <> $3 RETURNING 1`,
    [org_id, entity_id, JSON.stringify(tallies)],
  )
  return changed.length > 0
}
