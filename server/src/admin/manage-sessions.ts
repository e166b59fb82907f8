import { generateToken, hashToken } from '../security/bearer-token.ts'
import type { Installation } from '../service/installation.ts'
import {
  deleteSession,
  deleteSessions,
  insertSession,
  listSessions,
  OIDC_SESSION_SECONDS,
  SESSION_SECONDS,
  type SignedInSession,
  useSession,
} from '../store/queries/sessions.ts'
import { recordForAccount } from './record-for-account.ts'

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
  const id = newId('ses')
  await recordForAccount(installation, accountId, { type: 'operator.signed_in', data: { method, session_id: id } })
  await insertSession(storage.control, {
    token_hash: hashToken(masterKey, 'sessions', token),
    id,
    account_id: accountId,
    method,
    address: client.address,
    user_agent: client.userAgent,
    created_at: now.toISOString(),
    last_used_at: now.toISOString(),
    expires_at: new Date(now.getTime() + lifetime * 1_000).toISOString(),
  })
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

/** Ends one session of an account, because its person signed out or ended it from elsewhere. */
export async function endSession(
  installation: Installation,
  { accountId, sessionId }: { accountId: string; sessionId: string },
): Promise<boolean> {
  const isEnded = await deleteSession(installation.storage.control, { accountId, sessionId })
  if (isEnded)
    await recordForAccount(installation, accountId, { type: 'operator.session_ended', data: { sessions: 1 } })
  return isEnded
}

/** Ends all sessions of an account, except one if it is named, and returns how many. */
export async function endSessions(
  installation: Installation,
  { accountId, except }: { accountId: string; except?: string },
): Promise<number> {
  const ended = await deleteSessions(installation.storage.control, { accountId, ...(except && { except }) })
  if (ended > 0)
    await recordForAccount(installation, accountId, { type: 'operator.session_ended', data: { sessions: ended } })
  return ended
}
