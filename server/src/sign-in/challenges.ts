import type { Installation } from '../installation/installation.ts'
import { generateToken, hashToken } from '../security/secret-token.ts'
import { challengeEnd, signChallenge } from '../security/signed-challenge.ts'
import { findAccount } from '../store/control/accounts.ts'
import {
  type ChallengePurpose,
  type ChallengeRow,
  findChallenge,
  insertChallenge,
  takeChallenge,
} from '../store/control/sign-in-challenges.ts'
import { noteChallengeUse } from '../store/control/used-challenges.ts'

const VALID_MS = 10 * 60_000

/** Opens an exchange in two steps for an account, and returns what the page sends back with the second, or what the passkey signs. */
export async function openChallenge(
  installation: Installation,
  { purpose, accountId }: { purpose: ChallengePurpose; accountId: string },
): Promise<string> {
  const { storage, nowMs } = installation
  const token = generateToken()
  const challenge = { account_id: accountId, expires_at: new Date(nowMs() + VALID_MS).toISOString() }
  // Without an account there is nothing to bind it to: no second step is accepted.
  const mac = (await macOf(installation, { purpose, token }, challenge)) ?? ''
  const row = { token_hash: hashToken(installation.masterKey, 'challenges', token), purpose, ...challenge, mac }
  await insertChallenge(storage.control, row)
  return token
}

/** Finds the account of an open challenge, which stays open; undefined if there is none. */
export async function accountOfChallenge(installation: Installation, exchange: Exchange): Promise<string | undefined> {
  const challenge = await findChallenge(installation.storage.control, queryOf(installation, exchange))
  return challenge && (await isBound(installation, exchange, challenge)) ? challenge.account_id : undefined
}

/** Ends an exchange: whether the challenge was open, and of this account. It works once. */
export async function closeChallenge(
  installation: Installation,
  { accountId, ...exchange }: Exchange & { accountId: string },
): Promise<boolean> {
  const challenge = await takeChallenge(installation.storage.control, queryOf(installation, exchange))
  return challenge?.account_id === accountId && (await isBound(installation, exchange, challenge))
}

/** The purpose of an exchange in two steps, and what its caller sent back. */
interface Exchange {
  purpose: ChallengePurpose
  token: string
}

function queryOf({ masterKey, nowMs }: Installation, { purpose, token }: Exchange) {
  return { tokenHash: hashToken(masterKey, 'challenges', token), purpose, now: new Date(nowMs()).toISOString() }
}

/** Whether a challenge is of the account that opened it, and the account has not changed how it signs in since. */
async function isBound(installation: Installation, exchange: Exchange, challenge: ChallengeRow): Promise<boolean> {
  return (await macOf(installation, exchange, challenge)) === challenge.mac
}

async function macOf(
  { storage, masterKey }: Installation,
  { purpose, token }: Exchange,
  { account_id, expires_at }: Omit<ChallengeRow, 'mac'>,
): Promise<string | undefined> {
  const account = await findAccount(storage.control, account_id)
  return (
    account &&
    hashToken(masterKey, 'challenges', JSON.stringify([purpose, token, expires_at, account_id, account.entry_id]))
  )
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
  if (endMs === undefined || endMs <= installation.nowMs()) return false
  return noteChallengeUse(installation.storage.control, {
    tokenHash: hashToken(installation.masterKey, 'challenges', token),
    expiresAt: new Date(endMs).toISOString(),
  })
}

/**
 * Uses the state of a sign-in through the identity provider, whatever becomes of it: false if it was used before. The
 * browser could be told to keep its cookie, and a provider could take a code twice; the database is asked on every node.
 */
export function useSignOnState(
  { storage, masterKey }: Installation,
  { state, expiresAtMs }: { state: string; expiresAtMs: number },
): Promise<boolean> {
  return noteChallengeUse(storage.control, {
    tokenHash: hashToken(masterKey, 'challenges', `single sign-on ${state}`),
    expiresAt: new Date(expiresAtMs).toISOString(),
  })
}

function passkeyKey({ masterKey }: Installation) {
  return masterKey.deriveHmacKey('passkey challenges')
}
