import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  appendLeaves,
  EMPTY_ROOT,
  frontierOf,
  frontierPositions,
  hashesIn,
  leafHash,
  type NodePosition,
  nodeHash,
  rootOf,
  rootOfFrontier,
  storedPartsOf,
  storedRunsOf,
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

/** The hash of a complete subtree, of the stored nodes that it is made of. */
function combined(position: NodePosition, stored: ReadonlyMap<string, string>): string {
  const { level, first, end } = storedPartsOf(position)
  return rootOf(Array.from({ length: end - first }, (_, n) => stored.get(`${level}/${first + n}`)!))
}

describe('merkle tree', () => {
  it('has the published roots, by the definition and by appending', () => {
    for (const [size, root] of KNOWN_ROOTS.entries()) {
      const leaves = KNOWN_LEAVES.slice(0, size)
      assert.equal(rootOf(leaves), root)
      assert.equal(appendLeaves({ ...emptyTree, leaves }).root, root)
    }
    assert.equal(EMPTY_ROOT, KNOWN_ROOTS[0])
  })

  it('reads the hashes that stand one after another, wherever in a buffer they are', () => {
    fc.assert(
      fc.property(fc.nat({ max: 20 }), fc.nat({ max: 40 }), (count, before) => {
        const hashes = leavesOf(count)
        const bytes = Buffer.from('ff'.repeat(before) + hashes.join(''), 'hex')
        assert.deepEqual(hashesIn(new Uint8Array(bytes.buffer, bytes.byteOffset + before, count * 32)), hashes)
      }),
    )
    const [one, two] = leavesOf(2)
    assert.deepEqual(hashesIn(Buffer.from(`${one}${two}`, 'hex').subarray(0, 40)), [one, two!.slice(0, 16)])
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

  it('returns each complete node of a stored level once, with the hash of the leaves under it', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(300), (size, added) => {
        const all = leavesOf(size + added)
        const before = appendLeaves({ ...emptyTree, leaves: all.slice(0, size) })
        const after = appendLeaves({ ...before, leaves: all.slice(size) })
        const nodes = [...before.nodes, ...after.nodes]
        for (const { level, index, hash } of nodes) {
          assert.equal(hash, rootOf(all.slice(index * 2 ** level, (index + 1) * 2 ** level)))
        }
        // A tree of n leaves has ⌊n/16⌋ + ⌊n/256⌋ + … complete nodes on the stored levels.
        const expected = [4, 8].map((level) => Math.floor(all.length / 2 ** level))
        assert.equal(new Set(nodes.map(({ level, index }) => `${level}/${index}`)).size, nodes.length)
        assert.equal(
          nodes.length,
          expected.reduce((sum, count) => sum + count, 0),
        )
      }),
      { numRuns: 40 },
    )
  })

  it('gives every complete node from stored ones, however it grew', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { minLength: 1, maxLength: 5 }), (batches) => {
        const leaves = leavesOf(batches.reduce((sum, batch) => sum + batch, 0))
        const stored = new Map(leaves.map((hash, index) => [`0/${index}`, hash]))
        let tree: { size: number; frontier: string[] } = emptyTree
        for (const batch of batches) {
          const frontier = frontierPositions(tree.size).map((position) => combined(position, stored))
          assert.deepEqual(frontier, tree.frontier)
          const grown = appendLeaves({ ...tree, frontier, leaves: leaves.slice(tree.size, tree.size + batch) })
          assert.equal(rootOfFrontier(grown.frontier), grown.root)
          for (const { level, index, hash } of grown.nodes) stored.set(`${level}/${index}`, hash)
          tree = grown
        }
        for (let level = 0; 2 ** level <= leaves.length; level++)
          for (let index = 0; (index + 1) * 2 ** level <= leaves.length; index++)
            assert.equal(
              combined({ level, index }, stored),
              rootOf(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
            )
      }),
      { numRuns: 15 },
    )
  })

  it('has a frontier of adjacent stored nodes, at most 15 on each stored level', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 40 }), (size) => {
        let end = 0
        for (const run of storedRunsOf(frontierPositions(size))) {
          assert.equal(run.level % 4, 0)
          assert.ok(run.end - run.first <= 15 && run.first * 2 ** run.level === end)
          end = run.end * 2 ** run.level
        }
        assert.equal(end, size)
      }),
    )
  })

  it('has the same frontier by the definition and by appending', () => {
    fc.assert(
      fc.property(fc.nat(70), (size) => {
        const leaves = leavesOf(size)
        assert.deepEqual(frontierOf(leaves), appendLeaves({ ...emptyTree, leaves }).frontier)
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
    const { nodes } = appendLeaves({ size, frontier, leaves: leavesOf(15) })
    assert.deepEqual(
      nodes.map(({ level, index }) => [level, index]),
      [[4, (size - 1) / 16]],
    )
    assert.deepEqual(storedPartsOf({ level: 39, index: 3 }), { level: 36, first: 24, end: 32 })
  })

  it('refuses a frontier that does not match the size', () => {
    assert.throws(() => appendLeaves({ size: 3, frontier: leavesOf(1), leaves: [] }), RangeError)
  })
})
