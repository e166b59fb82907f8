import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { Installation } from '../service/installation.ts'
import type { RecordContext } from '../store/write-path/record.ts'

/** The record context of an act outside the API, dated now. */
export function recordContext(
  { newId, nowMs }: Pick<Installation, 'newId' | 'nowMs'>,
  { organizationId, actor }: { organizationId: string; actor: AdminActor },
): RecordContext {
  return { organizationId, actor, now: new Date(nowMs()).toISOString(), requestId: null, newId }
}
