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
        // A head in the middle of a block needs all leaves before it; one after the block has the stored node.
        const verified = [7, 12, 20].filter((size) => size <= gap || (size === 20 && gap < 16))
        assert.equal(report.figures.headsVerified, verified.length)
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

  it('leaves that changed places in any number, if the head covers a stored node or ends in their block', async () => {
    const indices = Array.from({ length: 20 }, (_, index) => index)
    const shuffled = fc.shuffledSubarray(indices, { minLength: 20, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(shuffled, fc.integer({ min: 20, max: 60 }), async (order, size) => {
        const sealed = sealedLog([7, 13, size])
        const leaves = sealed.leaves.map((leaf, leafIndex) => {
          const source = sealed.leaves[order[leafIndex] ?? leafIndex]!
          return { ...source, leafIndex, blockHash: leaf.blockHash ?? null }
        })
        const moves = order.flatMap((sealedAt, leafIndex) =>
          sealedAt === leafIndex
            ? []
            : [{ kind: 'leaf_moved', leafIndex, entryId: `aud_${sealedAt}`, sealedAt } as const],
        )
        moves.sort((one, other) => one.sealedAt - other.sealedAt)
        assert.deepEqual(moves.length > 0 ? await problemsOf({ ...sealed, leaves }) : [], moves)
      }),
    )
  })

  it('leaves that changed places after all heads, and not where they were sealed', async () => {
    const sealed = sealedLog([7, 20])
    const cut = { ...sealed, heads: sealed.heads.slice(0, 1), leaves: exchanged(sealed.leaves, 3, 17) }
    assert.deepEqual(
      (await problemsOf(cut)).map(({ kind }) => kind),
      ['leaves_altered', 'leaves_unsealed'],
    )
  })

  it('the block in which a leaf was forged together with its entry, without what an earlier head confirms', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(19), async (which) => {
        const sealed = sealedLog([7, 13, 20])
        const leaves = sealed.leaves.with(which, forged(sealed.leaves[which]!))
        const leafIndex = [13, 7, 0].find((size) => size <= which)!
        // The last block has no node yet: all leaves of the last head may be altered.
        const lastLeafIndex = which < 16 ? 15 : 19
        assert.deepEqual(await problemsOf({ ...sealed, leaves }), [
          { kind: 'leaves_altered', leafIndex, lastLeafIndex, entryId: `aud_${leafIndex}`, treeSize: 20 },
        ])
      }),
    )
  })

  it('each block in which a leaf was forged, and leaves that changed places in others', async () => {
    const sealed = sealedLog([80])
    const leaves = exchanged(sealed.leaves, 20, 50).map((leaf, n) => (n === 3 || n === 70 ? forged(leaf) : leaf))
    assert.deepEqual(await problemsOf({ ...sealed, leaves }), [
      { kind: 'leaves_altered', leafIndex: 0, lastLeafIndex: 15, entryId: 'aud_0', treeSize: 80 },
      { kind: 'leaf_moved', leafIndex: 50, entryId: 'aud_20', sealedAt: 20 },
      { kind: 'leaf_moved', leafIndex: 20, entryId: 'aud_50', sealedAt: 50 },
      { kind: 'leaves_altered', leafIndex: 64, lastLeafIndex: 79, entryId: 'aud_64', treeSize: 80 },
    ])
  })

  it('a forged leaf just as exactly if another stored node was forged or lost', async () => {
    const sealed = sealedLog([20, 40, 60])
    for (const blockHash of [sealed.heads[0]!.root_hash, null]) {
      const leaves = sealed.leaves.map((leaf) => (leaf.leafIndex < 16 ? { ...leaf, blockHash } : leaf))
      assert.equal((await verifyLog({ ...sealed, leaves })).status, 'intact')
      assert.deepEqual(await problemsOf({ ...sealed, leaves: leaves.with(43, forged(leaves[43]!)) }), [
        { kind: 'leaves_altered', leafIndex: 40, lastLeafIndex: 47, entryId: 'aud_40', treeSize: 60 },
      ])
    }
  })

  it('a forged leaf and not the leaves after it, even if those have no stored nodes', async () => {
    const sealed = sealedLog([16, 29, 40])
    const bare = sealed.leaves.map((leaf) => (leaf.leafIndex < 16 ? leaf : { ...leaf, blockHash: null }))
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
    const rotated = (size: number) => {
      const sealed = sealedLog([size])
      const leaves = sealed.leaves.map((leaf, leafIndex) => {
        const source = sealed.leaves[(leafIndex + 1) % size]!
        return { ...source, leafIndex, blockHash: leaf.blockHash ?? null }
      })
      return problemsOf({ ...sealed, leaves })
    }
    const few = await rotated(100)
    assert.deepEqual(few[0], { kind: 'leaf_moved', leafIndex: 99, entryId: 'aud_0', sealedAt: 0 })
    assert.deepEqual(few[1], { kind: 'leaf_moved', leafIndex: 0, entryId: 'aud_1', sealedAt: 1 })
    assert.equal(few.length, 100)
    const [first, second, ...others] = await rotated(320)
    // Leaf 0 is in a block that is not listed.
    assert.deepEqual([first!.kind, first!.kind === 'leaves_altered' && first.lastLeafIndex], ['leaves_altered', 15])
    assert.deepEqual(second, { kind: 'leaf_moved', leafIndex: 15, entryId: 'aud_16', sealedAt: 16 })
    assert.deepEqual(others.at(-1), {
      kind: 'leaves_altered',
      leafIndex: 128,
      lastLeafIndex: 319,
      entryId: 'aud_129',
      treeSize: 320,
    })
    assert.ok(others.length <= 128)
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
