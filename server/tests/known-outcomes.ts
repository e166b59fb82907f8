import type { Database } from '../src/store/database/database.ts'
import { copyDecisions } from './copy-decisions.ts'
import { tamper } from './tamper.ts'

/**
 * Copies the decisions of an organization, each copy about an entity of its own unless `areOfOne`, and reports how they ended: the
 * first `bad` of them in default, the others repaid.
 */
export async function copyWithOutcomes(
  database: Database,
  {
    from,
    to,
    copies,
    bad,
    areOfOne = false,
  }: { from: string; to: string; copies: number; bad: number; areOfOne?: boolean },
): Promise<void> {
  await copyDecisions(database, { from, to, copies })
  if (!areOfOne)
    await tamper(database, "UPDATE decisions SET entity_id = id WHERE org_id = $1 AND id < 'dec_00999'", [to])
  await database.query(
    `INSERT INTO outcomes (org_id, id, decision_id, entity_id, type, occurred_at, body, created_at)
     SELECT org_id, 'out_' || substr(id, 5), id, entity_id, CASE WHEN number <= $2 THEN 'default' ELSE 'repaid' END, created_at, '{}', created_at
     FROM (SELECT *, row_number() OVER (ORDER BY id) AS number FROM decisions WHERE org_id = $1 AND id < 'dec_00999') AS copied`,
    [to, bad],
  )
}
