import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sandboxPolicy } from '../../../../tests/sandbox-policy.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { checkScorecard } from './check-scorecard.ts'

type Scorecard = PolicyDocument['scorecard']

const { document } = sandboxPolicy()

/** What the checker says of the sandbox policy with other tables. */
function said(tables: Partial<Pick<Scorecard, 'probability' | 'normal'>>): string[] {
  return checkScorecard({ ...document, scorecard: { ...document.scorecard, ...tables } }).map(({ message }) => message)
}

it('a characteristic of what is no input has no bins to check', () => {
  const [first] = document.scorecard.characteristics
  for (const feature of ['tier.name', 'cashflow.unknown']) {
    const scorecard = { ...document.scorecard, characteristics: [{ ...first!, feature }] }
    assert.deepEqual(checkScorecard({ ...document, scorecard }), [], feature)
  }
})

it('a bin of texts has at least one', () => {
  const [first] = document.scorecard.characteristics
  const withTexts = (texts: string[]) => {
    const bins = [{ in: texts, points: 1 }, { points: 0 }]
    const characteristics = [{ ...first!, feature: 'consent.identity_data', bins }]
    return checkScorecard({ ...document, scorecard: { ...document.scorecard, characteristics } }).length
  }
  assert.deepEqual([withTexts([]), withTexts(['open'])], [1, 0])
})

describe('the table of probabilities', () => {
  const table = (...rows: [score: number, badPpm: number][]) =>
    said({ probability: rows.map(([score, bad_ppm]) => ({ score, bad_ppm })) })

  it('has ascending scores with descending probabilities, none of which is zero', () => {
    assert.deepEqual(table([500, 2], [501, 1]), [])
    assert.deepEqual(table([500, 2], [500, 1]), ['scores must ascend'])
    assert.deepEqual(table([500, 1], [501, 1]), ['a better score must mean a lower probability'])
    assert.deepEqual(table([500, 1], [501, 0]), [
      'no score makes a bad outcome impossible; write a bad_ppm of 1 or more',
    ])
  })
})

describe('the table of the normal distribution', () => {
  const table = (...rows: [z: number, ppm: number][]) => said({ normal: rows.map(([z, ppm]) => ({ z, ppm })) })

  it('starts at zero, and ascends by deviation and by share', () => {
    assert.deepEqual(table([0, 500_000], [1, 500_001]), [])
    for (const rows of [
      [],
      [[1, 500_000]],
      [
        [1, 500_000],
        [2, 800_000],
      ],
      [
        [0, 500_000],
        [0, 800_000],
      ],
      [
        [0, 500_000],
        [1, 500_000],
      ],
    ] as [number, number][][])
      assert.deepEqual(table(...rows), ['rows must ascend from z = 0'], JSON.stringify(rows))
  })
})
