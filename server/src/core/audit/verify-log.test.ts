import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type AuditEntry, leafHashOf } from './audit-entry.ts'
import { type Checkpoint, keyId, type LogIdentity, signCheckpoint } from './checkpoint.ts'
import { describeProblem, type LogProblem, ProblemList } from './log-report.ts'
import { appendLeaves } from './merkle-tree.ts'
import type { StoredLeaf } from './stored-pairs.ts'
import type { HeadsToVerify } from './trusted-heads.ts'
import { type LogPage, verifyLog as verifyPages } from './verify-log.ts'

const log: LogIdentity = { environment: 'sandbox', organizationId: 'org_1' }
const key = generateKeyPairSync('ed25519')
const foreignKey = generateKeyPairSync('ed25519')

const entryOf = (index: number): AuditEntry => ({
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
function sealedLog(sizes: readonly number[], { withNodes = true, entry = entryOf } = {}) {
  const entries = Array.from({ length: sizes.at(-1) ?? 0 }, (_, index) => entry(index))
  const hashes = entries.map((one) => leafHashOf(log.organizationId, one))
  const pairs = new Map<number, string>()
  const heads: Checkpoint[] = []
  let tree: { size: number; frontier: string[] } = { size: 0, frontier: [] }
  for (const size of sizes) {
    const grown = appendLeaves({ ...tree, leaves: hashes.slice(tree.size, size) })
    for (const { level, index, hash } of grown.nodes) if (level === 1) pairs.set(index, hash)
    heads.push(signHead(size, grown.root))
    tree = grown
  }
  const leaves = entries.map((one, leafIndex): StoredLeaf => {
    const pairHash = (withNodes && pairs.get(Math.floor(leafIndex / 2))) || null
    return { leafIndex, entryId: one.id, leafHash: hashes[leafIndex]!, entry: one, pairHash }
  })
  return { ...log, leaves, heads, publicKeys: [key.publicKey] }
}

function signHead(tree_size: number, root_hash: string, privateKey = key.privateKey): Checkpoint {
  return signCheckpoint(log, { tree_size, root_hash, signed_at: '2026-03-01T09:30:01.000Z' }, privateKey)
}

/** A log in one piece. */
interface LogToVerify extends HeadsToVerify {
  leaves: readonly StoredLeaf[]
  heads: readonly Checkpoint[]
  pinnedHead?: Checkpoint
}

function verifyLog({ leaves, heads, pinnedHead, ...log }: LogToVerify) {
  return verifyPages({ ...log, pages: [{ leaves, heads }], ...(pinnedHead && { pinnedHeads: [pinnedHead] }) })
}

/** The log in pages of this many leaves, as it is read from a database. */
async function* inPages({ leaves, heads }: LogToVerify, size: number): AsyncGenerator<LogPage> {
  let covered = -1
  for (let from = 0; from < leaves.length; from += size) {
    const page = leaves.slice(from, from + size)
    const end = from + size >= leaves.length ? Number.POSITIVE_INFINITY : page.at(-1)!.leafIndex + 1
    yield { leaves: page, heads: heads.filter(({ tree_size }) => tree_size > covered && tree_size <= end) }
    covered = end
  }
}

async function problemsOf(tampered: LogToVerify): Promise<LogProblem[]> {
  const report = await verifyLog(tampered)
  assert.equal(report.status, 'tampered')
  return report.problems
}

/** The row after an attacker changed the entry and, to hide it, the leaf hash too. */
function forged(leaf: StoredLeaf): StoredLeaf {
  const entry = { ...leaf.entry!, data: { verdict: 'approve', limit: 1_000_000 } }
  return { ...leaf, entry, leafHash: leafHashOf(log.organizationId, entry) }
}

/** Exchanges the leaves at two indices; the stored nodes stay where they are. */
function exchanged(leaves: readonly StoredLeaf[], one: number, other: number): StoredLeaf[] {
  const put = (at: number, from: number): StoredLeaf => {
    const { leafIndex, pairHash } = leaves[at]!
    return { ...leaves[from]!, leafIndex, pairHash: pairHash ?? null }
  }
  return leaves.with(one, put(one, other)).with(other, put(other, one))
}

const sizesOf = fc
  .uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 })
  .map((sizes) => sizes.sort((a, b) => a - b))

