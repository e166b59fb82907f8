import { beginAttempt, checkPassword, endAttempt, sessionAttempt, takeBackAttempt } from '../admin/sign-in.ts'
import { needsCode } from '../admin/two-factor.ts'
import { networkOf } from '../http/network-of.ts'
import { findAccount } from '../store/control/accounts.ts'
import { attemptRefusal } from './attempt-refusal.ts'
import type { AccountContext, Refusal } from './define-operation.ts'

type Confirmed = Pick<AccountContext<unknown>, 'installation' | 'account' | 'client'>

/** How long ago a person without a password may have signed in to change how they sign in. */
const RECENT_MS = 10 * 60_000

/**
 * Asks for the password again before a change of how one signs in; a session alone may be a browser left open. A person
 * without a password signs in by passkey or single sign-on, and has to have done so a moment ago. Attempts count for this
 * session alone: strangers who guess at the sign-in do not keep its person from acting.
 */
export async function confirmPassword(
  { installation, account, client }: Confirmed,
  password: string | undefined,
): Promise<Refusal | undefined> {
  const stored = await findAccount(installation.storage.control, account.accountId)
  if (!stored?.password_hash)
    return installation.nowMs() - Date.parse(account.signedInAt) < RECENT_MS ? undefined : SIGN_IN_AGAIN
  if (password === undefined) return { problem: 'Enter your password.', code: 'password_needed' }
  const attempt = sessionAttempt(account.sessionId)
  const checked = await checkPassword(installation, attempt, {
    email: account.email,
    password,
    network: networkOf(client.address),
  })
  if ('problem' in checked)
    return checked.until === undefined
      ? { problem: 'This is not your password.', code: 'not_right' }
      : attemptRefusal(checked)
  // The failures stay if there is a second factor, so that a known password gives no more tries for its codes.
  if (await needsCode(installation, account.accountId)) await takeBackAttempt(installation, attempt)
  else await endAttempt(installation, attempt)
  return undefined
}

const SIGN_IN_AGAIN: Refusal = {
  problem: 'You signed in more than ten minutes ago. Sign out, sign in again, and repeat this within ten minutes.',
  status: 403,
  code: 'sign_in_again',
}

/** Carries out a change that needs a code, and counts the attempt as one to confirm the person of this session. */
export async function withCode<T>(
  { installation, account }: Confirmed,
  act: () => Promise<T | { problem: string }>,
): Promise<T | Refusal> {
  const attempt = sessionAttempt(account.sessionId)
  const locked = await beginAttempt(installation, attempt, account.accountId)
  if (locked) return attemptRefusal(locked)
  const result = await act()
  if (!(typeof result === 'object' && result !== null && 'problem' in result)) await endAttempt(installation, attempt)
  return result
}
