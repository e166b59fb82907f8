import type { Database, Row } from '../database/database.ts'

/** A browser that is signed in. */
export interface Session {
  id: string
  account_id: string
  method: string
  address: string
  user_agent: string
  created_at: string
  last_used_at: string
  expires_at: string
}

/** A session with the person that it belongs to. */
export type SignedInSession = Session & { email: string; name: string }

const COLUMNS = 'id, account_id, method, address, user_agent, created_at, last_used_at, expires_at'

/** How long a session lasts without a request, and in all. */
export const SESSION_IDLE_SECONDS = 12 * 3_600
/** How long a session lasts in all. */
export const SESSION_SECONDS = 14 * 24 * 3_600

/**
 * How long a session lasts that the identity provider began: the service does not hear that a person left there, so
 * they have to come back by way of the provider every day.
 */
export const OIDC_SESSION_SECONDS = 12 * 3_600

/** `last_used_at` is written at most this often, so that most requests write nothing. */
const TOUCH_AFTER_SECONDS = 60

/** Rows that one sign-in deletes of those that have expired. */
const PURGED_AT_ONCE = 200

/** Adds a session, and deletes sessions that have expired, so that the table needs no other upkeep. */
export async function insertSession(control: Database, session: Session & { token_hash: string }): Promise<void> {
  await control.query(
    `WITH expired AS (
       DELETE FROM sessions WHERE token_hash IN (
         SELECT token_hash FROM sessions WHERE expires_at <= $7::timestamptz ORDER BY expires_at LIMIT ${PURGED_AT_ONCE}))
     INSERT INTO sessions (token_hash, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      session.token_hash,
      session.id,
      session.account_id,
      session.method,
      session.address,
      session.user_agent,
      session.created_at,
      session.last_used_at,
      session.expires_at,
    ],
  )
}

/** SQL: the sessions that are valid at `$2`, neither idle for too long nor too old. */
const VALID = `expires_at > $2::timestamptz AND last_used_at > $2::timestamptz - interval '${SESSION_IDLE_SECONDS} seconds'`

/** Finds the valid session of a cookie, and notes that it was used. */
export async function useSession(
  control: Database,
  { tokenHash, now }: { tokenHash: string; now: string },
): Promise<SignedInSession | undefined> {
  const columns = COLUMNS.split(', ').map((column) => `session.${column}`)
  const [session] = await control.query<SignedInSession & Row>(
    `SELECT ${columns.join(', ')}, account.email, account.name
     FROM sessions AS session JOIN accounts AS account ON account.id = session.account_id
     WHERE session.token_hash = $1 AND ${VALID}`,
    [tokenHash, now],
  )
  if (session && Date.parse(now) - Date.parse(session.last_used_at) >= TOUCH_AFTER_SECONDS * 1_000)
    await control.query('UPDATE sessions SET last_used_at = greatest(last_used_at, $2) WHERE token_hash = $1', [
      tokenHash,
      now,
    ])
  return session
}

/** Lists the valid sessions of an account, newest first. */
export async function listSessions(
  control: Database,
  { accountId, now }: { accountId: string; now: string },
): Promise<Session[]> {
  return control.query<Session & Row>(
    `SELECT ${COLUMNS} FROM sessions WHERE account_id = $1 AND ${VALID} ORDER BY id DESC`,
    [accountId, now],
  )
}

/** Ends one session of an account; false if it has none with this id. */
export async function deleteSession(
  control: Database,
  { accountId, sessionId }: { accountId: string; sessionId: string },
): Promise<boolean> {
  const deleted = await control.query('DELETE FROM sessions WHERE account_id = $1 AND id = $2 RETURNING 1', [
    accountId,
    sessionId,
  ])
  return deleted.length === 1
}

/** Ends all sessions of an account, except one if it is named, and returns how many. */
export async function deleteSessions(
  control: Database,
  { accountId, except = '' }: { accountId: string; except?: string },
): Promise<number> {
  const deleted = await control.query('DELETE FROM sessions WHERE account_id = $1 AND id <> $2 RETURNING 1', [
    accountId,
    except,
  ])
  return deleted.length
}
