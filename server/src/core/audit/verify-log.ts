import { type AuditEntry, leafHashOf } from './audit-entry.ts'
import { type LogFigures, type LogProblem, type LogReport, ProblemList } from './log-report.ts'
import { EMPTY_ROOT, MerkleFrontier } from './merkle-tree.ts'
import { type StoredLeaf, StoredPairs } from './stored-pairs.ts'
import { type HeadsToVerify, type TrustedHead, trustedHeads } from './trusted-heads.ts'

/** A log as it is stored now: its leaves in the order of their index, and the heads to verify them against. */
export interface LogToVerify extends HeadsToVerify {
  leaves: Iterable<StoredLeaf> | AsyncIterable<StoredLeaf>
}

/** Verifies that no entry was edited, removed, reordered or cut off, or reports which. Memory: O(log n) and the heads. */
export async function verifyLog(log: LogToVerify): Promise<LogReport> {
  const problems = new ProblemList()
  const verifier = new LogVerifier({ heads: trustedHeads(log, problems), organizationId: log.organizationId, problems })
  for await (const leaf of log.leaves) verifier.addLeaf(leaf)
  const figures = verifier.finish()
  if (problems.listed.length === 0) return { status: 'intact', figures }
  return { status: 'tampered', figures, problems: problems.listed, problemsOmitted: problems.omitted }
}

interface LeafName {
  leafIndex: number
  entryId: string
}

/**
 * Reads the leaves once, rebuilds the tree, and compares its root with each trusted head when the tree reaches its size.
 *
 * A comparison has one of these results:
 *
 *     leaves agree     → the head is verified; mismatched stored nodes are ignored
 *     nodes agree      → the head is verified; the leaves of mismatched pairs were altered; go on from the stored nodes
 *     neither agrees   → a contradiction. The first one is kept until a later head agrees. If that head agrees with the
 *                        leaves, both heads are reported as inconsistent; if it agrees with the nodes, the altered
 *                        pairs are reported instead; if no head agrees, the contradiction is reported at the end
 *     no tree          → leaves are missing, and so are the stored nodes over them: the head stays unverified
 */
class LogVerifier {
  readonly #organizationId: string
  readonly #problems: ProblemList
  readonly #heads: readonly TrustedHead[]
  readonly #pairs = new StoredPairs()
  /** Null after a gap in the leaves: from there on, only the stored nodes can give the tree. */
  #tree: MerkleFrontier | null = new MerkleFrontier()
  #nextIndex = 0
  #leaves = 0
  #headsReached = 0
  #headsVerified = 0
  #firstLeaf: LeafName | null = null
  #firstSinceAgreed: LeafName | null = null
  #firstUnsealed: LeafName | null = null
  /** The first head that contradicts the leaves; reported at the end, unless stored nodes identify the leaves exactly. */
  #contradiction: { treeSize: number; problem: LogProblem } | null = null

  constructor(log: { heads: readonly TrustedHead[]; organizationId: string; problems: ProblemList }) {
    this.#heads = log.heads
    this.#organizationId = log.organizationId
    this.#problems = log.problems
    this.#compareHeadsReached()
  }

