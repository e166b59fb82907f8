import type { Installation } from '../installation/installation.ts'
import { generateToken, hashToken } from '../security/bearer-token.ts'
import {
  deleteSessions,
  findStoredSession,
  insertSession,
  keepSession,
  listSessions,
  OIDC_SESSION_SECONDS,
  SESSION_SECONDS,
  type SignedInSession,
  useSession,
} from '../store/control/sessions.ts'
import type { Queryable } from '../store/database/database.ts'
import type { EntryToRecord } from '../store/power/entry-queue.ts'
import { entriesForAccount, installationEntry, sessionEnded, sessionsEnded } from './entries.ts'

/** How an operator proved who they are. */
export type SignInMethod = 'first_link' | 'invitation' | 'password' | 'password_and_code' | 'passkey' | 'oidc'

/** A browser or another program that sent a request. */
export interface Client {
  address: string
  userAgent: string
}

/** Starts a session of an account, and returns the token for its cookie, which is not stored. */
export async function beginSession(
  installation: Installation,
  { accountId, method, client }: { accountId: string; method: SignInMethod; client: Client },
): Promise<string> {
  const { storage, newId, nowMs, masterKey } = installation
  const token = generateToken()
  const now = new Date(nowMs())
  const lifetime = method === 'oidc' ? OIDC_SESSION_SECONDS : SESSION_SECONDS
  const session = await storage.control.afterEndings('sessions', {
    token_hash: hashToken(masterKey, 'sessions', token),
    id: newId('ses'),
    account_id: accountId,
    method,
    address: client.address,
    user_agent: client.userAgent,
    created_at: now.toISOString(),
    last_used_at: now.toISOString(),
    expires_at: new Date(now.getTime() + lifetime * 1_000).toISOString(),
  })
  const entry = installationEntry(installation, {
    type: 'account.session_started',
    subjectId: session.id,
    data: { account_id: accountId, method },
  })
  const entriesOf = await entriesForAccount(installation, accountId)
  await storage.control.recorded(async (transaction, record) => {
    await insertSession(transaction, storage.control.seal('sessions', session, entry))
    record(entry, ...entriesOf('operator.signed_in', { method, session_id: session.id }))
  })
  // Sessions that were all ended meanwhile include this one, which no request can use: the person signs in again.
  const { after_entry_id } = await storage.control.afterEndings('sessions', session)
  if (after_entry_id !== session.after_entry_id)
    await deleteSessions(storage.control, { accountId, sessionId: session.id })
  return token
}

/** Finds the valid session of a cookie's token. */
export async function findSession(
  { storage, nowMs, masterKey }: Installation,
  token: string,
): Promise<SignedInSession | undefined> {
  return useSession(storage.control, {
    tokenHash: hashToken(masterKey, 'sessions', token),
    now: new Date(nowMs()).toISOString(),
  })
}

/** Whether a session of an account is still valid; it is not noted as used. */
export async function isSessionValid(
  { storage, nowMs }: Installation,
  { accountId, sessionId }: { accountId: string; sessionId: string },
): Promise<boolean> {
  const sessions = await listSessions(storage.control, { accountId, now: new Date(nowMs()).toISOString() })
  return sessions.some(({ id }) => id === sessionId)
}

/** Ends one session of an account, because its person signed out or ended it from elsewhere; false if it had ended. */
export async function endSession(
  installation: Installation,
  { accountId, sessionId }: { accountId: string; sessionId: string },
): Promise<boolean> {
  const entriesOf = await entriesForAccount(installation, accountId)
  const end = await endingOfSession(installation, { accountId, sessionId })
  return installation.storage.control.recorded(async (transaction, record) => {
    const isEnded = await end(transaction, record)
    if (isEnded) record(...entriesOf('operator.session_ended', { sessions: 1 }))
    return isEnded
  })
}

/**
 * Prepares to end one session of an account. The result is called in the transaction of the act, records the end, and
 * returns whether it did. A session that is out of sight ends too, so that it does not count once it is back.
 */
export async function endingOfSession(
  installation: Installation,
  { accountId, sessionId }: { accountId: string; sessionId: string },
): Promise<(transaction: Queryable, record: (entry: EntryToRecord) => void) => Promise<boolean>> {
  const { storage, stores } = installation
  await storage.control.recordQueued()
  const isOnLog = await stores.production.grants.hasSession({ accountId, sessionId })
  return async (transaction, record) => {
    const ended = await deleteSessions(transaction, { accountId, sessionId })
    const isEnded = isOnLog || ended.length > 0
    if (isEnded) record(sessionEnded(installation, accountId, sessionId))
    return isEnded
  }
}

/** Ends all sessions of an account, except one if it is named; returns how many. */
export async function endSessions(
  installation: Installation,
  { accountId, except }: { accountId: string; except?: string },
): Promise<number> {
  const entriesOf = await entriesForAccount(installation, accountId)
  const entry = sessionsEnded(installation, accountId, except)
  const end = await endingOfSessions(installation, { accountId, except, entry })
  return installation.storage.control.recorded(async (transaction, record) => {
    const ended = await end(transaction)
    record(entry)
    if (ended > 0) record(...entriesOf('operator.session_ended', { sessions: ended }))
    return ended
  })
}

/**
 * Prepares to end all sessions of an account with an entry about it, except one if that is named. The result is called in
 * the transaction of the act, and returns how many sessions it ended. The entry ends those that are out of sight too.
 */
export async function endingOfSessions(
  { storage: { control }, nowMs }: Installation,
  { accountId, except = '', entry }: { accountId: string; except?: string | undefined; entry: EntryToRecord },
): Promise<(transaction: Queryable) => Promise<number>> {
  const now = new Date(nowMs()).toISOString()
  const kept = await findStoredSession(control, { accountId, sessionId: except, now })
  return async (transaction) => {
    const ended = await deleteSessions(transaction, { accountId, except })
    if (kept) {
      const goesOn = { ...kept, after_entry_id: entry.entry.id }
      await keepSession(transaction, control.seal('sessions', goesOn, { entry: { id: kept.entry_id } }))
    }
    return ended.length
  }
}
