import type { AuditEntry } from './audit-entry.ts'
import type { LogProblem } from './log-report.ts'
import { MerkleFrontier, nodeHash } from './merkle-tree.ts'

/** One leaf of a log as it is stored now, with its entry, or null if the entry was removed. */
export interface StoredLeaf {
  leafIndex: number
  entryId: string
  leafHash: string
  entry: AuditEntry | null
  /** The stored node over this leaf and its sibling (level 1, index ⌊leafIndex / 2⌋); it narrows down altered leaves. */
  pairHash?: string | null
}

interface OpenPair {
  index: number
  left: StoredLeaf
  hash: string | null
}

/** A pair of leaves that does not hash to the node stored over it. */
interface MismatchedPair {
  left: StoredLeaf
  right: StoredLeaf
  hash: string
}

/** A mismatched pair whose stored node a signed head confirms, so that its leaves were altered. */
interface AlteredPair extends MismatchedPair {
  treeSize: number
}

// Finding the moved leaves of 16 pairs takes at most 16 · 32² hashes, some 25 ms; more pairs are reported as one span.
const PAIRS_LISTED_MAX = 16

/**
 * A second tree, built from the stored level-1 nodes, beside the one that is built from the leaves.
 *
 * A pair of leaves goes through these states:
 *
 *     open        → its left leaf was read, its right leaf was not
 *     mismatched  → both leaves were read and do not hash to the stored node over them
 *     altered     → a signed head agreed with the stored nodes (`trustNodes`): the leaves of the pair were changed
 *     forgotten   → a signed head agreed with the leaves (`trustLeaves`): only the stored node was changed
 */
export class StoredPairs {
  #tree: MerkleFrontier | null = new MerkleFrontier()
  #open: OpenPair | null = null
  readonly #mismatched = new PairList<MismatchedPair>()
  readonly #altered = new PairList<AlteredPair>()

  /** Adds the next leaf, in the order of the index. */
  addLeaf(leaf: StoredLeaf): void {
    const index = Math.floor(leaf.leafIndex / 2)
    if (this.#open && this.#open.index !== index) this.#close()
    // INVARIANT: the tree holds every pair before the open one, or is null: a tree with a gap has no root.
    if (this.#tree?.size !== index) this.#tree = null
    const left = this.#open?.left
    const hash = leaf.pairHash ?? null
    this.#open = { index, left: left ?? leaf, hash }
    if (leaf.leafIndex % 2 === 0) return
    if (left && hash && nodeHash(left.leafHash, leaf.leafHash) !== hash)
      this.#mismatched.add({ left, right: leaf, hash })
    this.#close()
  }

  /** The tree over all leaves so far; null if a stored node is missing. */
  treeOf(size: number): MerkleFrontier | null {
    if (!this.#tree) return null
    const { hashes } = this.#tree
    return new MerkleFrontier(size, this.#open ? [...hashes, this.#open.left.leafHash] : hashes)
  }

  /** Drops the mismatched pairs and continues from this tree, because a head agreed with the leaves. */
  trustLeaves({ size, hashes }: MerkleFrontier): void {
    this.#mismatched.clear()
    this.#tree = new MerkleFrontier(Math.floor(size / 2), size % 2 === 1 ? hashes.slice(0, -1) : hashes)
  }

  /** Marks the mismatched pairs as altered, because the head of this size agreed with the stored nodes. */
  trustNodes(treeSize: number): void {
    for (const pair of this.#mismatched.all()) this.#altered.add({ ...pair, treeSize })
    this.#mismatched.clear()
  }

  /** Reports the altered pairs: the leaves that only changed places one by one, other pairs as altered. */
  problems(): LogProblem[] {
    const { listed, further } = this.#altered
    const leaves = listed.flatMap(({ left, right }) => [left, right])
    const problems = listed.flatMap((pair) => movesInto(pair, leaves) ?? [leavesAltered(pair, pair)])
    return further ? [...problems, leavesAltered(further.first, further.last)] : problems
  }

  #close(): void {
    const pair = this.#open
    this.#open = null
    if (pair?.hash) this.#tree?.append(pair.hash)
    else this.#tree = null
  }
}

/** A list of bounded size: the first pairs one by one, of the others only the first and the last. */
class PairList<Pair extends MismatchedPair> {
  listed: Pair[] = []
  further: { first: Pair; last: Pair } | null = null

  add(pair: Pair): void {
    if (this.listed.length < PAIRS_LISTED_MAX) this.listed.push(pair)
    else this.further = { first: this.further?.first ?? pair, last: pair }
  }

  all(): Pair[] {
    return this.further ? [...this.listed, this.further.first, this.further.last] : this.listed
  }

  clear(): void {
    this.listed = []
    this.further = null
  }
}

/** Finds the two leaves that hash to the stored node of a pair, and reports each one that moved; null if no two do. */
function movesInto(pair: MismatchedPair, leaves: readonly StoredLeaf[]): LogProblem[] | null {
  for (const left of leaves) {
    const right = leaves.find(({ leafHash }) => nodeHash(left.leafHash, leafHash) === pair.hash)
    if (right) return [...leafMoved(left, pair.left.leafIndex), ...leafMoved(right, pair.right.leafIndex)]
  }
  return null
}

function leafMoved({ leafIndex, entryId }: StoredLeaf, sealedAt: number): LogProblem[] {
  return leafIndex === sealedAt ? [] : [{ kind: 'leaf_moved', leafIndex, entryId, sealedAt }]
}

function leavesAltered(first: AlteredPair, last: AlteredPair): LogProblem {
  const { leafIndex, entryId } = first.left
  const { right, treeSize } = last
  return { kind: 'leaves_altered', leafIndex, lastLeafIndex: right.leafIndex, entryId, treeSize }
}
