import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DecidingThreshold, decidingThresholds, nearestThreshold } from './deciding-thresholds.ts'
import { compileExpression, type Slots } from './expression/compile-expression.ts'

const slotOf = new Map([
  ['cashflow.income', 0],
  ['cashflow.spending', 1],
  ['identity.failed', 2],
  ['entity.country', 3],
])

function thresholdsIn(when: string, ...values: Slots) {
  const compiled = compileExpression(when, slotOf)
  assert.ok('holds' in compiled, JSON.stringify(compiled))
  return decidingThresholds(compiled, values)
}

describe('the thresholds that decide a rule', () => {
  it('have the distance of the value, whether the rule holds or not', () => {
    const found = { feature: 'cashflow.income', operator: '<', threshold: 500 }
    assert.deepEqual(thresholdsIn('cashflow.income < 500', 480), [{ ...found, value: 480, distance: 20 }])
    assert.deepEqual(thresholdsIn('cashflow.income < 500', 512.5), [{ ...found, value: 512.5, distance: 12.5 }])
    assert.deepEqual(thresholdsIn('cashflow.income < 0.3', 0.2)[0]!.distance, 0.1)
  })

  it('are found at the threshold itself, for every comparison', () => {
    for (const operator of ['<', '<=', '>', '>='])
      for (const value of [499, 500, 501])
        assert.deepEqual(
          thresholdsIn(`cashflow.income ${operator} 500`, value).map(({ distance }) => distance),
          [Math.abs(value - 500)],
          `${value} ${operator} 500`,
        )
  })

  it('are written with the feature on the left', () => {
    const mirrored = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }
    for (const [operator, expected] of Object.entries(mirrored))
      assert.deepEqual(thresholdsIn(`-2 ${operator} cashflow.income`, 1), [
        { feature: 'cashflow.income', operator: expected, threshold: -2, value: 1, distance: 3 },
      ])
  })

  it('may be computed from other features', () => {
    assert.deepEqual(thresholdsIn('cashflow.income < (0.5 + 0.5) * cashflow.spending', 480, 500), [
      { feature: 'cashflow.income', operator: '<', threshold: 500, value: 480, distance: 20 },
    ])
  })

  it('are not those within the expression that a feature is compared with', () => {
    const within = 'cashflow.income < (identity.failed > 2 ? 100 : 500)'
    assert.deepEqual(
      thresholdsIn(`${within} && identity.failed < 5`, 300, 0, 1).map(({ feature, threshold }) => [feature, threshold]),
      [
        ['cashflow.income', 500],
        ['identity.failed', 5],
      ],
    )
  })

  it('are those that turn the rule alone', () => {
    const when = 'cashflow.income < 500 && identity.failed >= 2'
    const features = (...values: Slots) => thresholdsIn(when, ...values).map(({ feature }) => feature)
    assert.deepEqual(features(400, 0, 3), ['cashflow.income', 'identity.failed'])
    assert.deepEqual(features(400, 0, 1), ['identity.failed'])
    assert.deepEqual(features(600, 0, 3), ['cashflow.income'])
    assert.deepEqual(features(600, 0, 1), [], 'both would have to change')
  })

  it('are crossed by next to nothing, also at zero', () => {
    const band = 'cashflow.income > 500 && cashflow.income < 500.001'
    assert.deepEqual(
      thresholdsIn(band, 400).map(({ threshold }) => threshold),
      [500],
    )
    assert.deepEqual(
      thresholdsIn('cashflow.income > 0', -1).map(({ threshold }) => threshold),
      [0],
    )
    assert.deepEqual(
      thresholdsIn('cashflow.income > 1000000.0', -1).map(({ threshold }) => threshold),
      [1_000_000],
    )
  })

  it('leave out a threshold whose crossing also crosses another one', () => {
    const when = 'cashflow.income > 500 && !(cashflow.income > 300)'
    assert.deepEqual(thresholdsIn(when, 200), [])
  })

  it('do not exist for sums, texts and missing values', () => {
    assert.deepEqual(thresholdsIn('cashflow.income + cashflow.spending > 10', 1, 2), [])
    assert.deepEqual(thresholdsIn('entity.country == "DE"', 1, 2, 3, 'DE'), [])
    assert.deepEqual(thresholdsIn('cashflow.income > 500'), [])
    assert.deepEqual(thresholdsIn('cashflow.income > cashflow.spending', 500), [])
  })
})

describe('the threshold that a rule is nearest to', () => {
  const at = (threshold: number, distance: number): DecidingThreshold => ({
    feature: 'cashflow.income',
    operator: '<',
    threshold,
    value: threshold + distance,
    distance,
  })

  it('is within a fifth of its number', () => {
    assert.deepEqual(nearestThreshold([at(500, 100)]), at(500, 100))
    assert.deepEqual(nearestThreshold([at(-500, 100)]), at(-500, 100))
    assert.equal(nearestThreshold([at(500, 100.01)]), undefined)
    assert.equal(nearestThreshold([]), undefined)
  })

  it('is the one that is nearest by its own scale, and never zero, which has none', () => {
    assert.deepEqual(nearestThreshold([at(10, 1), at(1000, 50), at(-100, 6)]), at(1000, 50))
    assert.deepEqual(nearestThreshold([at(0, 0), at(10, 2)]), at(10, 2))
  })

  it('is not one that a perfect share could not be farther from', () => {
    const share = { feature: 'cashflow.balances_reconciled', operator: '<' as const, threshold: 0.9 }
    const nearly = { ...share, value: 0.99, distance: 0.09 }
    assert.deepEqual(nearestThreshold([nearly]), nearly)
    assert.equal(nearestThreshold([{ ...share, value: 1, distance: 0.1 }]), undefined)
    const days = { ...share, feature: 'cashflow.days_observed', value: 1, distance: 0.1 }
    assert.deepEqual(nearestThreshold([days]), days, 'one day is no end of a range')
  })
})
