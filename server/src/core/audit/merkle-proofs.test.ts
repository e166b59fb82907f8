import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  consistencyProof,
  consistencyProofPositions,
  inclusionProof,
  inclusionProofPositions,
  verifyConsistency,
  verifyInclusion,
} from './merkle-proofs.ts'
import { appendLeaves, EMPTY_ROOT, leafHash, type NodePosition, rootOf, storedPartsOf } from './merkle-tree.ts'

const KNOWN_LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => leafHash(Buffer.from(hex, 'hex')))

// The nodes of the published proofs, named by the leaves under them.
const LEAF_0 = '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'
const LEAF_1 = '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7'
const LEAF_4 = 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b'
const LEAVES_0_1 = 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'
const LEAVES_2_3 = '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e'
const LEAVES_4_5 = '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a'
const LEAVES_6_7 = 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0'
const LEAVES_0_3 = 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'
const LEAVES_4_7 = '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4'

const leavesOf = (size: number) => Array.from({ length: size }, (_, index) => leafHash(`leaf ${index}`))

/** A store of leaves and of the nodes of stored levels that records which nodes are read. */
function storeOf(leaves: readonly string[]) {
  const { nodes } = appendLeaves({ size: 0, frontier: [], leaves })
  const hashes = new Map(nodes.map(({ level, index, hash }) => [`${level}/${index}`, hash]))
  for (const [index, hash] of leaves.entries()) hashes.set(`0/${index}`, hash)
  const reads: NodePosition[] = []
  const nodeAt = (position: NodePosition) => {
    reads.push(position)
    const { level, first, end } = storedPartsOf(position)
    const parts = Array.from({ length: end - first }, (_, n) => hashes.get(`${level}/${first + n}`))
    assert.ok(
      parts.every((hash) => hash !== undefined),
      'only complete nodes are read',
    )
    return rootOf(parts)
  }
  return { nodeAt, reads }
}

const withFlippedBit = (hash: string, bit: number) => {
  const bytes = Buffer.from(hash, 'hex')
  bytes[bit >> 3]! ^= 1 << (bit & 7)
  return bytes.toString('hex')
}

const spot = fc
  .integer({ min: 1, max: 70 })
  .chain((treeSize) => fc.record({ treeSize: fc.constant(treeSize), leafIndex: fc.nat(treeSize - 1) }))

describe('inclusion proof', () => {
  it('equals the published proof for the published tree', () => {
    const published: [number, number, string[]][] = [
      [0, 1, []],
      [0, 8, [LEAF_1, LEAVES_2_3, LEAVES_4_7]],
      [5, 8, [LEAF_4, LEAVES_6_7, LEAVES_0_3]],
      [2, 3, [LEAVES_0_1]],
      [1, 5, [LEAF_0, LEAVES_2_3, LEAF_4]],
    ]
    for (const [leafIndex, treeSize, expected] of published) {
      const leaves = KNOWN_LEAVES.slice(0, treeSize)
      const proof = inclusionProof({ leafIndex, treeSize }, storeOf(leaves).nodeAt)
      assert.deepEqual(proof, expected)
      const proven = { leafIndex, treeSize, leafHash: leaves[leafIndex]!, root: rootOf(leaves) }
      assert.ok(verifyInclusion({ ...proven, proof }))
    }
  })

  it('verifies for every leaf of every tree, and reads exactly the nodes of its positions', () => {
    for (let treeSize = 1; treeSize <= 40; treeSize += 1) {
      const leaves = leavesOf(treeSize)
      for (const [leafIndex, leaf] of leaves.entries()) {
        const { nodeAt, reads } = storeOf(leaves)
        const proof = inclusionProof({ leafIndex, treeSize }, nodeAt)
        assert.deepEqual(reads, inclusionProofPositions({ leafIndex, treeSize }))
        assert.ok(verifyInclusion({ leafIndex, treeSize, leafHash: leaf, proof, root: rootOf(leaves) }))
      }
    }
  })

  it('fails if any bit of leaf, proof or root is flipped, or the index or size differs', () => {
    fc.assert(
      fc.property(spot, fc.nat(255), fc.nat(), ({ leafIndex, treeSize }, bit, which) => {
        const leaves = leavesOf(treeSize)
        const proof = inclusionProof({ leafIndex, treeSize }, storeOf(leaves).nodeAt)
        const proven = { leafIndex, treeSize, leafHash: leaves[leafIndex]!, proof, root: rootOf(leaves) }
        assert.ok(!verifyInclusion({ ...proven, leafHash: withFlippedBit(proven.leafHash, bit) }))
        assert.ok(!verifyInclusion({ ...proven, root: withFlippedBit(proven.root, bit) }))
        assert.ok(!verifyInclusion({ ...proven, proof: [...proof, leaves[0]!] }))
        assert.ok(!verifyInclusion({ ...proven, leafIndex: treeSize }))
        assert.ok(!verifyInclusion({ ...proven, leafIndex: -1 }))
        if (treeSize === 1) return
        const step = which % proof.length
        assert.ok(!verifyInclusion({ ...proven, proof: proof.with(step, withFlippedBit(proof[step]!, bit)) }))
        assert.ok(!verifyInclusion({ ...proven, proof: proof.slice(1) }))
        assert.ok(!verifyInclusion({ ...proven, leafIndex: (leafIndex + 1) % treeSize }))
      }),
    )
  })

  it('fails if an element is not a hash', () => {
    const leaves = leavesOf(2)
    const proven = { leafIndex: 0, treeSize: 2, leafHash: leaves[0]!, root: rootOf(leaves) }
    for (const element of [leaves[1]!.toUpperCase(), `${leaves[1]}zz`, '']) {
      assert.ok(!verifyInclusion({ ...proven, proof: [element] }))
    }
  })

  it('throws for a leaf that the tree does not have', () => {
    assert.throws(() => inclusionProofPositions({ leafIndex: 3, treeSize: 3 }), RangeError)
  })

  it('has at most one node per doubling of the tree', () => {
    const treeSize = 2 ** 40
    assert.equal(inclusionProofPositions({ leafIndex: 123_456_789, treeSize }).length, 40)
  })
})

