import type { Database, Row } from '../database/database.ts'

/** How many failures in a row lock a subject, and for how long at first; each further failure doubles it up to `lockSecondsMax`. */
export interface ThrottleLimit {
  failuresMax: number
  lockSeconds: number
  lockSecondsMax: number
}

/** An attempt that was counted; `locked_until` is set if it was the last one before a lock. */
export interface CountedAttempt {
  failures: number
  locked_until: string | null
}

/** Failures are forgotten after this time without any; no lock lasts as long. */
export const FORGOTTEN_AFTER_HOURS = 1
const FORGOTTEN_AFTER = `interval '${FORGOTTEN_AFTER_HOURS} hours'`

/**
 * Counts an attempt as failed before it is checked, so that attempts at the same moment cannot get more tries than
 * those one after another. Undefined while the subject is locked.
 */
export async function countAttempt(
  control: Database,
  { subject, now }: { subject: string; now: string },
  { failuresMax, lockSeconds, lockSecondsMax }: ThrottleLimit,
): Promise<CountedAttempt | undefined> {
  const [attempt] = await control.query<CountedAttempt & Row>(
    `INSERT INTO sign_in_failures AS earlier (subject, failures, last_at) VALUES ($1, 1, $2)
     ON CONFLICT (subject) DO UPDATE SET
       failures = CASE WHEN earlier.last_at < $2::timestamptz - ${FORGOTTEN_AFTER} THEN 1 ELSE earlier.failures + 1 END,
       locked_until = CASE WHEN earlier.failures + 1 >= $3::integer AND earlier.last_at >= $2::timestamptz - ${FORGOTTEN_AFTER}
         THEN $2::timestamptz + make_interval(secs =>
           least($5::double precision, $4::double precision * power(2, least(20, earlier.failures + 1 - $3::integer)))) END,
       last_at = $2
     WHERE earlier.locked_until IS NULL OR earlier.locked_until <= $2::timestamptz
     RETURNING failures, locked_until`,
    [subject, now, failuresMax, lockSeconds, lockSecondsMax],
  )
  return attempt
}

/** Until when a subject is locked; null if it is not. */
export async function lockedUntil(control: Database, subject: string): Promise<string | null> {
  const [row] = await control.query<{ locked_until: string | null }>(
    'SELECT locked_until FROM sign_in_failures WHERE subject = $1',
    [subject],
  )
  return row?.locked_until ?? null
}

/** Forgets all failures of a subject, after a success. */
export async function forgetFailures(control: Database, subject: string): Promise<void> {
  await control.query('DELETE FROM sign_in_failures WHERE subject = $1', [subject])
}

/** Takes back one counted attempt, which was none: others of the same subject still count. */
export async function discountAttempt(control: Database, subject: string): Promise<void> {
  await control.query(
    'UPDATE sign_in_failures SET failures = failures - 1, locked_until = NULL WHERE subject = $1 AND failures > 0',
    [subject],
  )
}
