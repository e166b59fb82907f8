import { createHash, hash } from 'node:crypto'

/** A place in the tree: the node at `level` and `index` covers the leaves from `index · 2^level`, `2^level` of them. */
export interface NodePosition {
  level: number
  index: number
}

/** A complete subtree: all its leaves are there, so its hash never changes again. */
export interface TreeNode extends NodePosition {
  hash: string
}

/** Leaves `start` up to, but not including, `end`. */
export interface LeafSpan {
  start: number
  end: number
}

/** The root of a tree without leaves: the hash of nothing (RFC 9162 §2.1.1). */
export const EMPTY_ROOT = hash('sha256', '')

/** The hash of a leaf, in lowercase hexadecimal as all hashes here. The prefix keeps leaves and nodes apart. */
export function leafHash(data: string | Uint8Array): string {
  if (typeof data === 'string') return hash('sha256', `\u0000${data}`)
  return createHash('sha256').update(Uint8Array.of(0)).update(data).digest('hex')
}

/** The hash of an interior node. */
export function nodeHash(left: string, right: string): string {
  return createHash('sha256').update(`01${left}${right}`, 'hex').digest('hex')
}

/** Tells whether a text can be a hash at all, as nothing that comes from outside is sure to be. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

/** The root over these leaves, word for word as RFC 9162 §2.1.1 defines it: the reference for everything faster. */
export function rootOf(leafHashes: readonly string[]): string {
  if (leafHashes.length === 0) return EMPTY_ROOT
  if (leafHashes.length === 1) return leafHashes[0]!
  const middle = splitOf(leafHashes.length)
  return nodeHash(rootOf(leafHashes.slice(0, middle)), rootOf(leafHashes.slice(middle)))
}

/** The largest power of two smaller than `count`: where a tree of that many leaves parts in two. */
export function splitOf(count: number): number {
  let power = 1
  // Not with shifts: they wrap at 2^31 leaves.
  while (power * 2 < count) power *= 2
  return power
}

/** The complete subtrees that make up a span, left to right. The span must start where a subtree of its size can. */
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

/** The complete subtrees along the ragged right edge: what must be loaded to extend a tree of this size. */
export function frontierPositions(size: number): NodePosition[] {
  return completeNodesOf({ start: 0, end: size })
}

/** The root that these edge hashes fold up to. */
export function rootOfFrontier(frontier: readonly string[]): string {
  if (frontier.length === 0) return EMPTY_ROOT
  return frontier.reduceRight((right, left) => nodeHash(left, right))
}

/** A tree that only remembers its right edge, and so grows in O(log n) memory. */
export class MerkleFrontier {
  size: number
  readonly hashes: string[]

  constructor(size = 0, hashes: readonly string[] = []) {
    const expected = frontierPositions(size).length
    if (hashes.length !== expected) {
      throw new RangeError(`a tree of ${size} leaves has ${expected} hashes on its edge, not ${hashes.length}`)
    }
    this.size = size
    this.hashes = [...hashes]
  }

  /** Adds a leaf and returns the nodes it completes, lowest first. */
  append(leaf: string): TreeNode[] {
    const completed: TreeNode[] = []
    let hash = leaf
    let index = this.size
    // Each odd index is the right child of a subtree that is now whole, as a carry runs through a binary counter.
    for (let level = 1; index % 2 === 1; level += 1) {
      hash = nodeHash(this.hashes.pop()!, hash)
      index = (index - 1) / 2
      completed.push({ level, index, hash })
    }
    this.hashes.push(hash)
    this.size += 1
    return completed
  }

  root(): string {
    return rootOfFrontier(this.hashes)
  }
}

/** What is known of a tree before leaves are added to it. */
export interface TreeGrowth {
  size: number
  frontier: readonly string[]
  leaves: readonly string[]
}

/** A tree after leaves were added, with the interior nodes to store: those that became complete. */
export interface GrownTree {
  size: number
  root: string
  frontier: string[]
  nodes: TreeNode[]
}

/** Extends a tree by leaf hashes: about one hash per leaf, whatever the size of the tree. */
export function appendLeaves({ size, frontier, leaves }: TreeGrowth): GrownTree {
  const tree = new MerkleFrontier(size, frontier)
  const nodes = leaves.flatMap((leaf) => tree.append(leaf))
  return { size: tree.size, root: tree.root(), frontier: tree.hashes, nodes }
}
