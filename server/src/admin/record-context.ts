import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../installation/installation.ts'
import type { RecordContext } from '../store/write-path/record.ts'

/** The record context of an act outside the API, dated now; of the request that acts, if the console does. */
export function recordContext(
  { newId, nowMs, requestId = null }: Pick<Installation, 'newId' | 'nowMs'> & { requestId?: string | null },
  { organizationId, actor }: { organizationId: string; actor: AdminActor },
): RecordContext {
  return { organizationId, actor, now: new Date(nowMs()).toISOString(), requestId, newId }
}
