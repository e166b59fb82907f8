/** Reads of the sparsely stored trees, on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { tamper } from '../../../tests/tamper.ts'
import { createTestStorage } from '../../../tests/test-storage.ts'
import { readConfig } from '../../config.ts'
import { inclusionProof, inclusionProofPositions } from '../../core/audit/merkle-proofs.ts'
import {
  appendLeaves,
  frontierOf,
  frontierPositions,
  leafHash,
  type NodePosition,
  rootOf,
} from '../../core/audit/merkle-tree.ts'
import { openStorage } from '../storage.ts'
import { storeIds } from '../write-path/entry-list.ts'
import { auditSealingQueries } from './audit-sealing.ts'

const testStorage = await createTestStorage()
const storage = await openStorage(readConfig(testStorage.env))
await storage.migrate()
const database = storage.environments.sandbox
const sealing = auditSealingQueries(database)
after(async () => {
  await storage.close()
  await testStorage.remove()
})

let logs = 0

/** A log that grows by lists of so many entries each, sealed together. */
function newLog() {
  const organizationId = `org_${++logs}`
  const leaves: string[] = []
  let flushes = 0
  async function grow(lists: readonly number[]): Promise<void> {
    const size = leaves.length
    const sealed = []
    for (const entries of lists) {
      const added = Array.from({ length: entries }, (_, n) => leafHash(`${organizationId} ${leaves.length + n}`))
      sealed.push({ flush: ++flushes, first_leaf: leaves.length })
      await database.query(
        'INSERT INTO audit_pending (org_id, flush, entry_ids, leaf_hashes, mac) VALUES ($1, $2, $3, $4, $5)',
        [
          organizationId,
          flushes,
          storeIds(added.map((_, n) => `aud_${String(leaves.length + n).padStart(26, '0')}`)),
          Buffer.from(added.join(''), 'hex'),
          Buffer.alloc(16),
        ],
      )
      leaves.push(...added)
    }
    const frontier = await sealing.nodeHashes(organizationId, frontierPositions(size))
    const { nodes, root } = appendLeaves({ size, frontier, leaves: leaves.slice(size) })
    const signed_at = '2026-03-01T09:30:00.000Z'
    const head = { tree_size: leaves.length, root_hash: root, signed_at, key_id: '', signature: '' }
    assert.ok(await sealing.seal([{ organizationId, sealed, nodes, head }]))
  }
  /** The hash by the definition of the tree, of all leaves below. */
  const hashAt = ({ level, index }: NodePosition) => rootOf(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level))
  return { organizationId, leaves, grow, hashAt }
}

/** Statements with up to 40 entries each, sealed up to six at a time. */
const growths = fc.array(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 5,
})

test('frontiers and inclusion proofs that are read from stored levels are those of the whole tree', async () => {
  await fc.assert(
    fc.asyncProperty(growths, growths, fc.nat(), async (one, other, which) => {
      const grown = [newLog(), newLog()] as const
      for (let step = 0; step < Math.max(one.length, other.length); step++) {
        if (one[step]) await grown[0].grow(one[step]!)
        if (other[step]) await grown[1].grow(other[step]!)
        const positions = grown.flatMap(({ organizationId: org_id, leaves }) =>
          frontierPositions(leaves.length).map((position) => ({ org_id, ...position })),
        )
        const expected = grown.flatMap(({ leaves }) => frontierOf(leaves))
        assert.deepEqual(await sealing.nodeHashesOf(positions), expected)
      }
      for (const { organizationId, leaves, hashAt } of grown) {
        const leaf = { leafIndex: which % leaves.length, treeSize: leaves.length }
        const positions = inclusionProofPositions(leaf)
        const hashes = await sealing.nodeHashes(organizationId, positions)
        const read = ({ level, index }: NodePosition) =>
          hashes[positions.findIndex((position) => position.level === level && position.index === index)]!
        assert.deepEqual(inclusionProof(leaf, read), inclusionProof(leaf, hashAt))
      }
    }),
    { numRuns: 25 },
  )
})

test('every complete subtree is read, also those that need one list of many or many lists of one', async () => {
  for (const lists of [[300], Array.from({ length: 300 }, () => 1), [3, 13, 16, 1, 31, 236]]) {
    const { organizationId, leaves, grow, hashAt } = newLog()
    await grow(lists)
    const positions = Array.from({ length: 9 }, (_, level) =>
      Array.from({ length: Math.floor(leaves.length / 2 ** level) }, (_, index) => ({ level, index })),
    ).flat()
    assert.deepEqual(await sealing.nodeHashes(organizationId, positions), positions.map(hashAt))
  }
})

test('what is missing or cut off is missing in every subtree that is computed from it, and in no other', async () => {
  const subtrees = [
    { level: 0, index: 15 },
    { level: 0, index: 16 },
    { level: 1, index: 8 },
    { level: 3, index: 2 },
    { level: 3, index: 3 },
    { level: 4, index: 1 },
    { level: 5, index: 0 },
    { level: 5, index: 1 },
    { level: 8, index: 0 },
  ]
  for (const [sql, missing] of [
    ['DELETE FROM audit_flushes WHERE org_id = $1 AND first_leaf = 16', [1, 2, 3]],
    [
      'UPDATE audit_flushes SET leaf_hashes = substring(leaf_hashes FOR 40) WHERE org_id = $1 AND first_leaf = 16',
      [2, 3],
    ],
    ['UPDATE audit_flushes SET first_leaf = 900000000000 WHERE org_id = $1 AND first_leaf = 16', [1, 2, 3]],
    ['DELETE FROM audit_nodes WHERE org_id = $1 AND level = 4 AND index = 1', [5, 6]],
    ["UPDATE audit_nodes SET hash = hash || '\\x00' WHERE org_id = $1 AND level = 4 AND index = 1", [5, 6]],
    ['UPDATE audit_nodes SET hash = substring(hash FOR 31) WHERE org_id = $1 AND level = 8', [8]],
  ] as const) {
    const { organizationId, grow, hashAt } = newLog()
    await grow([16, 8, 300])
    await tamper(database, sql, [organizationId])
    const expected = subtrees.map((position, n) => ((missing as readonly number[]).includes(n) ? '' : hashAt(position)))
    assert.deepEqual(await sealing.nodeHashes(organizationId, subtrees), expected, sql)
  }
})

test('a list among the leaves of another one takes their place, also beyond its own end', async () => {
  const { organizationId, leaves, grow } = newLog()
  await grow([20])
  const forged = leafHash('forged')
  await database.query('INSERT INTO audit_flushes VALUES (1000, 5, $1, $2, $3, $4)', [
    organizationId,
    'f'.repeat(26),
    Buffer.from(forged, 'hex'),
    Buffer.alloc(16),
  ])
  const positions = [4, 5, 6].map((index) => ({ level: 0, index }))
  assert.deepEqual(await sealing.nodeHashes(organizationId, positions), [leaves[4], forged, ''])
})

test('leaves far beyond a list are missing', async () => {
  const { organizationId, grow } = newLog()
  await grow([3])
  assert.deepEqual(await sealing.nodeHashes(organizationId, [{ level: 0, index: 2 ** 50 }]), [''])
})
