import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  entryOf,
  exchanged,
  forged,
  inPages,
  problemsOf,
  sealedLog,
  sizesOf,
  verifyLog,
} from '../../../tests/sealed-log.ts'
import { describeProblem, type LogProblem, ProblemList } from './log-report.ts'
import { verifyLog as verifyPages } from './verify-log.ts'

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

  it('a leaf index that is stored twice', async () => {
    const sealed = sealedLog([4])
    const problems = await problemsOf({ ...sealed, leaves: sealed.leaves.toSpliced(2, 0, sealed.leaves[1]!) })
    assert.deepEqual(problems, [{ kind: 'leaf_repeated', leafIndex: 1, entryId: 'aud_1' }])
  })

  it('a leaf that was inserted below the first one', async () => {
    const sealed = sealedLog([4])
    const problems = await problemsOf({
      ...sealed,
      leaves: [{ ...sealed.leaves[1]!, leafIndex: -1 }, ...sealed.leaves],
    })
    assert.deepEqual(problems, [{ kind: 'leaf_outside', leafIndex: -1, entryId: 'aud_1' }])
  })

  it('the index from which leaves were cut off', async () => {
    const sealed = sealedLog([7, 12, 20])
    assert.deepEqual(await problemsOf({ ...sealed, leaves: sealed.leaves.slice(0, 13) }), [
      { kind: 'log_truncated', leafIndex: 13, treeSize: 20 },
    ])
  })

  it('leaves that no head covers', async () => {
    const sealed = sealedLog([7, 12, 20])
    assert.deepEqual(await problemsOf({ ...sealed, heads: sealed.heads.slice(0, 2) }), [
      { kind: 'leaves_unsealed', leafIndex: 12, lastLeafIndex: 19, entryId: 'aud_12' },
    ])
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
