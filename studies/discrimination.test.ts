import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  areaUnderCurve,
  bootstrapError,
  bootstrapInterval,
  brier,
  kolmogorovSmirnov,
  type Scored,
} from './discrimination.ts'

const scored = (score: number, isBad: boolean, probabilityOfBad = 0.5): Scored => ({ score, isBad, probabilityOfBad })
const APART = [scored(1, true), scored(2, true), scored(3, false), scored(4, false)]

it('a score that separates all good cases from all bad ones has an area and a distance of one', () => {
  assert.equal(areaUnderCurve(APART), 1)
  assert.equal(kolmogorovSmirnov(APART), 1)
})

it('a score that is the same for all cases has an area of one half', () => {
  const same = APART.map((one) => ({ ...one, score: 7 }))
  assert.equal(areaUnderCurve(same), 0.5)
  assert.equal(kolmogorovSmirnov(same), 0)
})

it('one of four pairs in the wrong order lowers the area by a quarter', () => {
  assert.equal(areaUnderCurve([scored(1, true), scored(3, true), scored(2, false), scored(4, false)]), 0.75)
})

it('the Brier score is the mean squared error', () => {
  assert.equal(brier([scored(1, true, 1), scored(2, false, 0.5)]), 0.125)
})

it('the bootstrap error is the same on every run', () => {
  const cases = Array.from({ length: 40 }, (_, index) => scored(index % 11, index % 3 === 0))
  assert.equal(bootstrapError(cases, areaUnderCurve), bootstrapError(cases, areaUnderCurve))
  assert.ok(bootstrapError(cases, areaUnderCurve) > 0)
})

it('the bootstrap interval holds the measure, and nothing else if all cases are alike', () => {
  const cases = Array.from({ length: 60 }, (_, index) => scored(index % 13, index % 4 === 0))
  const { from, to } = bootstrapInterval(cases, areaUnderCurve)
  assert.ok(from < areaUnderCurve(cases) && areaUnderCurve(cases) < to)
  const share = (some: readonly Scored[]) => some.filter(({ isBad }) => isBad).length / some.length
  assert.deepEqual(bootstrapInterval([scored(1, true), scored(2, true)], share), { from: 1, to: 1 })
})