describe('an untouched log', () => {
  it('is intact with every head verified, independent of the batches in which it was sealed', async () => {
    await fc.assert(
      fc.asyncProperty(sizesOf, fc.boolean(), fc.integer({ min: 1, max: 20 }), async (sizes, withNodes, pageSize) => {
        const sealed = sealedLog(sizes, { withNodes })
        const report = await verifyPages({ ...sealed, pages: inPages(sealed, pageSize) })
        assert.deepEqual(report, {
          status: 'intact',
          figures: {
            leaves: sizes.at(-1),
            treeSize: sizes.at(-1),
            rootHash: sealed.heads.at(-1)!.root_hash,
            headsVerified: sizes.length,
            headsUnverified: 0,
          },
        })
      }),
      { numRuns: 40 },
    )
  })

  it('is intact if it is empty, and if one of its heads is pinned', async () => {
    assert.equal((await verifyLog(sealedLog([]))).status, 'intact')
    assert.equal((await verifyLog(sealedLog([0, 3]))).status, 'intact')
    const sealed = sealedLog([3, 9, 20])
    assert.equal((await verifyLog({ ...sealed, pinnedHead: sealed.heads[1]! })).status, 'intact')
    assert.equal(
      (await verifyLog({ ...sealed, heads: [sealed.heads[2]!], pinnedHead: sealed.heads[1]! })).status,
      'intact',
    )
  })
})

