import type { AuditEntry } from './audit-entry.ts'
import type { LogProblem } from './log-report.ts'
import { BLOCK_LEAVES, frontierOf, frontierPositions, MerkleFrontier, rootOf, rootOfFrontier } from './merkle-tree.ts'

/** One leaf of a log as it is stored now, with its entry, or null if the entry was removed. */
export interface StoredLeaf {
  leafIndex: number
  entryId: string
  leafHash: string
  entry: AuditEntry | null
  /** The statement that wrote the entry, and the place of the entry in it: leaves are sealed nearly in this order. */
  flush: number
  place: number
  /** The stored node over the block of this leaf (level 4, index ⌊leafIndex / 16⌋); it narrows down altered leaves. */
  blockHash?: string | null
}

/** Leaves of one block that were read, from its first one on, and what they have to give. */
interface Block {
  start: number
  leaves: StoredLeaf[]
  /** The first leaf that no signed head agreed with, so that it may be altered. */
  from: number
  isSealedAs(leafHashes: readonly string[]): boolean
}

/** A block whose stored node a signed head confirms, so that its leaves were altered. */
interface AlteredBlock extends Block {
  treeSize: number
}

// Finding the moved leaves of 8 blocks and the last one takes at most 9 · 143 · 15 hashes, some 25 ms; more blocks are
// reported as one span.
const BLOCKS_LISTED_MAX = 8

/**
 * A second tree, built from the stored nodes over blocks of 16 leaves, beside the one that is built from the leaves.
 *
 * A block of leaves goes through these states:
 *
 *     open        → some of its leaves were read
 *     mismatched  → all leaves were read and do not hash to the stored node over them
 *     altered     → a signed head agreed with the stored nodes (`trustNodes`): the leaves of the block were changed
 *     forgotten   → a signed head agreed with the leaves (`trustLeaves`): only the stored node was changed
 *
 * The last block of a log has no node. If a head agrees with nothing, `explainLast` looks for the order in which the
 * leaves of that block, after the stored nodes, give the head.
 */
export class StoredBlocks {
  #tree: MerkleFrontier | null = new MerkleFrontier()
  #open: { index: number; leaves: StoredLeaf[]; hash: string | null } | null = null
  /** The size of the newest head that agreed with the leaves. */
  #trustedSize = 0
  readonly #mismatched = new BlockList<Block>()
  readonly #altered = new BlockList<AlteredBlock>()
  /** The last block as it is at a head that agrees with neither tree. */
  #last: AlteredBlock | null = null
  #explained: AlteredBlock[] = []

