import { createHash, hash } from 'node:crypto'

/** The position of a node: it covers the `2^level` leaves that start at `index · 2^level`. */
export interface NodePosition {
  level: number
  index: number
}

/** The root of a complete subtree: all its leaves exist, so its hash never changes again. */
export interface TreeNode extends NodePosition {
  hash: string
}

/** Leaves `start` up to, but not including, `end`. */
export interface LeafSpan {
  start: number
  end: number
}

/**
 * Every fourth level is stored: level 0 as the leaves, levels 4, 8, 12 … as nodes. A level between is computed from at
 * most eight hashes of the stored one below it. With every level, a leaf took a row of audit_nodes, 258 bytes with its
 * index entry; now it takes a fifteenth of one, 12 bytes (measured).
 */
const STORED_LEVEL_STEP = 4

/** The leaves under a node of the lowest stored level. */
export const BLOCK_LEAVES = 2 ** STORED_LEVEL_STEP

/** The level of a block of `BLOCK_LEAVES` leaves. */
export const BLOCK_LEVEL = STORED_LEVEL_STEP

/** Adjacent nodes of one stored level: `first` up to, but not including, `end`. */
export interface NodeRun {
  level: number
  first: number
  end: number
}

/** The stored nodes that a complete subtree is made of: itself, or 2, 4 or 8 of the stored level below it. */
export function storedPartsOf({ level, index }: NodePosition): NodeRun {
  const above = level % STORED_LEVEL_STEP
  return { level: level - above, first: index * 2 ** above, end: (index + 1) * 2 ** above }
}

/** The stored nodes that complete subtrees are made of, in their order; those of neighbours on one level form one run. */
export function storedRunsOf(positions: readonly NodePosition[]): NodeRun[] {
  const runs: NodeRun[] = []
  for (const parts of positions.map(storedPartsOf)) {
    const last = runs.at(-1)
    if (last?.level === parts.level && last.end === parts.first) last.end = parts.end
    else runs.push(parts)
  }
  return runs
}

/** The root of a tree without leaves: the hash of the empty string (RFC 9162 §2.1.1). */
export const EMPTY_ROOT = hash('sha256', '')

/** The hash of a leaf, in lowercase hexadecimal like all hashes here. Its prefix byte 0 sets leaves apart from nodes. */
export function leafHash(data: string | Uint8Array): string {
  if (typeof data === 'string') return hash('sha256', `\u0000${data}`)
  return createHash('sha256').update(Uint8Array.of(0)).update(data).digest('hex')
}

/** The hash of an interior node, with the prefix byte 1. */
export function nodeHash(left: string, right: string): string {
  return createHash('sha256').update(`01${left}${right}`, 'hex').digest('hex')
}

const HASH_BYTES = 32
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The hashes that stand one after another in these bytes; one that is cut off is shorter. */
export function hashesIn(bytes: Uint8Array): string[] {
  const hashes: string[] = []
  for (let start = 0; start < bytes.length; start += HASH_BYTES) {
    let text = ''
    for (const byte of bytes.subarray(start, start + HASH_BYTES)) text += HEX[byte]
    hashes.push(text)
  }
  return hashes
}

/** Whether a text has the form of a hash; checked for all input from outside. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

/** The root over these leaves, exactly as RFC 9162 §2.1.1 defines it: the reference for the faster functions below. */
export function rootOf(leafHashes: readonly string[]): string {
  if (leafHashes.length === 0) return EMPTY_ROOT
  if (leafHashes.length === 1) return leafHashes[0]!
  const middle = splitOf(leafHashes.length)
  return nodeHash(rootOf(leafHashes.slice(0, middle)), rootOf(leafHashes.slice(middle)))
}

/** The largest power of two smaller than `count`: the number of leaves in the left subtree. */
export function splitOf(count: number): number {
  let power = 1
  // No bit shifts: they overflow at 2^31 leaves.
  while (power * 2 < count) power *= 2
  return power
}

/** The complete subtrees that make up a span, left to right. The span must start where a subtree of its size can start. */
export function completeNodesOf(span: LeafSpan): NodePosition[] {
  const positions: NodePosition[] = []
  let start = span.start
  while (start < span.end) {
    let level = 0
    let leaves = 1
    while (leaves * 2 <= span.end - start) {
      leaves *= 2
      level += 1
    }
    positions.push({ level, index: start / leaves })
    start += leaves
  }
  return positions
}

/** The positions of the frontier, the complete subtrees that must be loaded to extend a tree of this size. */
export function frontierPositions(size: number): NodePosition[] {
  return completeNodesOf({ start: 0, end: size })
}

/** The root of the tree with this frontier. */
export function rootOfFrontier(frontier: readonly string[]): string {
  if (frontier.length === 0) return EMPTY_ROOT
  return frontier.reduceRight((right, left) => nodeHash(left, right))
}

/** The frontier of the tree over these hashes: of leaves, or of complete subtrees of one size. */
export function frontierOf(hashes: readonly string[]): string[] {
  return completeNodesOf({ start: 0, end: hashes.length }).map(({ level, index }) =>
    rootOf(hashes.slice(index * 2 ** level, (index + 1) * 2 ** level)),
  )
}

/** A tree that keeps only its frontier, and so grows in O(log n) memory. */
export class MerkleFrontier {
  size: number
  readonly hashes: string[]

  constructor(size = 0, hashes: readonly string[] = []) {
    const expected = frontierPositions(size).length
    if (hashes.length !== expected) {
      throw new RangeError(`a tree of ${size} leaves has ${expected} hashes in its frontier, not ${hashes.length}`)
    }
    this.size = size
    this.hashes = [...hashes]
  }

  /** Appends a leaf and returns the nodes that it completes and that are stored, lowest first. */
  append(leaf: string): TreeNode[] {
    const completed: TreeNode[] = []
    let hash = leaf
    let index = this.size
    // A node with an odd index is a right child and completes its parent, like a carry in a binary counter.
    for (let level = 1; index % 2 === 1; level += 1) {
      hash = nodeHash(this.hashes.pop()!, hash)
      index = (index - 1) / 2
      if (level % STORED_LEVEL_STEP === 0) completed.push({ level, index, hash })
    }
    this.hashes.push(hash)
    this.size += 1
    return completed
  }

  root(): string {
    return rootOfFrontier(this.hashes)
  }
}

/** A tree, by its size and frontier, and the leaves to append to it. */
export interface TreeGrowth {
  size: number
  frontier: readonly string[]
  leaves: readonly string[]
}

/** A tree after leaves were appended, with the nodes of stored levels that became complete. */
export interface GrownTree {
  size: number
  root: string
  frontier: string[]
  nodes: TreeNode[]
}

/** Appends leaf hashes to a tree. It computes about one hash per leaf, independent of the size of the tree. */
export function appendLeaves({ size, frontier, leaves }: TreeGrowth): GrownTree {
  const tree = new MerkleFrontier(size, frontier)
  const nodes = leaves.flatMap((leaf) => tree.append(leaf))
  return { size: tree.size, root: tree.root(), frontier: tree.hashes, nodes }
}
