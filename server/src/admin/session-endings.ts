import type { Installation } from '../installation/installation.ts'
import { deleteSessions, findStoredSession, keepSession } from '../store/control/sessions.ts'
import type { Queryable } from '../store/database/database.ts'
import type { EntryToRecord } from '../store/power/entry-queue.ts'
import { sessionEnded } from './entries.ts'

/**
 * Prepares to end one session of an account. The result is called in the transaction of the act, records the end, and
 * returns whether it did. A session that is out of sight ends too, so that it does not count once it is back.
 */
export async function endingOfSession(
  installation: Installation,
  { accountId, sessionId }: { accountId: string; sessionId: string },
): Promise<(transaction: Queryable, record: (entry: EntryToRecord) => void) => Promise<boolean>> {
  const { storage, stores } = installation
  await storage.control.recordQueued()
  const isOnLog = await stores.production.grants.hasSession({ accountId, sessionId })
  return async (transaction, record) => {
    const ended = await deleteSessions(transaction, { accountId, sessionId })
    const isEnded = isOnLog || ended.length > 0
    if (isEnded) record(sessionEnded(installation, accountId, sessionId))
    return isEnded
  }
}

/**
 * Prepares to end all sessions of an account with an entry about it, except one if that is named. The result is called in
 * the transaction of the act, and returns how many sessions it ended. The entry ends those that are out of sight too.
 */
export async function endingOfSessions(
  { storage: { control }, nowMs }: Installation,
  { accountId, except = '', entry }: { accountId: string; except?: string | undefined; entry: EntryToRecord },
): Promise<(transaction: Queryable) => Promise<number>> {
  const now = new Date(nowMs()).toISOString()
  const kept = await findStoredSession(control, { accountId, sessionId: except, now })
  return async (transaction) => {
    const ended = await deleteSessions(transaction, { accountId, except })
    if (kept) {
      const goesOn = { ...kept, after_entry_id: entry.entry.id }
      await keepSession(transaction, control.seal('sessions', goesOn, { entry: { id: kept.entry_id } }))
    }
    return ended.length
  }
}
