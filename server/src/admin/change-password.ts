import { hashPassword } from '../security/password.ts'
import { passwordProblem } from '../security/password-rules.ts'
import type { Installation } from '../service/installation.ts'
import { findAccount, updateAccount } from '../store/queries/accounts.ts'
import { deleteSessions } from '../store/queries/sessions.ts'
import { deleteChallenges } from '../store/queries/sign-in-challenges.ts'
import { entriesForAccount, installationEntry, sessionsEnded } from './entries.ts'

/** Changes the password of an account, whose current one was checked, and ends all its other sessions. */
export async function changePassword(
  installation: Installation,
  { accountId, sessionId, password }: { accountId: string; sessionId: string; password: string },
): Promise<{ sessions_ended: number } | { problem: string }> {
  const { control } = installation.storage
  const account = await findAccount(control, accountId)
  if (!account) return CHANGED_MEANWHILE
  const problem = passwordProblem(password, account)
  if (problem !== undefined) return { problem }
  const entry = installationEntry(installation, { type: 'account.password_changed', subjectId: accountId, data: {} })
  const changed = control.seal('accounts', { ...account, password_hash: await hashPassword(password) }, entry)
  const entriesOf = await entriesForAccount(installation, accountId)
  const ended = await control.recorded(async (transaction, record) => {
    if (!(await updateAccount(transaction, changed, { was: account.entry_id }))) return undefined
    await deleteChallenges(transaction, accountId)
    const sessions = await deleteSessions(transaction, { accountId, except: sessionId })
    record(
      entry,
      ...sessionsEnded(installation, accountId, sessions),
      ...entriesOf('operator.password_changed', { sessions_ended: sessions.length }),
    )
    return sessions.length
  })
  return ended === undefined ? CHANGED_MEANWHILE : { sessions_ended: ended }
}

const CHANGED_MEANWHILE = { problem: 'The password was changed from elsewhere meanwhile.' }
