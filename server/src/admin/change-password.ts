import { hashPassword } from '../security/password.ts'
import { passwordProblem } from '../security/password-rules.ts'
import type { Installation } from '../service/installation.ts'
import { findAccount, updatePassword } from '../store/queries/accounts.ts'
import { deleteSessions } from '../store/queries/sessions.ts'
import { recordForAccount } from './record-for-account.ts'

/** Changes the password of an account, whose current one was checked, and ends all its other sessions. */
export async function changePassword(
  installation: Installation,
  { accountId, sessionId, password }: { accountId: string; sessionId: string; password: string },
): Promise<{ sessions_ended: number } | { problem: string }> {
  const { control } = installation.storage
  const account = (await findAccount(control, accountId))!
  const problem = passwordProblem(password, account)
  if (problem !== undefined) return { problem }
  const passwordHash = await hashPassword(password)
  if (!(await updatePassword(control, { accountId, passwordHash, earlierHash: account.password_hash })))
    return { problem: 'The password was changed from elsewhere meanwhile.' }
  const ended = await deleteSessions(control, { accountId, except: sessionId })
  await recordForAccount(installation, accountId, {
    type: 'operator.password_changed',
    data: { sessions_ended: ended },
  })
  return { sessions_ended: ended }
}
