import {
  completeNodesOf,
  EMPTY_ROOT,
  isHash,
  type LeafSpan,
  type NodePosition,
  nodeHash,
  rootOfFrontier,
  splitOf,
} from './merkle-tree.ts'

/** Returns the hash of a complete subtree that was loaded from storage, or computed of parts that were; the leaves are level 0. */
export type NodeAt = (position: NodePosition) => string

/** The leaf and the tree that an inclusion proof is about. */
export interface LeafInTree {
  leafIndex: number
  treeSize: number
}

/** The two sizes of one log that a consistency proof is about. */
export interface TreeSizes {
  firstSize: number
  secondSize: number
}

/** The complete subtrees that an inclusion proof is made of. */
export function inclusionProofPositions(leaf: LeafInTree): NodePosition[] {
  return inclusionSpans(leaf).flatMap(completeNodesOf)
}

/** The hashes that lead from a leaf to the root, leaf first (RFC 9162 §2.1.3.1). */
export function inclusionProof(leaf: LeafInTree, nodeAt: NodeAt): string[] {
  return inclusionSpans(leaf).map((span) => spanHash(span, nodeAt))
}

/** Whether a proof leads from this leaf, at this index, to this root (RFC 9162 §2.1.3.2). */
export function verifyInclusion({
  leafIndex,
  treeSize,
  leafHash,
  proof,
  root,
}: LeafInTree & { leafHash: string; proof: readonly string[]; root: string }): boolean {
  if (!isIndexWithin(leafIndex, treeSize) || ![leafHash, ...proof].every(isHash)) return false
  const spans = inclusionSpans({ leafIndex, treeSize })
  if (proof.length !== spans.length) return false
  const found = spans.reduce((hash, sibling, step) => {
    const other = proof[step]!
    return sibling.start > leafIndex ? nodeHash(hash, other) : nodeHash(other, hash)
  }, leafHash)
  return found === root
}

/** The complete subtrees that a consistency proof is made of. */
export function consistencyProofPositions(sizes: TreeSizes): NodePosition[] {
  return consistencySpans(sizes).flatMap(completeNodesOf)
}

/** The hashes that prove that the larger tree is the smaller one with leaves appended (RFC 9162 §2.1.4.1). */
export function consistencyProof(sizes: TreeSizes, nodeAt: NodeAt): string[] {
  return consistencySpans(sizes).map((span) => spanHash(span, nodeAt))
}

/** Whether a proof shows that the second tree is the first one with leaves appended (RFC 9162 §2.1.4.2). */
export function verifyConsistency({
  firstSize,
  secondSize,
  firstRoot,
  secondRoot,
  proof,
}: TreeSizes & { firstRoot: string; secondRoot: string; proof: readonly string[] }): boolean {
  if (!isIndexWithin(firstSize, secondSize + 1) || ![firstRoot, secondRoot, ...proof].every(isHash)) return false
  const spans = consistencySpans({ firstSize, secondSize })
  if (proof.length !== spans.length) return false
  if (firstSize === 0) return firstRoot === EMPTY_ROOT
  if (firstSize === secondSize) return firstRoot === secondRoot
  const roots = rootsFromProof({ firstSize, firstRoot, spans, proof })
  return roots.first === firstRoot && roots.second === secondRoot
}

function rootsFromProof(known: {
  firstSize: number
  firstRoot: string
  spans: readonly LeafSpan[]
  proof: readonly string[]
}) {
  const { firstSize, firstRoot, spans, proof } = known
  // If the first tree is a complete subtree of the second, its root is the start and not part of the proof.
  const startsWithFirstRoot = spans[0]!.start >= firstSize
  let first = startsWithFirstRoot ? firstRoot : proof[0]!
  let second = first
  for (let step = startsWithFirstRoot ? 0 : 1; step < spans.length; step += 1) {
    const other = proof[step]!
    if (spans[step]!.start >= firstSize) {
      second = nodeHash(second, other)
    } else {
      first = nodeHash(other, first)
      second = nodeHash(other, second)
    }
  }
  return { first, second }
}

/** The siblings on the path from a leaf up to the root. */
function inclusionSpans({ leafIndex, treeSize }: LeafInTree): LeafSpan[] {
  if (!isIndexWithin(leafIndex, treeSize)) throw new RangeError(`a tree of ${treeSize} leaves has no leaf ${leafIndex}`)
  const { siblings } = descend(
    { start: 0, end: treeSize },
    { at: leafIndex, isFound: ({ start, end }) => end - start === 1 },
  )
  return siblings
}

/** The subtrees from which both roots can be computed; the first of them ends where the smaller tree ends. */
function consistencySpans({ firstSize, secondSize }: TreeSizes): LeafSpan[] {
  if (!isIndexWithin(firstSize, secondSize + 1))
    throw new RangeError(`a tree of ${secondSize} leaves has no earlier state of ${firstSize} leaves`)
  if (firstSize === 0) return []
  const lastOfFirst = firstSize - 1
  const { reached, siblings } = descend(
    { start: 0, end: secondSize },
    { at: lastOfFirst, isFound: ({ end }) => end === firstSize },
  )
  return reached.start === 0 ? siblings : [reached, ...siblings]
}

function descend(tree: LeafSpan, goal: { at: number; isFound(span: LeafSpan): boolean }) {
  const siblings: LeafSpan[] = []
  let reached = tree
  while (!goal.isFound(reached)) {
    const middle = reached.start + splitOf(reached.end - reached.start)
    const left = { start: reached.start, end: middle }
    const right = { start: middle, end: reached.end }
    const isLeft = goal.at < middle
    siblings.unshift(isLeft ? right : left)
    reached = isLeft ? left : right
  }
  return { reached, siblings }
}

function spanHash(span: LeafSpan, nodeAt: NodeAt): string {
  return rootOfFrontier(completeNodesOf(span).map(nodeAt))
}

function isIndexWithin(index: number, size: number): boolean {
  return Number.isSafeInteger(index) && Number.isSafeInteger(size) && index >= 0 && index < size
}
