import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../server/src/store/database/database.ts'

/** Waits until the service has sealed all entries and worked off all consequences, so that the next figure is free of both. */
export async function untilFollowedUp(sandbox: Database): Promise<void> {
  for (;;) {
    const [left] = await sandbox.query<{ any: boolean }>(
      'SELECT EXISTS (SELECT 1 FROM audit_pending) OR EXISTS (SELECT 1 FROM unchecked_decisions) OR EXISTS (SELECT 1 FROM consequences) AS any',
    )
    if (!left!.any) return
    await sleep(50)
  }
}
