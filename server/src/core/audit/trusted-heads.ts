import type { KeyObject } from 'node:crypto'
import { type Checkpoint, keyId, type LogIdentity, verifyCheckpoint } from './checkpoint.ts'
import type { ProblemList } from './log-report.ts'

/** The heads a log is held to: its own, and one that an outsider has kept. */
export interface HeadsToTrust extends LogIdentity {
  heads: readonly Checkpoint[]
  pinnedHead?: Checkpoint
  publicKeys: readonly KeyObject[]
}

/** A head that bears a valid signature of a known key. */
export interface TrustedHead {
  treeSize: number
  rootHash: string
  /** Only an outsider holds it: the log's own heads do not say the same. */
  isOutsidersOnly: boolean
}

/** The validly signed heads by size, one of each size; everything wrong with the others is noted. */
export function trustedHeads(log: HeadsToTrust, problems: ProblemList): TrustedHead[] {
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
    // Whoever can rewrite the log can rewrite its own heads too, but not one that has left the house.
    if (!isPinned) return
  }
  bySize.set(head.tree_size, { treeSize: head.tree_size, rootHash: head.root_hash, isOutsidersOnly: isPinned })
}
