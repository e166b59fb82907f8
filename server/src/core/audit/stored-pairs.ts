import type { AuditEntry } from './audit-entry.ts'
import type { LogProblem } from './log-report.ts'
import { MerkleFrontier, nodeHash } from './merkle-tree.ts'

/** One leaf of a log as it is stored now, with the entry it stands for, or null where that is gone. */
export interface StoredLeaf {
  leafIndex: number
  entryId: string
  leafHash: string
  entry: AuditEntry | null
  /** The stored node over this leaf and its sibling (level 1, index ⌊leafIndex / 2⌋); without it blame is coarser. */
  pairHash?: string | null
}

interface OpenPair {
  index: number
  left: StoredLeaf
  hash: string | null
}

/** A pair of leaves that does not hash to the node stored over it. */
interface SuspectPair {
  left: StoredLeaf
  right: StoredLeaf
  hash: string
}

interface ConvictedPair extends SuspectPair {
  treeSize: number
}

// 16 pairs are put back together in at most 16 · 32² hashes, some 25 ms; more are told as one span.
const PAIRS_NAMED_MAX = 16

/**
 * The tree as its stored level-1 nodes tell it, kept next to the tree the leaves tell.
 *
 * Where the two differ and a signed head sides with the nodes, the pairs that differ are where the leaves were touched.
 */
export class StoredPairs {
  #tree: MerkleFrontier | null = new MerkleFrontier()
  #open: OpenPair | null = null
  readonly #suspects = new PairList<SuspectPair>()
  readonly #convicted = new PairList<ConvictedPair>()

  take(leaf: StoredLeaf): void {
    const index = Math.floor(leaf.leafIndex / 2)
    if (this.#open && this.#open.index !== index) this.#close()
    // INVARIANT: the tree holds every pair before the open one, or is no more: a tree with a hole has no root.
    if (this.#tree?.size !== index) this.#tree = null
    const left = this.#open?.left
    const hash = leaf.pairHash ?? null
    this.#open = { index, left: left ?? leaf, hash }
    if (leaf.leafIndex % 2 === 0) return
    if (left && hash && nodeHash(left.leafHash, leaf.leafHash) !== hash) this.#suspects.add({ left, right: leaf, hash })
    this.#close()
  }

  /** The tree of all leaves taken so far, where every stored node of them was seen. */
  treeOf(size: number): MerkleFrontier | null {
    if (!this.#tree) return null
    const { hashes } = this.#tree
    return new MerkleFrontier(size, this.#open ? [...hashes, this.#open.left.leafHash] : hashes)
  }

  /** Lets the suspects go and goes on from this tree: a head agreed with the leaves, whatever the stored nodes said. */
  acquit({ size, hashes }: MerkleFrontier): void {
    this.#suspects.clear()
    this.#tree = new MerkleFrontier(Math.floor(size / 2), size % 2 === 1 ? hashes.slice(0, -1) : hashes)
  }

  /** Holds on to the suspects: the head of this size agreed with the stored nodes. */
  convict(treeSize: number): void {
    for (const pair of this.#suspects.all()) this.#convicted.add({ ...pair, treeSize })
    this.#suspects.clear()
  }

  /** Names the leaves that were touched: exactly those that changed places, else the pair one of which was altered. */
  blame(): LogProblem[] {
    const { named, further } = this.#convicted
    const leaves = named.flatMap(({ left, right }) => [left, right])
    const problems = named.flatMap((pair) => movesWithin(pair, leaves) ?? [altered(pair, pair)])
    return further ? [...problems, altered(further.first, further.last)] : problems
  }

  #close(): void {
    const pair = this.#open
    this.#open = null
    if (pair?.hash) this.#tree?.append(pair.hash)
    else this.#tree = null
  }
}

/** The first pairs one by one, the others by where they begin and end. */
class PairList<Pair extends SuspectPair> {
  named: Pair[] = []
  further: { first: Pair; last: Pair } | null = null

  add(pair: Pair): void {
    if (this.named.length < PAIRS_NAMED_MAX) this.named.push(pair)
    else this.further = { first: this.further?.first ?? pair, last: pair }
  }

  all(): Pair[] {
    return this.further ? [...this.named, this.further.first, this.further.last] : this.named
  }

  clear(): void {
    this.named = []
    this.further = null
  }
}

/** Which of these leaves, put back into the pair, give its stored hash again; null if they were not just moved. */
function movesWithin(pair: SuspectPair, leaves: readonly StoredLeaf[]): LogProblem[] | null {
  for (const left of leaves) {
    const right = leaves.find(({ leafHash }) => nodeHash(left.leafHash, leafHash) === pair.hash)
    if (right) return [...moved(left, pair.left.leafIndex), ...moved(right, pair.right.leafIndex)]
  }
  return null
}

function moved({ leafIndex, entryId }: StoredLeaf, sealedAt: number): LogProblem[] {
  return leafIndex === sealedAt ? [] : [{ kind: 'leaf_moved', leafIndex, entryId, sealedAt }]
}

function altered(first: ConvictedPair, last: ConvictedPair): LogProblem {
  const { leafIndex, entryId } = first.left
  const { right, treeSize } = last
  return { kind: 'leaves_altered', leafIndex, lastLeafIndex: right.leafIndex, entryId, treeSize }
}
