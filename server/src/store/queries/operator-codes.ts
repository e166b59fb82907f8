import type { Database, Row } from '../database/database.ts'

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

/** Stores the secret of an operator's codes in place of any earlier one, whose codes are refused from then on. */
export async function enrolCodes(
  control: Database,
  { organizationId, operatorId }: CodeOwner,
  { secret, enrolledAt }: { secret: string; enrolledAt: string },
): Promise<void> {
  await control.query(
    `INSERT INTO operator_codes (org_id, operator_id, secret, last_step, failures, enrolled_at)
     VALUES ($1, $2, $3, 0, 0, $4)
     ON CONFLICT (org_id, operator_id) DO UPDATE
       SET secret = excluded.secret, last_step = 0, failures = 0, locked_until = NULL, enrolled_at = excluded.enrolled_at`,
    [organizationId, operatorId, secret, enrolledAt],
  )
}

/**
 * Counts an attempt as failed before its code is checked, and locks the operator with the last one allowed. So attempts
 * at the same moment cannot get more tries than those one after another. Undefined while locked, or without a secret.
 */
export async function beginCodeAttempt(
  control: Database,
  { organizationId, operatorId }: CodeOwner,
  { now, failuresMax, lockSeconds }: { now: string; failuresMax: number; lockSeconds: number },
): Promise<CodeAttempt | undefined> {
  const [attempt] = await control.query<CodeAttempt & Row>(
    `UPDATE operator_codes SET failures = failures + 1,
       locked_until = CASE WHEN failures + 1 >= $4::integer THEN $3::timestamptz + make_interval(secs => $5) END
     WHERE org_id = $1 AND operator_id = $2 AND (locked_until IS NULL OR locked_until <= $3::timestamptz)
     RETURNING secret, last_step, failures, locked_until`,
    [organizationId, operatorId, now, failuresMax, lockSeconds],
  )
  return attempt
}

/** Accepts the code of a step and forgets the failures; false if this code or a newer one was accepted meanwhile. */
export async function acceptCode(
  control: Database,
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
  control: Database,
  { organizationId, operatorId }: CodeOwner,
): Promise<string | null | undefined> {
  const [row] = await control.query<{ locked_until: string | null }>(
    'SELECT locked_until FROM operator_codes WHERE org_id = $1 AND operator_id = $2',
    [organizationId, operatorId],
  )
  return row?.locked_until
}