describe('consistency proof', () => {
  it('equals the published proof for the published tree', () => {
    const published: [number, number, string[]][] = [
      [1, 1, []],
      [1, 8, [LEAF_1, LEAVES_2_3, LEAVES_4_7]],
      [6, 8, [LEAVES_4_5, LEAVES_6_7, LEAVES_0_3]],
      [2, 5, [LEAVES_2_3, LEAF_4]],
    ]
    for (const [firstSize, secondSize, expected] of published) {
      const leaves = KNOWN_LEAVES.slice(0, secondSize)
      assert.deepEqual(consistencyProof({ firstSize, secondSize }, storeOf(leaves).nodeAt), expected)
    }
  })

  it('verifies for every pair of sizes, and reads exactly the nodes of its positions', () => {
    const all = leavesOf(40)
    const roots = Array.from({ length: 41 }, (_, size) => rootOf(all.slice(0, size)))
    for (let secondSize = 0; secondSize <= 40; secondSize += 1) {
      for (let firstSize = 0; firstSize <= secondSize; firstSize += 1) {
        const { nodeAt, reads } = storeOf(all.slice(0, secondSize))
        const proof = consistencyProof({ firstSize, secondSize }, nodeAt)
        assert.deepEqual(reads, consistencyProofPositions({ firstSize, secondSize }))
        const proven = { firstSize, secondSize, firstRoot: roots[firstSize]!, secondRoot: roots[secondSize]!, proof }
        assert.ok(verifyConsistency(proven), `${firstSize} → ${secondSize}`)
      }
    }
  })

  it('fails if any bit of a root or of the proof is flipped', () => {
    fc.assert(
      fc.property(spot, fc.nat(255), fc.nat(), ({ leafIndex, treeSize: secondSize }, bit, which) => {
        const firstSize = leafIndex + 1
        const leaves = leavesOf(secondSize)
        const proof = consistencyProof({ firstSize, secondSize }, storeOf(leaves).nodeAt)
        const firstRoot = rootOf(leaves.slice(0, firstSize))
        const proven = { firstSize, secondSize, firstRoot, secondRoot: rootOf(leaves), proof }
        assert.ok(!verifyConsistency({ ...proven, firstRoot: withFlippedBit(firstRoot, bit) }))
        assert.ok(!verifyConsistency({ ...proven, secondRoot: withFlippedBit(proven.secondRoot, bit) }))
        assert.ok(!verifyConsistency({ ...proven, proof: [...proof, firstRoot] }))
        if (proof.length === 0) return
        const step = which % proof.length
        assert.ok(!verifyConsistency({ ...proven, proof: proof.with(step, withFlippedBit(proof[step]!, bit)) }))
        assert.ok(!verifyConsistency({ ...proven, proof: proof.slice(1) }))
      }),
    )
  })

  it('fails for two logs that differ before the smaller size', () => {
    fc.assert(
      fc.property(spot, fc.nat(), ({ leafIndex, treeSize: secondSize }, which) => {
        const firstSize = leafIndex + 1
        const original = leavesOf(secondSize)
        const other = original.with(which % firstSize, leafHash('another leaf'))
        const proof = consistencyProof({ firstSize, secondSize }, storeOf(other).nodeAt)
        const firstRoot = rootOf(original.slice(0, firstSize))
        assert.ok(!verifyConsistency({ firstSize, secondSize, firstRoot, secondRoot: rootOf(other), proof }))
      }),
    )
  })

  it('fails if an element is not a hash', () => {
    const leaves = leavesOf(2)
    const proven = { firstSize: 1, secondSize: 2, firstRoot: leaves[0]!, secondRoot: rootOf(leaves) }
    assert.ok(verifyConsistency({ ...proven, proof: [leaves[1]!] }))
    assert.ok(!verifyConsistency({ ...proven, proof: [leaves[1]!.toUpperCase()] }))
    assert.ok(!verifyConsistency({ ...proven, proof: [`${leaves[1]}zz`] }))
  })

  it('fails if the log became smaller', () => {
    const root = rootOf(leavesOf(3))
    assert.throws(() => consistencyProofPositions({ firstSize: 4, secondSize: 3 }), RangeError)
    assert.ok(!verifyConsistency({ firstSize: 4, secondSize: 3, firstRoot: root, secondRoot: root, proof: [] }))
  })

  it('accepts an empty first log only with the empty root', () => {
    const secondRoot = rootOf(leavesOf(3))
    const proven = { firstSize: 0, secondSize: 3, secondRoot, proof: [] }
    assert.ok(verifyConsistency({ ...proven, firstRoot: EMPTY_ROOT }))
    assert.ok(!verifyConsistency({ ...proven, firstRoot: secondRoot }))
  })
})
