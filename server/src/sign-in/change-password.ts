import { entriesForAccount, installationEntry } from '../admin/entries.ts'
import { conflict, type Problem } from '../admin/problem.ts'
import { requireValidPassword } from '../admin/require-valid-operator.ts'
import { endingOfSessions } from '../admin/session-endings.ts'
import type { Installation } from '../installation/installation.ts'
import { hashPassword } from '../security/password.ts'
import { findAccount, updateAccount } from '../store/control/accounts.ts'
import { deleteChallenges } from '../store/control/sign-in-challenges.ts'

/** Changes the password of an account, whose current one was checked, and ends all its other sessions. */
export async function changePassword(
  installation: Installation,
  { accountId, sessionId, password }: { accountId: string; sessionId: string; password: string },
): Promise<{ sessions_ended: number }> {
  const { control } = installation.storage
  const account = await findAccount(control, accountId)
  if (!account) throw passwordChanged()
  requireValidPassword(password, account)
  const entry = installationEntry(installation, { type: 'account.password_changed', subjectId: accountId, data: {} })
  const changed = control.seal('accounts', { ...account, password_hash: await hashPassword(password) }, entry)
  const entriesOf = await entriesForAccount(installation, accountId)
  const endSessions = await endingOfSessions(installation, { accountId, except: sessionId, entry })
  const ended = await control.recorded(async (transaction, record) => {
    if (!(await updateAccount(transaction, changed, { was: account.entry_id }))) return undefined
    await deleteChallenges(transaction, accountId)
    const sessions = await endSessions(transaction)
    record(entry, ...entriesOf('operator.password_changed', { sessions_ended: sessions }))
    return sessions
  })
  if (ended === undefined) throw passwordChanged()
  return { sessions_ended: ended }
}

function passwordChanged(): Problem {
  return conflict('password_changed', 'The password was changed from elsewhere meanwhile.')
}
