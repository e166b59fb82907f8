import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededDraws } from '../../../tests/seeded-draws.ts'
import { addEntity, badShare, independentCases, noEntities, weightedSum } from './bad-share.ts'

test('the interval of a share holds it, lies within 0 and 1, and narrows with more cases', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (known, part) => {
      const { share, low, high } = badShare({ known, bad: Math.floor(known * part) })
      assert.ok(low! <= share! + 1e-12 && share! - 1e-12 <= high! && low! >= 0 && high! <= 1)
      const wide = badShare({ known: known * 10, bad: Math.floor(known * part) * 10 })
      assert.ok(wide.high! - wide.low! < high! - low!)
    }),
  )
  // 5 of 20, as in tables of the Wilson interval.
  const { low, high } = badShare({ known: 20, bad: 5 })
  assert.deepEqual([low?.toFixed(3), high?.toFixed(3)], ['0.112', '0.469'])
  assert.deepEqual(badShare({ known: 0, bad: 0 }), { known: 0, bad: 0, share: null, low: null, high: null })
})

test('an interval by entity holds the true rate in 95 of 100 portfolios whose entities end alike', () => {
  const draw = seededDraws(20_261_119)
  const PORTFOLIOS = 1_000
  const [truth, entities] = [0.12, 120]
  let [held, heldByCase] = [0, 0]
  for (let portfolio = 0; portfolio < PORTFOLIOS; portfolio++) {
    const byEntity = noEntities()
    const ends = { known: 0, bad: 0 }
    for (let entity = 0; entity < entities; entity++) {
      const cases = draw() < 0.8 ? 1 : 2 + Math.floor(draw() * 10)
      addEntity(byEntity, `ent_${entity}`, cases)
      ends.known += cases
      if (draw() < truth) ends.bad += cases
    }
    const holds = ({ low, high }: ReturnType<typeof badShare>) => Number(low! <= truth && truth <= high!)
    held += holds(badShare(ends, independentCases(byEntity)))
    heldByCase += holds(badShare(ends))
  }
  assert.ok(held >= 0.93 * PORTFOLIOS && held <= 0.98 * PORTFOLIOS, `${held} of ${PORTFOLIOS}`)
  assert.ok(heldByCase < 0.85 * PORTFOLIOS, 'an interval by case is too narrow, or the entities show nothing')
})

test('an interval widens when one entity has more of the same number of cases', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 300 }),
      fc.integer({ min: 2, max: 9 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (known, more, part) => {
        const [spread, heaped] = [noEntities(), noEntities()]
        for (let index = 0; index < known; index++) {
          addEntity(spread, `ent_${index}`, 1)
          addEntity(heaped, `ent_${index < more ? 0 : index}`, 1)
        }
        const ends = { known, bad: Math.round(known * part) }
        const [even, uneven] = [badShare(ends, independentCases(spread)), badShare(ends, independentCases(heaped))]
        assert.equal(independentCases(spread), known)
        assert.ok(uneven.high! - uneven.low! > even.high! - even.low!)
        assert.equal(uneven.share, even.share)
      },
    ),
  )
})

test('the sum of estimates is the estimate of one part, and of independent parts lies between their intervals', () => {
  const first = { share: 0.1, low: 0.06, high: 0.16 }
  const one = weightedSum([{ weight: 1, estimate: first }])
  for (const side of ['share', 'low', 'high'] as const) assert.ok(Math.abs(one[side]! - first[side]) < 1e-12)
  const second = { share: 0.3, low: 0.2, high: 0.42 }
  const parts = [
    { weight: 0.5, estimate: first },
    { weight: 0.5, estimate: second },
  ]
  const both = weightedSum(parts)
  assert.ok(Math.abs(both.share! - 0.2) < 1e-12 && both.low! > 0.13 && both.high! < 0.29)
  const correlated = weightedSum(parts, 1)
  assert.ok(Math.abs(correlated.low! - 0.13) < 1e-12 && Math.abs(correlated.high! - 0.29) < 1e-12)
  // Newcombe's interval of the difference of 56/70 and 48/80 (1998, table II, method 10).
  const difference = weightedSum([
    { weight: 1, estimate: estimateOf(56, 70) },
    { weight: -1, estimate: estimateOf(48, 80) },
  ])
  assert.deepEqual([difference.low!.toFixed(4), difference.high!.toFixed(4)], ['0.0524', '0.3339'])
})

function estimateOf(bad: number, known: number) {
  const { share, low, high } = badShare({ known, bad })
  return { share: share!, low: low!, high: high! }
}
