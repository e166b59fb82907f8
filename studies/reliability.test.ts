import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  badProbability,
  calibrationError,
  calibrationSlope,
  fitLogistic,
  lineOfOdds,
  reliabilityBands,
} from './reliability.ts'

/** A thousand cases at each of several probabilities, of which exactly that share is bad. */
function calibrated(expectedOf = (p: number) => p) {
  return [0.05, 0.1, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9].flatMap((p) =>
    Array.from({ length: 1_000 }, (_, n) => ({ score: 0, probabilityOfBad: expectedOf(p), isBad: n < p * 1_000 })),
  )
}

it('a fitted line returns the shares that it was fitted to', () => {
  const cases = [0, 1].flatMap((x) => Array.from({ length: 100 }, (_, n) => ({ x, isBad: n < (x === 0 ? 20 : 80) })))
  const line = fitLogistic(cases)
  assert.ok(Math.abs(badProbability(line, 0) - 0.2) < 1e-4)
  assert.ok(Math.abs(badProbability(line, 1) - 0.8) < 1e-4)
})

it('a line of odds has them at its score, and twice as good ones a doubling above', () => {
  const line = lineOfOdds({ score: 600, odds: 30, doubling: 20 })
  assert.ok(Math.abs(badProbability(line, 600) - 1 / 31) < 1e-12)
  assert.ok(Math.abs(badProbability(line, 620) - 1 / 61) < 1e-12)
})

it('true probabilities have no calibration error and a slope of one', () => {
  assert.ok(calibrationError(calibrated()) < 1e-9)
  assert.ok(Math.abs(calibrationSlope(calibrated()) - 1) < 1e-6)
})

it('log-odds of half their size have a slope of two', () => {
  const timid = calibrated((p) => 1 / (1 + Math.sqrt((1 - p) / p)))
  assert.ok(Math.abs(calibrationSlope(timid) - 2) < 1e-6)
  assert.ok(calibrationError(timid) > 0.05)
})

it('bands are of equal size and in the order of the expected probability', () => {
  const bands = reliabilityBands(calibrated())
  assert.deepEqual(
    bands.map(({ cases, expected, observed }) => [cases, expected.toFixed(2), observed.toFixed(2)]),
    [0.05, 0.1, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9].map((p) => [1_000, p.toFixed(2), p.toFixed(2)]),
  )
})
