import { forbidden, invalid, notSignedIn, Problem } from '../admin/problem.ts'
import { networkOf } from '../http/network-of.ts'
import type { Installation } from '../installation/installation.ts'
import { beginAttempt, endAttempt, sessionAttempt, takeBackAttempt } from '../sign-in/attempts.ts'
import { checkPassword } from '../sign-in/check-password.ts'
import { needsCode } from '../sign-in/two-factor.ts'
import { findAccount } from '../store/control/accounts.ts'
import type { AccountContext, SignedIn } from './define-operation.ts'

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
): Promise<void> {
  const stored = await findAccount(installation.storage.control, account.accountId)
  if (!stored?.password_hash) return requireRecentSignIn(installation, account)
  if (password === undefined) throw invalid('password_needed', 'Enter your password.')
  const attempt = sessionAttempt(account.sessionId)
  const claimed = { email: account.email, password, network: networkOf(client.address) }
  await checkPassword(installation, attempt, claimed).catch((error: unknown) => {
    const isWrong = error instanceof Problem && error.kind === 'not_signed_in'
    throw isWrong ? notSignedIn(error.code, 'This is not your password.') : error
  })
  // The failures stay if there is a second factor, so that a known password gives no more tries for its codes.
  if (await needsCode(installation, account.accountId)) await takeBackAttempt(installation, attempt)
  else await endAttempt(installation, attempt)
}

function requireRecentSignIn({ nowMs }: Installation, { signedInAt }: SignedIn): void {
  if (nowMs() - Date.parse(signedInAt) >= RECENT_MS)
    throw forbidden('sign_in_again', 'You signed in more than ten minutes ago.')
}

/** Carries out a change that needs a code, and counts the attempt as one to confirm the person of this session. */
export async function withCode<T>({ installation, account }: Confirmed, change: () => Promise<T>): Promise<T> {
  const attempt = sessionAttempt(account.sessionId)
  await beginAttempt(installation, attempt, account.accountId)
  const changed = await change()
  await endAttempt(installation, attempt)
  return changed
}
