import { type AuditEntry, leafHashOf } from './audit-entry.ts'
import { type LogFigures, type LogProblem, type LogReport, ProblemList } from './log-report.ts'
import { EMPTY_ROOT, MerkleFrontier } from './merkle-tree.ts'
import { type StoredLeaf, StoredPairs } from './stored-pairs.ts'
import { type HeadsToTrust, type TrustedHead, trustedHeads } from './trusted-heads.ts'

/** A log as it is stored now: its leaves in the order of their index, and what they are held against. */
export interface LogToVerify extends HeadsToTrust {
  leaves: Iterable<StoredLeaf> | AsyncIterable<StoredLeaf>
}

/** Proves that nothing was edited, removed, reordered or cut off, or says what was. Memory: O(log n) and the heads. */
export async function verifyLog(log: LogToVerify): Promise<LogReport> {
  const problems = new ProblemList()
  const walk = new LogWalk({ heads: trustedHeads(log, problems), organizationId: log.organizationId, problems })
  for await (const leaf of log.leaves) walk.take(leaf)
  const figures = walk.finish()
  if (problems.listed.length === 0) return { status: 'intact', figures }
  return { status: 'tampered', figures, problems: problems.listed, problemsOmitted: problems.omitted }
}

interface NamedLeaf {
  leafIndex: number
  entryId: string
}

/** Goes along the leaves once, growing the tree again and comparing it with each head as its size is reached. */
class LogWalk {
  readonly #organizationId: string
  readonly #problems: ProblemList
  readonly #heads: readonly TrustedHead[]
  readonly #pairs = new StoredPairs()
  /** Null once leaves are missing: from there on only stored nodes can say what the tree was. */
  #tree: MerkleFrontier | null = new MerkleFrontier()
  #nextIndex = 0
  #leaves = 0
  #headsPassed = 0
  #headsVerified = 0
  #firstLeaf: NamedLeaf | null = null
  #firstSinceAgreed: NamedLeaf | null = null
  #firstUnsealed: NamedLeaf | null = null
  /** The first head that the leaves contradict; told at the end, unless stored nodes come to name the leaves exactly. */
  #dispute: { treeSize: number; problem: LogProblem } | null = null

  constructor(log: { heads: readonly TrustedHead[]; organizationId: string; problems: ProblemList }) {
    this.#heads = log.heads
    this.#organizationId = log.organizationId
    this.#problems = log.problems
    this.#passHeads()
  }

  take(leaf: StoredLeaf): void {
    this.#leaves += 1
    this.#checkEntry(leaf)
    const { leafIndex, entryId } = leaf
    if (leafIndex < this.#nextIndex) {
      this.#problems.add({ kind: 'leaf_repeated', leafIndex, entryId })
      return
    }
    if (leafIndex > this.#nextIndex) this.#noteGapBefore(leafIndex)
    this.#noteSpans({ leafIndex, entryId })
    this.#tree?.append(leaf.leafHash)
    this.#pairs.take(leaf)
    this.#nextIndex = leafIndex + 1
    this.#passHeads()
  }

  finish(): LogFigures {
    for (const problem of this.#pairs.blame()) this.#problems.add(problem)
    if (this.#dispute) this.#problems.add(this.#dispute.problem)
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

  /** Whoever edits an entry may leave something that has no canonical form; that must be reported, not thrown. */
  #hashOf(entry: AuditEntry): string | null {
    try {
      return leafHashOf(this.#organizationId, entry)
    } catch {
      return null
    }
  }

  #noteGapBefore(leafIndex: number): void {
    this.#problems.add({ kind: 'leaf_missing', leafIndex: this.#nextIndex, lastLeafIndex: leafIndex - 1 })
    this.#tree = null
  }

  #noteSpans(leaf: NamedLeaf): void {
    this.#firstLeaf ??= leaf
    this.#firstSinceAgreed ??= leaf
    if (leaf.leafIndex >= this.#newestSize()) this.#firstUnsealed ??= leaf
  }

  #newestSize(): number {
    return this.#heads.at(-1)?.treeSize ?? 0
  }

  #passHeads(): void {
    let head = this.#heads[this.#headsPassed]
    while (head && head.treeSize <= this.#nextIndex) {
      // A head smaller than the leaves seen lies within a gap: there is nothing to compare it with.
      if (head.treeSize === this.#nextIndex) this.#compareWith(head)
      this.#headsPassed += 1
      head = this.#heads[this.#headsPassed]
    }
  }

  #compareWith(head: TrustedHead): void {
    const storedTree = this.#pairs.treeOf(head.treeSize)
    if (this.#tree?.root() === head.rootHash) this.#agreeWithLeaves(head, this.#tree)
    else if (storedTree?.root() === head.rootHash) this.#agreeWithNodes(head, storedTree)
    else if (this.#tree) this.#dispute ??= { treeSize: head.treeSize, problem: this.#contradictionOf(head) }
  }

  #agreeWithLeaves(head: TrustedHead, tree: MerkleFrontier): void {
    if (this.#dispute) {
      const { treeSize: firstTreeSize, problem } = this.#dispute
      this.#problems.add(problem)
      this.#problems.add({ kind: 'heads_inconsistent', firstTreeSize, secondTreeSize: head.treeSize })
    }
    this.#pairs.acquit(tree)
    this.#continueFromAgreement()
  }

  #agreeWithNodes(head: TrustedHead, storedTree: MerkleFrontier): void {
    this.#pairs.convict(head.treeSize)
    this.#tree = storedTree
    this.#continueFromAgreement()
  }

  #continueFromAgreement(): void {
    this.#headsVerified += 1
    this.#dispute = null
    this.#firstSinceAgreed = null
  }

  #contradictionOf({ treeSize, rootHash, isOutsidersOnly }: TrustedHead): LogProblem {
    // Against an outsider's head the log's own heads prove nothing: they may have been signed anew.
    const first = isOutsidersOnly ? this.#firstLeaf : this.#firstSinceAgreed
    if (!first) return { kind: 'heads_conflict', treeSize, rootHashes: [EMPTY_ROOT, rootHash] }
    return { kind: 'leaves_altered', ...first, lastLeafIndex: treeSize - 1, treeSize }
  }
}
