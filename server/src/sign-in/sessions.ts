import { entriesForAccount, installationEntry, sessionsEnded } from '../admin/entries.ts'
import { endingOfSession, endingOfSessions } from '../admin/session-endings.ts'
import type { Installation } from '../installation/installation.ts'
import { generateToken, hashToken } from '../security/secret-token.ts'
import {
  deleteSessions,
  insertSession,
  listSessions,
  OIDC_SESSION_SECONDS,
  SESSION_SECONDS,
  type SignedInSession,
  touchSession,
} from '../store/control/sessions.ts'

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
  return touchSession(storage.control, {
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
