import type { Environment } from '../config.ts'
import { checkpointOf } from '../core/audit/checkpoint.ts'
import { EMPTY_ROOT } from '../core/audit/merkle-tree.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow, type RecordContext } from '../store/write-path/record.ts'
import type { KnownHead, KnownHeads } from './known-heads.ts'
import { compareEnds, isBehind } from './lost-entries.ts'

/** A log that goes on from an older state, because an older backup was restored, or a failover lost the rest. */
export interface RestoredLog {
  environment: Environment
  organization_id: string
  tree_size: number
  lost_tree_size: number
}

/** What accepting restored logs needs. */
export interface AcceptParts {
  environment: Environment
  store: EnvironmentStore
  knownHeads: KnownHeads
  context: Omit<RecordContext, 'organizationId'>
  reason: string
}

/**
 * Lets the logs that lack entries of a known head go on from their stored end. Each gets an entry that holds the lost head,
 * so that the loss stays on record, and a log that its holder compares with an older checkpoint explains the difference.
 */
export async function acceptRestore(parts: AcceptParts): Promise<RestoredLog[]> {
  const { environment, store, knownHeads } = parts
  knownHeads.reload()
  const ids = knownHeads.organizationIds()
  const restored: RestoredLog[] = []
  const ends = await store.sealing.logEnds(ids)
  for (const compared of await compareEnds(store, ends, (id) => knownHeads.newest(id))) {
    if (!isBehind(compared)) continue
    const { end, known } = compared
    const tree_size = end.head?.tree_size ?? 0
    await commitOrThrow(store, { organizationId: end.org_id, auditEntries: [restoredEntry(parts, known, tree_size)] })
    const { timeline } = end
    await knownHeads.accept({ ...checkpointOf(end.head ?? EMPTY_HEAD), organization_id: end.org_id, timeline })
    restored.push({ environment, organization_id: end.org_id, tree_size, lost_tree_size: known.tree_size })
  }
  return restored
}

const EMPTY_HEAD = { tree_size: 0, root_hash: EMPTY_ROOT, signed_at: '', key_id: '', signature: '' }

function restoredEntry({ context, reason }: AcceptParts, lost: KnownHead, tree_size: number) {
  const organizationId = lost.organization_id
  return auditEntryRow(
    { ...context, organizationId },
    {
      type: 'audit_log.restored',
      trailId: organizationId,
      subject: { type: 'organization', id: organizationId },
      data: { tree_size, lost_head: checkpointOf(lost), reason },
    },
  )
}
