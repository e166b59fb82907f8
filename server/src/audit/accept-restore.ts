import type { Environment } from '../config.ts'
import { checkpointOf } from '../core/audit/checkpoint.ts'
import { EMPTY_ROOT } from '../core/audit/merkle-tree.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { commitOrThrow } from '../store/write-path/commit-or-throw.ts'
import { auditEntryRow, type RecordContext } from '../store/write-path/record.ts'
import type { KnownHead, KnownHeads } from './known-heads.ts'

/** A log that goes on from an older state, because an older backup was restored. */
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
 * Lets the logs that end before a known head go on from their stored end. Each gets an entry that holds the lost head,
 * so that the loss stays on record, and a log that its holder compares with an older checkpoint explains the difference.
 */
export async function acceptRestore(parts: AcceptParts): Promise<RestoredLog[]> {
  const { environment, store, knownHeads } = parts
  knownHeads.reload()
  const ids = knownHeads.organizationIds()
  const restored: RestoredLog[] = []
  for (const end of await store.sealing.logEnds(ids)) {
    const known = knownHeads.newest(end.org_id)!
    if (!isLost(known, end.head)) continue
    const tree_size = end.head?.tree_size ?? 0
    await commitOrThrow(store, { organizationId: end.org_id, auditEntries: [restoredEntry(parts, known, tree_size)] })
    await knownHeads.accept({ ...checkpointOf(end.head ?? EMPTY_HEAD), organization_id: end.org_id })
    restored.push({ environment, organization_id: end.org_id, tree_size, lost_tree_size: known.tree_size })
  }
  return restored
}

const EMPTY_HEAD = { tree_size: 0, root_hash: EMPTY_ROOT, signed_at: '', key_id: '', signature: '' }

function isLost(known: KnownHead, head: RowOf<'audit_heads'> | null): boolean {
  if (!head) return known.tree_size > 0
  return head.tree_size < known.tree_size || (head.tree_size === known.tree_size && head.root_hash !== known.root_hash)
}

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
