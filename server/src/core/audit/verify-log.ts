import { type AuditEntry, leafHashOf } from './audit-entry.ts'
import type { Checkpoint } from './checkpoint.ts'
import { type LogFigures, type LogProblem, type LogReport, ProblemList } from './log-report.ts'
import { EMPTY_ROOT, MerkleFrontier } from './merkle-tree.ts'
import { StoredBlocks, type StoredLeaf } from './stored-blocks.ts'
import { type HeadsToVerify, type TrustedHead, TrustedHeads } from './trusted-heads.ts'

/** A part of a log as it is stored now: leaves in the order of their index, and heads in the order of their size. */
export interface LogPage {
  /** The heads that are larger than those of earlier pages and cover no leaf after this page. */
  heads: readonly Checkpoint[]
  leaves: readonly StoredLeaf[]
}

/** A log as it is stored now. The heads of the last page may be larger than the log. */
export interface LogToVerify extends HeadsToVerify {
  pages: Iterable<LogPage> | AsyncIterable<LogPage>
}

/** Verifies that no entry was edited, removed, reordered or cut off, or reports which. Memory: one page, and O(log n). */
export async function verifyLog(log: LogToVerify): Promise<LogReport> {
  const problems = new ProblemList()
  const heads = new TrustedHeads(log, problems)
  const verifier = new LogVerifier({ organizationId: log.organizationId, problems })
  for await (const page of log.pages) {
    verifier.addHeads(heads.upTo((page.leaves.at(-1)?.leafIndex ?? -1) + 1, page.heads))
    for (const leaf of page.leaves) verifier.addLeaf(leaf)
  }
  verifier.addHeads(heads.upTo(Number.MAX_SAFE_INTEGER, []))
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
 *     nodes agree      → the head is verified; the leaves of mismatched blocks were altered; go on from the stored nodes
 *     neither agrees   → a contradiction. The first one is kept until a later head agrees. If that head agrees with the
 *                        leaves, both heads are reported as inconsistent; if it agrees with the nodes, the altered
 *                        blocks are reported instead. If no head agrees, the leaves of the last block, which has no
 *                        node, may have changed places; otherwise the contradiction is reported at the end
 *     no tree          → leaves are missing, and so are the stored nodes over them: the head stays unverified
 */
class LogVerifier {
  readonly #organizationId: string
  readonly #problems: ProblemList
  /** The heads that the tree has not reached yet, smallest first. */
  #heads: TrustedHead[] = []
  readonly #blocks = new StoredBlocks()
  /** Null after a gap in the leaves: from there on, only the stored nodes can give the tree. */
  #tree: MerkleFrontier | null = new MerkleFrontier()
  #nextIndex = 0
  #leaves = 0
  #headsSeen = 0
  #headsVerified = 0
  #newestSize = 0
  #firstLeaf: LeafName | null = null
  #firstSinceAgreed: LeafName | null = null
  /** The first leaf after the newest head that was reached. */
  #firstUncovered: LeafName | null = null
  /** The first head that contradicts the leaves; reported at the end, unless stored nodes identify the leaves exactly. */
  #contradiction: { treeSize: number; problem: LogProblem } | null = null

  constructor(log: { organizationId: string; problems: ProblemList }) {
    this.#organizationId = log.organizationId
    this.#problems = log.problems
  }

  /** Adds heads that are larger than those added before, in the order of their size. */
  addHeads(heads: readonly TrustedHead[]): void {
    this.#heads.push(...heads)
    this.#headsSeen += heads.length
    this.#newestSize = Math.max(this.#newestSize, heads.at(-1)?.treeSize ?? 0)
    this.#compareHeadsReached()
  }

  addLeaf(leaf: StoredLeaf): void {
    this.#leaves += 1
    this.#checkEntry(leaf)
    const { leafIndex, entryId } = leaf
    if (leafIndex < this.#nextIndex) {
      this.#problems.add({ kind: leafIndex < 0 ? 'leaf_outside' : 'leaf_repeated', leafIndex, entryId })
      return
    }
    if (leafIndex > this.#nextIndex) this.#reportGapBefore(leafIndex)
    this.#startSpans({ leafIndex, entryId })
    this.#tree?.append(leaf.leafHash)
    this.#blocks.addLeaf(leaf)
    this.#nextIndex = leafIndex + 1
    this.#compareHeadsReached()
  }

  finish(): LogFigures {
    if (this.#contradiction && this.#blocks.explainLast()) this.#markVerified()
    for (const problem of this.#blocks.problems()) this.#problems.add(problem)
    if (this.#contradiction) this.#problems.add(this.#contradiction.problem)
    const leafIndex = this.#nextIndex
    const treeSize = this.#newestSize
    if (treeSize > leafIndex) this.#problems.add({ kind: 'log_truncated', leafIndex, treeSize })
    if (this.#firstUncovered && treeSize < leafIndex) {
      this.#problems.add({ kind: 'leaves_unsealed', ...this.#firstUncovered, lastLeafIndex: leafIndex - 1 })
    }
    return {
      leaves: this.#leaves,
      treeSize: this.#nextIndex,
      rootHash: this.#tree?.root() ?? null,
      headsVerified: this.#headsVerified,
      headsUnverified: this.#headsSeen - this.#headsVerified,
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
    this.#firstUncovered ??= leaf
  }

  #compareHeadsReached(): void {
    let reached = 0
    for (; this.#heads[reached] && this.#heads[reached]!.treeSize <= this.#nextIndex; reached += 1) {
      // A smaller head ends inside a gap, so that there is no tree of its size to compare it with.
      if (this.#heads[reached]!.treeSize < this.#nextIndex) continue
      this.#compareWith(this.#heads[reached]!)
      this.#firstUncovered = null
    }
    if (reached > 0) this.#heads.splice(0, reached)
  }

  #compareWith(head: TrustedHead): void {
    if (this.#tree?.root() === head.rootHash) {
      this.#agreeWithLeaves(head, this.#tree)
      return
    }
    const storedTree = this.#blocks.treeOf(head.treeSize)
    if (storedTree?.root() === head.rootHash) this.#agreeWithNodes(head, storedTree)
    else if (this.#tree) {
      this.#contradiction ??= { treeSize: head.treeSize, problem: this.#describeContradiction(head) }
      this.#blocks.keepLast(head)
    }
  }

  #agreeWithLeaves(head: TrustedHead, tree: MerkleFrontier): void {
    if (this.#contradiction) {
      const { treeSize: firstTreeSize, problem } = this.#contradiction
      this.#problems.add(problem)
      this.#problems.add({ kind: 'heads_inconsistent', firstTreeSize, secondTreeSize: head.treeSize })
    }
    this.#blocks.trustLeaves(tree)
    this.#markVerified()
  }

  #agreeWithNodes(head: TrustedHead, storedTree: MerkleFrontier): void {
    this.#blocks.trustNodes(head.treeSize)
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
