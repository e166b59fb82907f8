import { notSignedIn } from '../admin/problem.ts'
import type { Installation } from '../installation/installation.ts'
import { isPassword } from '../security/password.ts'
import { type Account, findAccountByEmail } from '../store/control/accounts.ts'
import { type Attempt, countOn, recordLock } from './attempts.ts'

/** Checks an e-mail and a password. The answer and its time are the same for an unknown e-mail and a wrong password. */
export async function checkPassword(
  installation: Installation,
  attempt: Attempt,
  { email, password, network }: { email: string; password: string; network: string },
): Promise<Account> {
  const counted = await countOn(installation, attempt)
  const account = await findAccountByEmail(installation.storage.control, email)
  // Beside each other: only a known e-mail has an entry to write, and the time of the answer must not tell.
  const [isRight] = await Promise.all([
    isPassword(password, account?.password_hash, network),
    recordLock(installation, account?.id, counted),
  ])
  if (!isRight || !account) throw notSignedIn('password_wrong', 'The e-mail or the password is not right.')
  return account
}
