import { generateToken, hashToken } from '../security/bearer-token.ts'
import { challengeEnd, signChallenge } from '../security/signed-challenge.ts'
import type { Installation } from '../service/installation.ts'
import {
  type ChallengePurpose,
  findChallenge,
  insertChallenge,
  takeChallenge,
} from '../store/queries/sign-in-challenges.ts'
import { noteChallengeUse } from '../store/queries/used-challenges.ts'

const VALID_MS = 10 * 60_000

/** Opens an exchange in two steps for an account, and returns what the page sends back with the second, or what the passkey signs. */
export async function openChallenge(
  { storage, nowMs, masterKey }: Installation,
  { purpose, accountId }: { purpose: ChallengePurpose; accountId: string },
): Promise<string> {
  const token = generateToken()
  const now = nowMs()
  const challenge = {
    token_hash: hashToken(masterKey, 'challenges', token),
    purpose,
    account_id: accountId,
    expires_at: new Date(now + VALID_MS).toISOString(),
  }
  await insertChallenge(storage.control, challenge, new Date(now).toISOString())
  return token
}

/** Finds the account of an open challenge, which stays open; undefined if there is none. */
export async function accountOfChallenge(
  { storage, nowMs, masterKey }: Installation,
  { purpose, token }: { purpose: ChallengePurpose; token: string },
): Promise<string | undefined> {
  const query = { tokenHash: hashToken(masterKey, 'challenges', token), purpose, now: new Date(nowMs()).toISOString() }
  return (await findChallenge(storage.control, query))?.account_id
}

/** Ends an exchange: whether the challenge was open, and of this account. It works once. */
export async function closeChallenge(
  { storage, nowMs, masterKey }: Installation,
  { purpose, token, accountId }: { purpose: ChallengePurpose; token: string; accountId: string },
): Promise<boolean> {
  const query = { tokenHash: hashToken(masterKey, 'challenges', token), purpose, now: new Date(nowMs()).toISOString() }
  const challenge = await takeChallenge(storage.control, query)
  return challenge !== undefined && challenge.account_id === accountId
}

/** Makes the challenge that a passkey signs to sign in. It is signed and not stored, because any caller may ask for one. */
export function openPasskeyChallenge(installation: Installation): string {
  return signChallenge(passkeyKey(installation), installation.nowMs() + VALID_MS)
}

/** Whether this installation made the challenge, and it has not ended. */
export function isPasskeyChallenge(installation: Installation, token: string): boolean {
  const endMs = challengeEnd(passkeyKey(installation), token)
  return endMs !== undefined && endMs > installation.nowMs()
}

/**
 * Uses a challenge whose answer was checked: false if it was used before. Only a right answer is remembered, so that a
 * caller without a passkey adds no rows.
 */
export async function usePasskeyChallenge(installation: Installation, token: string): Promise<boolean> {
  const endMs = challengeEnd(passkeyKey(installation), token)
  const nowMs = installation.nowMs()
  if (endMs === undefined || endMs <= nowMs) return false
  return noteChallengeUse(installation.storage.control, {
    tokenHash: hashToken(installation.masterKey, 'challenges', token),
    expiresAt: new Date(endMs).toISOString(),
    now: new Date(nowMs).toISOString(),
  })
}

/**
 * Uses the state of a sign-in through the identity provider, whatever becomes of it: false if it was used before. The
 * browser could be told to keep its cookie, and a provider could take a code twice; the database is asked on every node.
 */
export function useSignOnState(
  { storage, masterKey, nowMs }: Installation,
  { state, expiresAtMs }: { state: string; expiresAtMs: number },
): Promise<boolean> {
  return noteChallengeUse(storage.control, {
    tokenHash: hashToken(masterKey, 'challenges', `single sign-on ${state}`),
    expiresAt: new Date(expiresAtMs).toISOString(),
    now: new Date(nowMs()).toISOString(),
  })
}

function passkeyKey({ masterKey }: Installation) {
  return masterKey.deriveHmacKey('passkey challenges')
}
