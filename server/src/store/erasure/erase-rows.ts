import type { Database } from '../database/database.ts'
import type { Erasure } from '../environment/erasures.ts'
import { ENVIRONMENT_RULES, type ErasureRule } from './erasure-rules.ts'

/** An erasure, as far as the statements that carry it out need it. */
export type ErasureTarget = Pick<Erasure, 'org_id' | 'entity_id' | 'entry_id'>

/** How many rows one statement deletes: its locks are held for milliseconds, and a crash loses no more. */
const ROWS_PER_STATEMENT = 1_000

/**
 * Deletes every row about an entity that an erasure deletes, table by table; returns how many there were. Each statement stands
 * for itself, so that after a crash the next call goes on.
 */
export async function eraseRows(database: Database, target: ErasureTarget): Promise<number> {
  let erased = 0
  for (const [table, rule] of Object.entries(ENVIRONMENT_RULES)) {
    for (;;) {
      const rows = await eraseSome(database, target, { table, rule })
      erased += rows
      if (rows < ROWS_PER_STATEMENT) break
    }
  }
  return erased
}

async function eraseSome(
  database: Database,
  target: ErasureTarget,
  { table, rule }: { table: string; rule: ErasureRule },
): Promise<number> {
  const { org_id, entity_id } = target
  if ('runs' in rule) {
    const run = async (on: Pick<Database, 'query'>) =>
      (await on.query(rule.runs(ROWS_PER_STATEMENT), [org_id, entity_id])).length
    const { locks } = rule
    if (locks === undefined) return run(database)
    return database.transaction(async (transaction) => {
      await transaction.query(locks, [org_id, entity_id])
      return run(transaction)
    })
  }
  if (!('deletes' in rule) || rule.deletes === undefined) return 0
  const change = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT stored.ctid FROM ${table} AS stored WHERE stored.org_id = $1 AND ${rule.deletes} LIMIT ${ROWS_PER_STATEMENT}))`
  if (rule.givesWay) return changeRecords(database, target, { change })
  return (await database.query(`${change} RETURNING 1`, [org_id, entity_id])).length
}

/** Changes rows of an append-only table about the entity; `given` is `$3` of the statement. Returns how many it changed. */
export async function changeRecords(
  database: Database,
  { org_id, entry_id }: ErasureTarget,
  { change, given = null }: { change: string; given?: unknown },
): Promise<number> {
  const [row] = await database.query<{ changed: number }>('SELECT erase_records($1, $2, $3, $4::jsonb) AS changed', [
    ...[org_id, entry_id, change, given === null ? null : JSON.stringify(given)],
  ])
  return row!.changed
}
