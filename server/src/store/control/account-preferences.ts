import type { NumberNotation } from '../../core/vocabularies.ts'
import type { Database, Queryable } from '../database/database.ts'

/** The notation in which a person writes numbers; null until they chose one. */
export async function numberNotationOf(control: Database, accountId: string): Promise<NumberNotation | null> {
  const [row] = await control.query<{ number_notation: NumberNotation | null }>(
    'SELECT number_notation FROM account_preferences WHERE account_id = $1',
    [accountId],
  )
  return row?.number_notation ?? null
}

/** Stores the notation in which a person writes numbers; null is that of the browser. */
export async function updateNumberNotation(
  control: Queryable,
  { accountId, notation }: { accountId: string; notation: NumberNotation | null },
): Promise<void> {
  await control.query(
    `INSERT INTO account_preferences (account_id, number_notation) VALUES ($1, $2)
     ON CONFLICT (account_id) DO UPDATE SET number_notation = excluded.number_notation`,
    [accountId, notation],
  )
}
