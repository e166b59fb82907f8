import type { KeyObject } from 'node:crypto'
import { type Checkpoint, keyId, type LogIdentity, verifyCheckpoint } from './checkpoint.ts'
import type { ProblemList } from './log-report.ts'

/** A log whose heads are verified: with these keys, and against heads that were kept outside its database. */
export interface HeadsToVerify extends LogIdentity {
  pinnedHeads?: readonly Checkpoint[]
  /** The key that signs now first, then the retired ones, newest first. */
  publicKeys: readonly KeyObject[]
}

/** A head with a valid signature of a known key. */
export interface TrustedHead {
  treeSize: number
  rootHash: string
  /** True for a pinned head, unless the log has the same head itself. */
  isPinnedOnly: boolean
}

/** Tells the heads with valid signatures from others, page by page, and adds a problem for each other head. */
export class TrustedHeads {
  readonly #log: LogIdentity
  readonly #keys: Map<string, { key: KeyObject; age: number }>
  readonly #problems: ProblemList
  #pinned: Checkpoint[]
  /** The age of the newest key that has signed a head of the log so far. */
  #youngest = Number.POSITIVE_INFINITY

  constructor(log: HeadsToVerify, problems: ProblemList) {
    this.#log = log
    this.#problems = problems
    this.#keys = new Map(log.publicKeys.map((key, age) => [keyId(key), { key, age }]))
    this.#pinned = (log.pinnedHeads ?? []).filter((head) => this.#isTrusted(head))
  }

  /** The trusted ones of these heads, and the pinned ones up to a size that were not returned yet: by size, one for each. */
  upTo(sizeMax: number, heads: readonly Checkpoint[]): TrustedHead[] {
    const bySize = new Map<number, TrustedHead>()
    for (const head of heads) if (this.#isTrusted(head) && this.#isInOrder(head)) this.#keep(bySize, head, false)
    for (const head of this.#pinned) if (head.tree_size <= sizeMax) this.#keep(bySize, head, true)
    this.#pinned = this.#pinned.filter((head) => head.tree_size > sizeMax)
    return [...bySize.values()].sort((a, b) => a.treeSize - b.treeSize)
  }

  #isTrusted(head: Checkpoint): boolean {
    const known = this.#keys.get(head.key_id)
    if (known && verifyCheckpoint(this.#log, head, known.key)) return true
    const kind = known ? 'head_signature_invalid' : 'head_key_unknown'
    this.#problems.add({ kind, treeSize: head.tree_size, keyId: head.key_id })
    return false
  }

  /** A retired key signs nothing after its successor: such a head was made by a thief of the old key. */
  #isInOrder(head: Checkpoint): boolean {
    const { age } = this.#keys.get(head.key_id)!
    if (age <= this.#youngest) {
      this.#youngest = age
      return true
    }
    this.#problems.add({ kind: 'head_key_retired', treeSize: head.tree_size, keyId: head.key_id })
    return false
  }

  #keep(bySize: Map<number, TrustedHead>, head: Checkpoint, isPinned: boolean): void {
    const known = bySize.get(head.tree_size)
    if (known?.rootHash === head.root_hash) return
    if (known) {
      const rootHashes: [string, string] = [known.rootHash, head.root_hash]
      this.#problems.add({ kind: 'heads_conflict', treeSize: head.tree_size, rootHashes })
      // The pinned head wins: an attacker with the database can rewrite the log's own heads, but not one kept outside.
      if (!isPinned) return
    }
    bySize.set(head.tree_size, { treeSize: head.tree_size, rootHash: head.root_hash, isPinnedOnly: isPinned })
  }
}
