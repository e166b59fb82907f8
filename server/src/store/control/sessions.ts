import type { Queryable, Row } from '../database/database.ts'
import type { AfterEntry, ControlDatabase } from '../power/control-database.ts'
import { insertRow } from '../power/insert-row.ts'
import type { Seal } from '../power/row-mac.ts'
import { ACCOUNT_COLUMNS } from './accounts.ts'

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

/** A session as it is stored. */
export type StoredSession = Session & AfterEntry & Seal & { token_hash: string }

const COLUMNS = [
  ...['token_hash', 'id', 'account_id', 'method', 'address', 'user_agent', 'created_at', 'last_used_at', 'expires_at'],
  ...['after_entry_id', 'entry_id', 'mac'],
]

/** How long a session lasts without a request. */
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

/** Adds a session. */
export async function insertSession(control: Queryable, session: StoredSession): Promise<void> {
  await insertRow(control, 'sessions', session)
}

/** SQL: the sessions that are valid at `$2`, neither idle for too long nor too old. */
const VALID = `expires_at > $2::timestamptz AND last_used_at > $2::timestamptz - interval '${SESSION_IDLE_SECONDS} seconds'`

/** Finds the valid session of a cookie, and notes that it was used. */
export async function touchSession(
  control: ControlDatabase,
  { tokenHash, now }: { tokenHash: string; now: string },
): Promise<SignedInSession | undefined> {
  const columns = [
    ...COLUMNS.map((column) => `session.${column}`),
    ...ACCOUNT_COLUMNS.map((column) => `account.${column} AS account__${column}`),
  ]
  const [row] = await control.genuineParts(
    () =>
      control.query<StoredSession & Row>(
        `SELECT ${columns.join(', ')}
         FROM sessions AS session JOIN accounts AS account ON account.id = session.account_id
         WHERE session.token_hash = $1 AND ${VALID}`,
        [tokenHash, now],
      ),
    (session) => [
      { table: 'sessions', row: session },
      { table: 'accounts', row: accountIn(session) },
    ],
  )
  if (!row) return undefined
  if (Date.parse(now) - Date.parse(row.last_used_at) >= TOUCH_AFTER_SECONDS * 1_000)
    await control.query('UPDATE sessions SET last_used_at = greatest(last_used_at, $2) WHERE token_hash = $1', [
      tokenHash,
      now,
    ])
  const { email, name } = accountIn(row) as { email: string; name: string }
  return { ...sessionIn(row), email, name }
}

function accountIn(row: Row): Row {
  return Object.fromEntries(ACCOUNT_COLUMNS.map((column) => [column, row[`account__${column}`]]))
}

function sessionIn(row: StoredSession): Session {
  const { id, account_id, method, address, user_agent, created_at, last_used_at, expires_at } = row
  return { id, account_id, method, address, user_agent, created_at, last_used_at, expires_at }
}

/** Lists the valid sessions of an account, newest first. */
export async function listSessions(
  control: ControlDatabase,
  { accountId, now }: { accountId: string; now: string },
): Promise<Session[]> {
  return (await readSessions(control, { accountId, now })).map(sessionIn)
}

/** Finds a valid session of an account as it is stored, to seal it anew. */
export async function findStoredSession(
  control: ControlDatabase,
  { accountId, sessionId, now }: { accountId: string; sessionId: string; now: string },
): Promise<StoredSession | undefined> {
  const sessions = await readSessions(control, { accountId, now, mayBeCached: false })
  return sessions.find(({ id }) => id === sessionId)
}

function readSessions(
  control: ControlDatabase,
  { accountId, now, mayBeCached = true }: { accountId: string; now: string; mayBeCached?: boolean },
): Promise<(StoredSession & Row)[]> {
  return control.genuine(
    'sessions',
    () =>
      control.query<StoredSession & Row>(
        `SELECT ${COLUMNS.join(', ')} FROM sessions WHERE account_id = $1 AND ${VALID} ORDER BY id DESC`,
        [accountId, now],
      ),
    { mayBeCached },
  )
}

/** Stores that a session goes on after an entry that ended all others of its account. */
export async function keepSession(
  control: Queryable,
  { id, after_entry_id, mac }: Pick<StoredSession, 'id' | 'after_entry_id' | 'mac'>,
): Promise<void> {
  await control.query('UPDATE sessions SET after_entry_id = $2, mac = $3 WHERE id = $1', [id, after_entry_id, mac])
}

/** Ends one session of an account, or all of them except one if it is named; returns the ids of those that it ended. */
export async function deleteSessions(
  control: Queryable,
  {
    accountId,
    sessionId,
    except = '',
  }: { accountId: string; sessionId?: string | undefined; except?: string | undefined },
): Promise<string[]> {
  const deleted = await control.query<{ id: string }>(
    'DELETE FROM sessions WHERE account_id = $1 AND id <> $2 AND ($3::text IS NULL OR id = $3) RETURNING id',
    [accountId, except, sessionId ?? null],
  )
  return deleted.map(({ id }) => id)
}
