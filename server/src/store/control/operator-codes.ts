import type { Queryable, Row } from '../database/database.ts'
import type { ControlDatabase } from '../power/control-database.ts'
import type { Seal } from '../power/row-mac.ts'

/** The operator whose codes are meant. */
export interface CodeOwner {
  organizationId: string
  operatorId: string
}

/** What checking a code needs. */
export interface CodeAttempt {
  secret: string
  last_step: number
  failures: number
  locked_until: string | null
}

/** The secret of an operator's codes, as it is stored. */
export interface StoredCodes {
  org_id: string
  operator_id: string
  secret: string
  enrolled_at: string
}

/**
 * Stores the secret of an operator's codes in place of any earlier one, whose codes are refused from then on. A code of
 * `lastStep`, which confirmed the secret, is refused too.
 */
export async function enrolCodes(control: Queryable, codes: StoredCodes & Seal, lastStep = 0): Promise<void> {
  await control.query(
    `INSERT INTO operator_codes (org_id, operator_id, secret, last_step, failures, enrolled_at, entry_id, mac)
     VALUES ($1, $2, $3, $7, 0, $4, $5, $6)
     ON CONFLICT (org_id, operator_id) DO UPDATE
       SET secret = excluded.secret, last_step = excluded.last_step, failures = 0, locked_until = NULL,
         enrolled_at = excluded.enrolled_at, entry_id = excluded.entry_id, mac = excluded.mac`,
    [codes.org_id, codes.operator_id, codes.secret, codes.enrolled_at, codes.entry_id, codes.mac, lastStep],
  )
}

/** Reads the secret of an operator's codes. */
export async function findCodes(
  control: ControlDatabase,
  { organizationId, operatorId }: CodeOwner,
): Promise<StoredCodes | undefined> {
  const [codes] = await control.genuine('operator_codes', () =>
    control.query<StoredCodes & Row>(
      `SELECT org_id, operator_id, secret, enrolled_at, entry_id, mac FROM operator_codes
       WHERE org_id = $1 AND operator_id = $2`,
      [organizationId, operatorId],
    ),
  )
  return codes
}

/**
 * Counts an attempt as failed before its code is checked, and locks the operator with the last one allowed. So attempts
 * at the same moment cannot get more tries than those one after another. Undefined while locked, or with another secret.
 */
export async function beginCodeAttempt(
  control: Queryable,
  { organizationId, operatorId }: CodeOwner,
  { secret, now, failuresMax, lockSeconds }: { secret: string; now: string; failuresMax: number; lockSeconds: number },
): Promise<CodeAttempt | undefined> {
  const [attempt] = await control.query<CodeAttempt & Row>(
    `UPDATE operator_codes SET failures = failures + 1,
       locked_until = CASE WHEN failures + 1 >= $4::integer THEN $3::timestamptz + make_interval(secs => $5) END
     WHERE org_id = $1 AND operator_id = $2 AND secret = $6 AND (locked_until IS NULL OR locked_until <= $3::timestamptz)
     RETURNING secret, last_step, failures, locked_until`,
    [organizationId, operatorId, now, failuresMax, lockSeconds, secret],
  )
  return attempt
}

/** Accepts the code of a step and forgets the failures; false if this code or a newer one was accepted meanwhile. */
export async function acceptCode(
  control: Queryable,
  { organizationId, operatorId }: CodeOwner,
  { step, secret }: { step: number; secret: string },
): Promise<boolean> {
  const accepted = await control.query(
    `UPDATE operator_codes SET last_step = $3, failures = 0, locked_until = NULL
     WHERE org_id = $1 AND operator_id = $2 AND secret = $4 AND last_step < $3 RETURNING 1`,
    [organizationId, operatorId, step, secret],
  )
  return accepted.length === 1
}

/** Until when an operator is locked; null if not, undefined if the operator has no codes. */
export async function codesLockedUntil(
  control: Queryable,
  { organizationId, operatorId }: CodeOwner,
): Promise<string | null | undefined> {
  const [row] = await control.query<{ locked_until: string | null }>(
    'SELECT locked_until FROM operator_codes WHERE org_id = $1 AND operator_id = $2',
    [organizationId, operatorId],
  )
  return row?.locked_until
}