  addLeaf(leaf: StoredLeaf): void {
    this.#leaves += 1
    this.#checkEntry(leaf)
    const { leafIndex, entryId } = leaf
    if (leafIndex < this.#nextIndex) {
      this.#problems.add({ kind: 'leaf_repeated', leafIndex, entryId })
      return
    }
    if (leafIndex > this.#nextIndex) this.#reportGapBefore(leafIndex)
    this.#startSpans({ leafIndex, entryId })
    this.#tree?.append(leaf.leafHash)
    this.#pairs.addLeaf(leaf)
    this.#nextIndex = leafIndex + 1
    this.#compareHeadsReached()
  }

  finish(): LogFigures {
    for (const problem of this.#pairs.problems()) this.#problems.add(problem)
    if (this.#contradiction) this.#problems.add(this.#contradiction.problem)
    const leafIndex = this.#nextIndex
    const treeSize = this.#newestSize()
    if (treeSize > leafIndex) this.#problems.add({ kind: 'log_truncated', leafIndex, treeSize })
    if (this.#firstUnsealed) {
      this.#problems.add({ kind: 'leaves_unsealed', ...this.#firstUnsealed, lastLeafIndex: leafIndex - 1 })
    }
    return {
      leaves: this.#leaves,
      treeSize: this.#nextIndex,
      rootHash: this.#tree?.root() ?? null,
      headsVerified: this.#headsVerified,
      headsUnverified: this.#heads.length - this.#headsVerified,
    }
  }

  #checkEntry({ leafIndex, entryId, leafHash, entry }: StoredLeaf): void {
    if (entry === null) {
      this.#problems.add({ kind: 'entry_removed', leafIndex, entryId })
      return
    }
    const foundHash = this.#hashOf(entry)
    if (foundHash === leafHash) return
    this.#problems.add({ kind: 'entry_edited', leafIndex, entryId, sealedHash: leafHash, foundHash })
  }

  /** Null if an edited entry has no canonical form any more, so that it is reported instead of thrown. */
  #hashOf(entry: AuditEntry): string | null {
    try {
      return leafHashOf(this.#organizationId, entry)
    } catch {
      return null
    }
  }

  #reportGapBefore(leafIndex: number): void {
    this.#problems.add({ kind: 'leaf_missing', leafIndex: this.#nextIndex, lastLeafIndex: leafIndex - 1 })
    this.#tree = null
  }

  #startSpans(leaf: LeafName): void {
    this.#firstLeaf ??= leaf
    this.#firstSinceAgreed ??= leaf
    if (leaf.leafIndex >= this.#newestSize()) this.#firstUnsealed ??= leaf
  }

  #newestSize(): number {
    return this.#heads.at(-1)?.treeSize ?? 0
  }

  #compareHeadsReached(): void {
    let head = this.#heads[this.#headsReached]
    while (head && head.treeSize <= this.#nextIndex) {
      // A smaller head ends inside a gap, so that there is no tree of its size to compare it with.
      if (head.treeSize === this.#nextIndex) this.#compareWith(head)
      this.#headsReached += 1
      head = this.#heads[this.#headsReached]
    }
  }

  #compareWith(head: TrustedHead): void {
    const storedTree = this.#pairs.treeOf(head.treeSize)
    if (this.#tree?.root() === head.rootHash) this.#agreeWithLeaves(head, this.#tree)
    else if (storedTree?.root() === head.rootHash) this.#agreeWithNodes(head, storedTree)
    else if (this.#tree) this.#contradiction ??= { treeSize: head.treeSize, problem: this.#describeContradiction(head) }
  }

  #agreeWithLeaves(head: TrustedHead, tree: MerkleFrontier): void {
    if (this.#contradiction) {
      const { treeSize: firstTreeSize, problem } = this.#contradiction
      this.#problems.add(problem)
      this.#problems.add({ kind: 'heads_inconsistent', firstTreeSize, secondTreeSize: head.treeSize })
    }
    this.#pairs.trustLeaves(tree)
    this.#markVerified()
  }

  #agreeWithNodes(head: TrustedHead, storedTree: MerkleFrontier): void {
    this.#pairs.trustNodes(head.treeSize)
    this.#tree = storedTree
    this.#markVerified()
  }

  #markVerified(): void {
    this.#headsVerified += 1
    this.#contradiction = null
    this.#firstSinceAgreed = null
  }

  #describeContradiction({ treeSize, rootHash, isPinnedOnly }: TrustedHead): LogProblem {
    // Against a pinned head the log's own heads prove nothing: they may have been rewritten and signed again.
    const first = isPinnedOnly ? this.#firstLeaf : this.#firstSinceAgreed
    if (!first) return { kind: 'heads_conflict', treeSize, rootHashes: [EMPTY_ROOT, rootHash] }
    return { kind: 'leaves_altered', ...first, lastLeafIndex: treeSize - 1, treeSize }
  }
}