  /** Adds the next leaf, in the order of the index. */
  addLeaf(leaf: StoredLeaf): void {
    const index = Math.floor(leaf.leafIndex / BLOCK_LEAVES)
    if (this.#open && this.#open.index !== index) this.#close()
    // INVARIANT: the tree holds every block before the open one, or is null: a tree with a gap has no root.
    if (this.#tree?.size !== index) this.#tree = null
    this.#open ??= { index, leaves: [], hash: null }
    this.#open.leaves.push(leaf)
    this.#open.hash = leaf.blockHash ?? null
    if (leaf.leafIndex % BLOCK_LEAVES === BLOCK_LEAVES - 1) this.#close()
  }

  /** The tree over all leaves so far; null if a stored node is missing, or a leaf of the last block. */
  treeOf(size: number): MerkleFrontier | null {
    const leaves = this.#open?.leaves ?? []
    if (!this.#tree || this.#tree.size * BLOCK_LEAVES + leaves.length !== size) return null
    return new MerkleFrontier(size, [...this.#tree.hashes, ...frontierOf(leaves.map(({ leafHash }) => leafHash))])
  }

  /** Drops the mismatched blocks and continues from this tree, because a head agreed with the leaves. */
  trustLeaves({ size, hashes }: MerkleFrontier): void {
    this.#mismatched.clear()
    this.#trustedSize = size
    const blocks = Math.floor(size / BLOCK_LEAVES)
    this.#tree = new MerkleFrontier(blocks, hashes.slice(0, frontierPositions(blocks).length))
  }

  /** Marks the mismatched blocks as altered, because the head of this size agreed with the stored nodes. */
  trustNodes(treeSize: number): void {
    for (const block of this.#mismatched.all()) if (block.start < treeSize) this.#altered.add({ ...block, treeSize })
    this.#mismatched.clear()
  }

  /** Keeps the last block as it is at a head that agrees with neither tree, for `explainLast`. */
  keepLast({ treeSize, rootHash }: { treeSize: number; rootHash: string }): void {
    this.#last = null
    if (!this.#open || !this.treeOf(treeSize)) return
    const before = [...this.#tree!.hashes]
    const isSealedAs = (hashes: readonly string[]) => rootOfFrontier([...before, ...frontierOf(hashes)]) === rootHash
    this.#last = { ...this.#blockOf([...this.#open.leaves], isSealedAs), treeSize }
  }

  /** Whether the kept head confirms the stored nodes together with another order of the leaves of the last block. */
  explainLast(): boolean {
    const last = this.#last
    if (!last) return false
    const blocks = [...this.#altered.listed, ...this.#mismatched.listed, last]
    if (!originalOf(last, inWrittenOrder(blocks))) return false
    this.trustNodes(last.treeSize)
    this.#explained = [last]
    return true
  }

  /** Reports the altered blocks: the leaves that only changed places one by one, other blocks as altered. */
  problems(): LogProblem[] {
    const { listed, further } = this.#altered
    const blocks = [...listed, ...this.#explained]
    const leaves = inWrittenOrder(blocks)
    const problems = blocks.flatMap((block) => movesInto(block, leaves) ?? [leavesAltered(block, block)])
    return further ? [...problems, leavesAltered(further.first, further.last)] : problems
  }

  #close(): void {
    const open = this.#open
    this.#open = null
    const hash = open?.hash
    if (!hash) {
      this.#tree = null
      return
    }
    this.#tree?.append(hash)
    const block = this.#blockOf(open.leaves, (hashes) => rootOf(hashes) === hash)
    const isComplete = open.leaves.length === BLOCK_LEAVES
    if (isComplete && !block.isSealedAs(open.leaves.map(({ leafHash }) => leafHash))) this.#mismatched.add(block)
  }

  #blockOf(leaves: StoredLeaf[], isSealedAs: Block['isSealedAs']): Block {
    const start = leaves[0]!.leafIndex
    return { start, leaves, from: Math.max(start, this.#trustedSize), isSealedAs }
  }
}

/** A list of bounded size: the first blocks one by one, of the others only the first and the last. */
class BlockList<B extends Block> {
  listed: B[] = []
  further: { first: B; last: B } | null = null

  add(block: B): void {
    if (this.listed.length < BLOCKS_LISTED_MAX) this.listed.push(block)
    else this.further = { first: this.further?.first ?? block, last: block }
  }

  all(): B[] {
    return this.further ? [...this.listed, this.further.first, this.further.last] : this.listed
  }

  clear(): void {
    this.listed = []
    this.further = null
  }
}

function inWrittenOrder(blocks: readonly Block[]): StoredLeaf[] {
  return blocks.flatMap(({ leaves }) => leaves).sort((one, other) => one.flush - other.flush || one.place - other.place)
}

/** Finds the leaves, written one after another, that a block was sealed as. */
function originalOf(block: Block, leaves: readonly StoredLeaf[]): StoredLeaf[] | null {
  for (let start = 0; start + block.leaves.length <= leaves.length; start++) {
    const run = leaves.slice(start, start + block.leaves.length)
    if (block.isSealedAs(run.map(({ leafHash }) => leafHash))) return run
  }
  return null
}

/** Finds the leaves that a block was sealed as, and reports each one that moved; null if it was sealed with others. */
function movesInto(block: Block, leaves: readonly StoredLeaf[]): LogProblem[] | null {
  const original = originalOf(block, leaves)
  return original?.flatMap((leaf, place) => leafMoved(leaf, block.start + place)) ?? null
}

function leafMoved({ leafIndex, entryId }: StoredLeaf, sealedAt: number): LogProblem[] {
  return leafIndex === sealedAt ? [] : [{ kind: 'leaf_moved', leafIndex, entryId, sealedAt }]
}

function leavesAltered(first: AlteredBlock, last: AlteredBlock): LogProblem {
  const { leafIndex, entryId } = first.leaves[first.from - first.start]!
  return {
    kind: 'leaves_altered',
    leafIndex,
    lastLeafIndex: last.start + last.leaves.length - 1,
    entryId,
    treeSize: last.treeSize,
  }
}
