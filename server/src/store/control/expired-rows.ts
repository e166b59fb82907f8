import type { Queryable } from '../database/database.ts'
import { ANSWERS_KEPT_HOURS } from '../environment/idempotency-keys.ts'
import { FORGOTTEN_AFTER_HOURS } from './sign-in-failures.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A table whose rows count until a time: `by` is the indexed column with it, and they are kept for `keptMs` longer. */
interface Expiring {
  table: string
  by: string
  keptMs: number
}

/** The tables of people whose rows expire. No row of them counts any more when it is deleted. */
export const EXPIRING_TABLES: readonly Expiring[] = [
  { table: 'sessions', by: 'expires_at', keptMs: 0 },
  { table: 'sign_in_challenges', by: 'expires_at', keptMs: 0 },
  { table: 'used_challenges', by: 'expires_at', keptMs: 0 },
  { table: 'sign_in_failures', by: 'last_at', keptMs: FORGOTTEN_AFTER_HOURS * HOUR_MS },
  { table: 'act_keys', by: 'created_at', keptMs: ANSWERS_KEPT_HOURS * HOUR_MS },
  { table: 'first_link', by: 'expires_at', keptMs: 0 },
  // The team sees for a month that a link was not used in time.
  { table: 'invitations', by: 'expires_at', keptMs: 30 * DAY_MS },
]

/** Deletes rows of one of these tables, at most `limit` at once; returns how many. */
export async function deleteExpired(
  control: Queryable,
  { table, by, keptMs }: Expiring,
  { nowMs, limit }: { nowMs: number; limit: number },
): Promise<number> {
  // The time again outside: a row that changes meanwhile, such as by another failure, is not to be deleted.
  const deleted = await control.query(
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY (SELECT ctid FROM ${table} WHERE ${by} < $1::timestamptz ORDER BY ${by} LIMIT $2))
       AND ${by} < $1::timestamptz RETURNING 1`,
    [new Date(nowMs - keptMs).toISOString(), limit],
  )
  return deleted.length
}