describe('verifying a log reports', () => {
  it('an entry that was edited', async () => {
    await fc.assert(
      fc.asyncProperty(sizesOf, fc.nat(), async (sizes, which) => {
        const sealed = sealedLog(sizes)
        const leaf = sealed.leaves[which % sealed.leaves.length]!
        const edited = { ...leaf, entry: forged(leaf).entry }
        const [problem, ...others] = await problemsOf({ ...sealed, leaves: sealed.leaves.with(leaf.leafIndex, edited) })
        assert.deepEqual(problem, {
          kind: 'entry_edited',
          leafIndex: leaf.leafIndex,
          entryId: leaf.entryId,
          sealedHash: leaf.leafHash,
          foundHash: forged(leaf).leafHash,
        })
        assert.deepEqual(others, [])
      }),
      { numRuns: 40 },
    )
  })

  it('an entry that has no canonical form after it was edited', async () => {
    const sealed = sealedLog([4])
    const leaf = sealed.leaves[2]!
    const entry = { ...leaf.entry!, data: { note: '\ud800' } }
    assert.deepEqual(await problemsOf({ ...sealed, leaves: sealed.leaves.with(2, { ...leaf, entry }) }), [
      { kind: 'entry_edited', leafIndex: 2, entryId: 'aud_2', sealedHash: leaf.leafHash, foundHash: null },
    ])
  })

  it('an entry that was removed', async () => {
    const sealed = sealedLog([4, 9])
    const problems = await problemsOf({
      ...sealed,
      leaves: sealed.leaves.with(5, { ...sealed.leaves[5]!, entry: null }),
    })
    assert.deepEqual(problems, [{ kind: 'entry_removed', leafIndex: 5, entryId: 'aud_5' }])
  })

  it('two entries that were swapped between their leaves', async () => {
    const sealed = sealedLog([4, 9])
    const [one, other] = [sealed.leaves[2]!, sealed.leaves[6]!]
    const crossed = sealed.leaves
      .with(2, { ...one, entryId: other.entryId, entry: other.entry })
      .with(6, { ...other, entryId: one.entryId, entry: one.entry })
    const problems = await problemsOf({ ...sealed, leaves: crossed })
    assert.deepEqual(
      problems.map((problem) => problem.kind === 'entry_edited' && [problem.leafIndex, problem.entryId]),
      [
        [2, 'aud_6'],
        [6, 'aud_2'],
      ],
    )
  })

  it('a missing leaf, and nothing else if the stored nodes bridge the gap', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(18), async (gap) => {
        const sealed = sealedLog([7, 12, 20])
        const report = await verifyLog({ ...sealed, leaves: sealed.leaves.toSpliced(gap, 1) })
        assert.ok(report.status === 'tampered')
        assert.deepEqual(report.problems, [{ kind: 'leaf_missing', leafIndex: gap, lastLeafIndex: gap }])
        assert.ok(report.figures.headsVerified >= 2)
      }),
    )
  })

  it('missing leaves together with the stored nodes over them', async () => {
    const sealed = sealedLog([7, 12, 20])
    for (const [leafIndex, count] of [
      [8, 3],
      [4, 4],
      [0, 6],
      [5, 13],
    ] as const) {
      const report = await verifyLog({ ...sealed, leaves: sealed.leaves.toSpliced(leafIndex, count) })
      assert.ok(report.status === 'tampered')
      assert.deepEqual(report.problems, [{ kind: 'leaf_missing', leafIndex, lastLeafIndex: leafIndex + count - 1 }])
    }
  })

  it('a missing leaf without stored nodes, and counts the heads that it could not verify', async () => {
    const sealed = sealedLog([7, 12, 20], { withNodes: false })
    const report = await verifyLog({ ...sealed, leaves: sealed.leaves.toSpliced(8, 3) })
    assert.ok(report.status === 'tampered')
    assert.deepEqual(report.problems, [{ kind: 'leaf_missing', leafIndex: 8, lastLeafIndex: 10 }])
    assert.deepEqual([report.figures.headsVerified, report.figures.headsUnverified], [1, 2])
    assert.equal(report.figures.rootHash, null)
  })

  it('both leaves that changed places, and where they were sealed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(19), { minLength: 2, maxLength: 2 }), async ([one, other]) => {
        const sealed = sealedLog([7, 13, 20])
        const problems = await problemsOf({ ...sealed, leaves: exchanged(sealed.leaves, one!, other!) })
        assert.deepEqual(
          problems.map((problem) => problem.kind === 'leaf_moved' && [problem.leafIndex, problem.sealedAt]).sort(),
          [
            [one, other],
            [other, one],
          ].sort(),
        )
      }),
    )
  })

  it('the pair in which a leaf was forged together with its entry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(19), async (which) => {
        const sealed = sealedLog([7, 13, 20])
        const leaves = sealed.leaves.with(which, forged(sealed.leaves[which]!))
        const pair = which - (which % 2)
        const treeSize = [7, 13, 20].find((size) => pair + 1 < size)!
        assert.deepEqual(await problemsOf({ ...sealed, leaves }), [
          { kind: 'leaves_altered', leafIndex: pair, lastLeafIndex: pair + 1, entryId: `aud_${pair}`, treeSize },
        ])
      }),
    )
  })

  it('a forged leaf just as exactly if another stored node was forged or lost', async () => {
    const sealed = sealedLog([7, 13, 20])
    for (const pairHash of [sealed.heads[0]!.root_hash, null]) {
      const leaves = sealed.leaves.map((leaf) => (leaf.leafIndex < 2 ? { ...leaf, pairHash } : leaf))
      assert.equal((await verifyLog({ ...sealed, leaves })).status, 'intact')
      assert.deepEqual(await problemsOf({ ...sealed, leaves: leaves.with(15, forged(leaves[15]!)) }), [
        { kind: 'leaves_altered', leafIndex: 14, lastLeafIndex: 15, entryId: 'aud_14', treeSize: 20 },
      ])
    }
  })

  it('a forged leaf and not the leaves after it, even if those have no stored nodes', async () => {
    const sealed = sealedLog([8, 13, 20])
    const bare = sealed.leaves.map((leaf) => (leaf.leafIndex < 8 ? leaf : { ...leaf, pairHash: null }))
    const report = await verifyLog({ ...sealed, leaves: bare.with(3, forged(bare[3]!)) })
    assert.ok(report.status === 'tampered')
    assert.equal(report.problems.length, 1)
    assert.equal(report.figures.headsVerified, 3)
  })

  it('all leaves between two heads, if there are no stored nodes or they were forged too', async () => {
    const expected = [{ kind: 'leaves_altered', leafIndex: 7, lastLeafIndex: 11, entryId: 'aud_7', treeSize: 12 }]
    const bare = sealedLog([7, 12, 20], { withNodes: false })
    assert.deepEqual(await problemsOf({ ...bare, leaves: bare.leaves.with(9, forged(bare.leaves[9]!)) }), expected)

    const entry = (index: number) => (index === 9 ? forged(bare.leaves[9]!).entry! : entryOf(index))
    const rewritten = sealedLog([7, 12, 20], { entry })
    assert.deepEqual(await problemsOf({ ...bare, leaves: rewritten.leaves }), expected)
  })

  it('a signed head of zero leaves that does not have the empty root', async () => {
    const sealed = sealedLog([0, 3])
    const wrong = signHead(0, sealed.heads[1]!.root_hash)
    const problems = await problemsOf({ ...sealed, heads: sealed.heads.with(0, wrong) })
    assert.equal(problems[0]?.kind, 'heads_conflict')
  })

  it('a leaf index that is stored twice', async () => {
    const sealed = sealedLog([4])
    const problems = await problemsOf({ ...sealed, leaves: sealed.leaves.toSpliced(2, 0, sealed.leaves[1]!) })
    assert.deepEqual(problems, [{ kind: 'leaf_repeated', leafIndex: 1, entryId: 'aud_1' }])
  })

  it('the index from which leaves were cut off', async () => {
    const sealed = sealedLog([7, 12, 20])
    assert.deepEqual(await problemsOf({ ...sealed, leaves: sealed.leaves.slice(0, 13) }), [
      { kind: 'log_truncated', leafIndex: 13, treeSize: 20 },
    ])
  })

  it('the index from which leaves and their heads were cut off, if a later head is pinned', async () => {
    const sealed = sealedLog([7, 12, 20])
    const cut = { ...sealed, leaves: sealed.leaves.slice(0, 12), heads: sealed.heads.slice(0, 2) }
    assert.equal((await verifyLog(cut)).status, 'intact')
    assert.deepEqual(await problemsOf({ ...cut, pinnedHead: sealed.heads[2]! }), [
      { kind: 'log_truncated', leafIndex: 12, treeSize: 20 },
    ])
  })

  it('leaves that no head covers', async () => {
    const sealed = sealedLog([7, 12, 20])
    assert.deepEqual(await problemsOf({ ...sealed, heads: sealed.heads.slice(0, 2) }), [
      { kind: 'leaves_unsealed', leafIndex: 12, lastLeafIndex: 19, entryId: 'aud_12' },
    ])
  })

  it('a log that its operator rewrote and signed again, if an original head is pinned', async () => {
    const original = sealedLog([7, 12, 20])
    const entry = (index: number) => (index === 3 ? forged(original.leaves[3]!).entry! : entryOf(index))
    const rewritten = sealedLog([7, 12, 20], { entry })
    assert.equal((await verifyLog(rewritten)).status, 'intact')
    const problems = await problemsOf({ ...rewritten, pinnedHead: original.heads[1]! })
    assert.deepEqual(problems, [
      {
        kind: 'heads_conflict',
        treeSize: 12,
        rootHashes: [rewritten.heads[1]!.root_hash, original.heads[1]!.root_hash],
      },
      { kind: 'leaves_altered', leafIndex: 0, lastLeafIndex: 11, entryId: 'aud_0', treeSize: 12 },
      { kind: 'heads_inconsistent', firstTreeSize: 12, secondTreeSize: 20 },
    ])
  })

  it('an altered head, and does not verify leaves against it', async () => {
    const sealed = sealedLog([7, 12, 20])
    const altered = { ...sealed.heads[1]!, root_hash: sealed.heads[0]!.root_hash }
    const problems = await problemsOf({ ...sealed, heads: sealed.heads.with(1, altered) })
    assert.deepEqual(problems, [{ kind: 'head_signature_invalid', treeSize: 12, keyId: keyId(key.publicKey) }])
  })

  it('a head signed with an unknown key', async () => {
    const sealed = sealedLog([7, 12])
    const forgedHead = signHead(12, sealed.heads[1]!.root_hash, foreignKey.privateKey)
    const problems = await problemsOf({ ...sealed, heads: [sealed.heads[0]!, forgedHead] })
    assert.deepEqual(problems, [
      { kind: 'head_key_unknown', treeSize: 12, keyId: keyId(foreignKey.publicKey) },
      { kind: 'leaves_unsealed', leafIndex: 7, lastLeafIndex: 11, entryId: 'aud_7' },
    ])
  })

  it('a head that a retired key signed after its successor', async () => {
    const sealed = sealedLog([7, 12, 20])
    const signedBy = (n: number, { privateKey }: typeof key) =>
      signHead(sealed.heads[n]!.tree_size, sealed.heads[n]!.root_hash, privateKey)
    const publicKeys = [key.publicKey, foreignKey.publicKey]
    const rotated = [signedBy(0, foreignKey), signedBy(1, key), signedBy(2, key)]
    assert.equal((await verifyLog({ ...sealed, publicKeys, heads: rotated })).status, 'intact')
    const stolen = [signedBy(0, foreignKey), signedBy(1, key), signedBy(2, foreignKey)]
    assert.deepEqual(await problemsOf({ ...sealed, publicKeys, heads: stolen }), [
      { kind: 'head_key_retired', treeSize: 20, keyId: keyId(foreignKey.publicKey) },
      { kind: 'leaves_unsealed', leafIndex: 12, lastLeafIndex: 19, entryId: 'aud_12' },
    ])
  })

  it('a head signed with another key under the id of a known key', async () => {
    const sealed = sealedLog([7])
    const borrowed = { ...signHead(7, sealed.heads[0]!.root_hash, foreignKey.privateKey), key_id: keyId(key.publicKey) }
    const [problem] = await problemsOf({ ...sealed, heads: [borrowed] })
    assert.equal(problem?.kind, 'head_signature_invalid')
  })

  it('a log of another organization or environment', async () => {
    const sealed = sealedLog([7])
    assert.equal((await problemsOf({ ...sealed, environment: 'production' }))[0]?.kind, 'head_signature_invalid')
    const kinds = (await problemsOf({ ...sealed, organizationId: 'org_2' })).map(({ kind }) => kind)
    assert.ok(kinds.includes('head_signature_invalid') && kinds.includes('entry_edited'))
  })

  it('problems up to a limit, and counts the rest', async () => {
    const sealed = sealedLog([ProblemList.LISTED_MAX + 5])
    const report = await verifyLog({ ...sealed, leaves: sealed.leaves.map((leaf) => ({ ...leaf, entry: null })) })
    assert.ok(report.status === 'tampered')
    assert.equal(report.problems.length, ProblemList.LISTED_MAX)
    assert.equal(report.problemsOmitted, 5)
  })

  it('the first moved leaves one by one and the others as one span, if most of a log was moved', async () => {
    const sealed = sealedLog([100])
    const shifted = sealed.leaves.map((leaf, index) => {
      const source = sealed.leaves[(index + 1) % 100]!
      return { ...source, leafIndex: index, pairHash: leaf.pairHash ?? null }
    })
    const problems = await problemsOf({ ...sealed, leaves: shifted })
    assert.deepEqual(problems[1], { kind: 'leaf_moved', leafIndex: 1, entryId: 'aud_2', sealedAt: 2 })
    assert.deepEqual(problems.at(-1), {
      kind: 'leaves_altered',
      leafIndex: 32,
      lastLeafIndex: 99,
      entryId: 'aud_33',
      treeSize: 100,
    })
    assert.ok(problems.length <= 33)
  })
})

describe('a problem', () => {
  it('is described in a sentence that names the leaf', () => {
    const moved: LogProblem = { kind: 'leaf_moved', leafIndex: 7, entryId: 'aud_7', sealedAt: 3 }
    assert.equal(describeProblem(moved), 'Entry aud_7 was moved to leaf 7: it was sealed as leaf 3.')
    const missing: LogProblem = { kind: 'leaf_missing', leafIndex: 4, lastLeafIndex: 4 }
    assert.equal(describeProblem(missing), 'Leaf 4 is missing.')
    assert.equal(describeProblem({ ...missing, lastLeafIndex: 6 }), 'Leaves 4 to 6 are missing.')
  })
})
