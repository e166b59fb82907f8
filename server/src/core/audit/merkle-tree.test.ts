import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  appendLeaves,
  EMPTY_ROOT,
  frontierPositions,
  leafHash,
  nodeHash,
  rootOf,
  rootOfFrontier,
} from './merkle-tree.ts'

/** The test tree of the Certificate Transparency implementations. */
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

const KNOWN_ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

const leavesOf = (size: number) => Array.from({ length: size }, (_, index) => leafHash(`leaf ${index}`))
const emptyTree = { size: 0, frontier: [] }

describe('merkle tree', () => {
  it('has the published roots, by the definition and by appending', () => {
    for (const [size, root] of KNOWN_ROOTS.entries()) {
      const leaves = KNOWN_LEAVES.slice(0, size)
      assert.equal(rootOf(leaves), root)
      assert.equal(appendLeaves({ ...emptyTree, leaves }).root, root)
    }
    assert.equal(EMPTY_ROOT, KNOWN_ROOTS[0])
  })

  it('hashes text as its UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        assert.equal(leafHash(text), leafHash(Buffer.from(text, 'utf8')))
      }),
    )
  })

  it('gives a node another hash than a leaf with the same bytes', () => {
    const [left, right] = leavesOf(2)
    assert.notEqual(nodeHash(left!, right!), leafHash(Buffer.from(left! + right!, 'hex')))
  })

  it('does not depend on the batches in which leaves are appended', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60), { maxLength: 6 }), (batches) => {
        const all = leavesOf(batches.reduce((sum, batch) => sum + batch, 0))
        let tree: { size: number; frontier: string[]; root: string } = { ...emptyTree, root: EMPTY_ROOT }
        for (const batch of batches) {
          tree = appendLeaves({ ...tree, leaves: all.slice(tree.size, tree.size + batch) })
          assert.equal(tree.root, rootOf(all.slice(0, tree.size)))
        }
        assert.equal(tree.size, all.length)
      }),
    )
  })

  it('returns each complete interior node once, with the hash of the leaves under it', () => {
    fc.assert(
      fc.property(fc.nat(130), fc.nat(130), (size, added) => {
        const all = leavesOf(size + added)
        const before = appendLeaves({ ...emptyTree, leaves: all.slice(0, size) })
        const after = appendLeaves({ ...before, leaves: all.slice(size) })
        const nodes = [...before.nodes, ...after.nodes]
        for (const { level, index, hash } of nodes) {
          assert.equal(hash, rootOf(all.slice(index * 2 ** level, (index + 1) * 2 ** level)))
        }
        // A tree of n leaves has ⌊n/2⌋ + ⌊n/4⌋ + … complete nodes.
        const expected = Array.from({ length: 9 }, (_, level) => Math.floor(all.length / 2 ** (level + 1)))
        assert.equal(new Set(nodes.map(({ level, index }) => `${level}/${index}`)).size, nodes.length)
        assert.equal(
          nodes.length,
          expected.reduce((sum, count) => sum + count, 0),
        )
      }),
      { numRuns: 40 },
    )
  })

  it('can be extended from the stored nodes of its frontier', () => {
    fc.assert(
      fc.property(fc.nat(200), (size) => {
        const leaves = leavesOf(size)
        const { nodes, frontier, root } = appendLeaves({ ...emptyTree, leaves })
        const stored = new Map(nodes.map(({ level, index, hash }) => [`${level}/${index}`, hash]))
        const loaded = frontierPositions(size).map(({ level, index }) =>
          level === 0 ? leaves[index] : stored.get(`${level}/${index}`),
        )
        assert.deepEqual(loaded, frontier)
        assert.equal(rootOfFrontier(frontier), root)
      }),
    )
  })

  it('supports more than 2^31 leaves', () => {
    const size = 2 ** 40 + 2 ** 33 + 1
    assert.deepEqual(frontierPositions(size), [
      { level: 40, index: 0 },
      { level: 33, index: 2 ** 7 },
      { level: 0, index: size - 1 },
    ])
    const frontier = leavesOf(3)
    const { nodes } = appendLeaves({ size, frontier, leaves: leavesOf(1) })
    assert.deepEqual(
      nodes.map(({ level, index }) => [level, index]),
      [[1, (size - 1) / 2]],
    )
  })

  it('refuses a frontier that does not match the size', () => {
    assert.throws(() => appendLeaves({ size: 3, frontier: leavesOf(1), leaves: [] }), RangeError)
  })
})
