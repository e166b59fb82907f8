import type { KeyObject } from 'node:crypto'
import { type Checkpoint, keyId, type LogIdentity, verifyCheckpoint } from './checkpoint.ts'
import type { ProblemList } from './log-report.ts'

/** The heads that a log is verified against: its own, and at most one that was stored outside the installation. */
export interface HeadsToVerify extends LogIdentity {
  heads: readonly Checkpoint[]
  pinnedHead?: Checkpoint
  publicKeys: readonly KeyObject[]
}

/** A head with a valid signature of a known key. */
export interface TrustedHead {
  treeSize: number
  rootHash: string
  /** True for the pinned head, unless the log has the same head itself. */
  isPinnedOnly: boolean
}

/** Returns the heads with valid signatures, one per size in the order of size, and adds a problem for each other head. */
export function trustedHeads(log: HeadsToVerify, problems: ProblemList): TrustedHead[] {
  const keys = new Map(log.publicKeys.map((key) => [keyId(key), key]))
  const isTrusted = (head: Checkpoint) => hasValidSignature({ log, head, key: keys.get(head.key_id) }, problems)
  const bySize = new Map<number, TrustedHead>()
  for (const head of log.heads.filter(isTrusted)) keepHead({ bySize, head, isPinned: false }, problems)
  const pinned = log.pinnedHead
  if (pinned && isTrusted(pinned)) keepHead({ bySize, head: pinned, isPinned: true }, problems)
  return [...bySize.values()].sort((a, b) => a.treeSize - b.treeSize)
}

function hasValidSignature(
  { log, head, key }: { log: LogIdentity; head: Checkpoint; key: KeyObject | undefined },
  problems: ProblemList,
): boolean {
  const isValid = key !== undefined && verifyCheckpoint(log, head, key)
  if (isValid) return true
  const kind = key ? 'head_signature_invalid' : 'head_key_unknown'
  problems.add({ kind, treeSize: head.tree_size, keyId: head.key_id })
  return false
}

function keepHead(
  { bySize, head, isPinned }: { bySize: Map<number, TrustedHead>; head: Checkpoint; isPinned: boolean },
  problems: ProblemList,
): void {
  const known = bySize.get(head.tree_size)
  if (known?.rootHash === head.root_hash) return
  if (known) {
    problems.add({ kind: 'heads_conflict', treeSize: head.tree_size, rootHashes: [known.rootHash, head.root_hash] })
    // The pinned head wins: an attacker with the database can rewrite the log's own heads, but not one stored outside.
    if (!isPinned) return
  }
  bySize.set(head.tree_size, { treeSize: head.tree_size, rootHash: head.root_hash, isPinnedOnly: isPinned })
}
