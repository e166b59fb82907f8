/** Logs as the sealer leaves them, for the tests of what verifies them. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { type AuditEntry, leafHashOf } from '../src/core/audit/audit-entry.ts'
import { type Checkpoint, type LogIdentity, signCheckpoint } from '../src/core/audit/checkpoint.ts'
import type { LogProblem } from '../src/core/audit/log-report.ts'
import { appendLeaves, BLOCK_LEAVES, BLOCK_LEVEL } from '../src/core/audit/merkle-tree.ts'
import type { StoredLeaf } from '../src/core/audit/stored-blocks.ts'
import type { HeadsToVerify } from '../src/core/audit/trusted-heads.ts'
import { type LogPage, verifyLog as verifyPages } from '../src/core/audit/verify-log.ts'

/** The log of these tests, its key, and a key that it does not know. */
export const log: LogIdentity = { environment: 'sandbox', organizationId: 'org_1' }
export const key = generateKeyPairSync('ed25519')
export const foreignKey = generateKeyPairSync('ed25519')

/** An entry with this number. */
export const entryOf = (index: number): AuditEntry => ({
  id: `aud_${index}`,
  trail_id: 'ent_1',
  type: 'decision.created',
  occurred_at: '2026-03-01T09:30:00.000Z',
  actor: { type: 'api_key', id: 'key_1' },
  request_id: `req_${index}`,
  subject: { type: 'decision', id: `dec_${index}` },
  data: { verdict: index % 3 === 0 ? 'decline' : 'approve' },
})

/** Seals leaves up to each of these sizes in turn, as the sealer does, and signs a head after each. */
export function sealedLog(sizes: readonly number[], { withNodes = true, entry = entryOf } = {}) {
  const entries = Array.from({ length: sizes.at(-1) ?? 0 }, (_, index) => entry(index))
  const hashes = entries.map((one) => leafHashOf(log.organizationId, one))
  const blocks = new Map<number, string>()
  const heads: Checkpoint[] = []
  let tree: { size: number; frontier: string[] } = { size: 0, frontier: [] }
  for (const size of sizes) {
    const grown = appendLeaves({ ...tree, leaves: hashes.slice(tree.size, size) })
    for (const { level, index, hash } of grown.nodes) if (level === BLOCK_LEVEL) blocks.set(index, hash)
    heads.push(signHead(size, grown.root))
    tree = grown
  }
  const leaves = entries.map((one, leafIndex): StoredLeaf => {
    const blockHash = (withNodes && blocks.get(Math.floor(leafIndex / BLOCK_LEAVES))) || null
    return {
      leafIndex,
      entryId: one.id,
      leafHash: hashes[leafIndex]!,
      entry: one,
      // Statements with three entries each.
      flush: 100 + Math.floor(leafIndex / 3),
      place: leafIndex % 3,
      blockHash,
    }
  })
  return { ...log, leaves, heads, publicKeys: [key.publicKey] }
}

/** A signed head. */
export function signHead(tree_size: number, root_hash: string, privateKey = key.privateKey): Checkpoint {
  return signCheckpoint(log, { tree_size, root_hash, signed_at: '2026-03-01T09:30:01.000Z' }, privateKey)
}

/** A log in one piece. */
interface LogToVerify extends HeadsToVerify {
  leaves: readonly StoredLeaf[]
  heads: readonly Checkpoint[]
  pinnedHead?: Checkpoint
}

/** Verifies a log in one page. */
export function verifyLog({ leaves, heads, pinnedHead, ...log }: LogToVerify) {
  return verifyPages({ ...log, pages: [{ leaves, heads }], ...(pinnedHead && { pinnedHeads: [pinnedHead] }) })
}

/** The log in pages of this many leaves, as it is read from a database. */
export async function* inPages({ leaves, heads }: LogToVerify, size: number): AsyncGenerator<LogPage> {
  let covered = -1
  for (let from = 0; from < leaves.length; from += size) {
    const page = leaves.slice(from, from + size)
    const end = from + size >= leaves.length ? Number.POSITIVE_INFINITY : page.at(-1)!.leafIndex + 1
    yield { leaves: page, heads: heads.filter(({ tree_size }) => tree_size > covered && tree_size <= end) }
    covered = end
  }
}

/** What is wrong with a log that was altered. */
export async function problemsOf(tampered: LogToVerify): Promise<LogProblem[]> {
  const report = await verifyLog(tampered)
  assert.equal(report.status, 'tampered')
  return report.problems
}

/** The row after an attacker changed the entry and, to hide it, the leaf hash too. */
export function forged(leaf: StoredLeaf): StoredLeaf {
  const entry = { ...leaf.entry!, data: { verdict: 'approve', limit: 1_000_000 } }
  return { ...leaf, entry, leafHash: leafHashOf(log.organizationId, entry) }
}

/** Exchanges the leaves at two indices; the stored nodes stay where they are. */
export function exchanged(leaves: readonly StoredLeaf[], one: number, other: number): StoredLeaf[] {
  const put = (at: number, from: number): StoredLeaf => {
    const { leafIndex, blockHash } = leaves[at]!
    return { ...leaves[from]!, leafIndex, blockHash: blockHash ?? null }
  }
  return leaves.with(one, put(one, other)).with(other, put(other, one))
}

/** Sizes at which a log was sealed, in their order. */
export const sizesOf = fc
  .uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 })
  .map((sizes) => sizes.sort((a, b) => a - b))
