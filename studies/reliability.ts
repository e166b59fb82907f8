import type { Scored } from './discrimination.ts'

/** The log-odds of a bad outcome as a line over a number: `intercept + slope · x`. */
export interface LogisticLine {
  intercept: number
  slope: number
}

interface Observation {
  x: number
  isBad: boolean
}

const NEWTON_STEPS = 50

/** Fits the line by maximum likelihood. A weak pull towards zero keeps it finite where the classes separate. */
export function fitLogistic(cases: readonly Observation[], ridge = 1e-6): LogisticLine {
  let [intercept, slope] = [0, 0]
  for (let step = 0; step < NEWTON_STEPS; step++) {
    let [g0, g1, h00, h01, h11] = [-ridge * intercept, -ridge * slope, ridge, 0, ridge]
    for (const { x, isBad } of cases) {
      const p = 1 / (1 + Math.exp(-(intercept + slope * x)))
      const [error, weight] = [Number(isBad) - p, p * (1 - p)]
      g0 += error
      g1 += error * x
      h00 += weight
      h01 += weight * x
      h11 += weight * x * x
    }
    const determinant = h00 * h11 - h01 * h01
    intercept += (h11 * g0 - h01 * g1) / determinant
    slope += (h00 * g1 - h01 * g0) / determinant
  }
  return { intercept, slope }
}

/** The probability of a bad outcome on a line. */
export function badProbability({ intercept, slope }: LogisticLine, x: number): number {
  return 1 / (1 + Math.exp(-(intercept + slope * x)))
}

/** The line over scores on which one score has `odds` good outcomes to one bad, and `doubling` more points double them. */
export function lineOfOdds({ score, odds, doubling }: { score: number; odds: number; doubling: number }): LogisticLine {
  const slope = -Math.LN2 / doubling
  return { intercept: -Math.log(odds) - slope * score, slope }
}

/** One group of cases with similar expected probabilities. */
export interface ReliabilityBand {
  from: number
  to: number
  cases: number
  expected: number
  observed: number
}

/** Groups of equal size by expected probability, each with what was expected and what happened. */
export function reliabilityBands(cases: readonly Scored[], bands = 8): ReliabilityBand[] {
  const sorted = cases.toSorted((a, b) => a.probabilityOfBad - b.probabilityOfBad)
  return Array.from({ length: bands }, (_, index) => {
    const members = sorted.slice(
      Math.round((index * sorted.length) / bands),
      Math.round(((index + 1) * sorted.length) / bands),
    )
    return {
      from: members[0]?.probabilityOfBad ?? 0,
      to: members.at(-1)?.probabilityOfBad ?? 0,
      cases: members.length,
      expected: mean(members.map(({ probabilityOfBad }) => probabilityOfBad)),
      observed: mean(members.map(({ isBad }) => Number(isBad))),
    }
  })
}

/** The expected calibration error: the mean distance between expected and observed over groups of equal size. */
export function calibrationError(cases: readonly Scored[]): number {
  const bands = reliabilityBands(cases)
  return bands.reduce((sum, band) => sum + (band.cases / cases.length) * Math.abs(band.expected - band.observed), 0)
}

/** The calibration slope: 1 if the expected log-odds are right, more if they are too timid, less if they are too bold. */
export function calibrationSlope(cases: readonly Scored[]): number {
  const observations = cases.map(({ probabilityOfBad: p, isBad }) => ({ x: Math.log(p / (1 - p)), isBad }))
  return fitLogistic(observations).slope
}

/** The mean expected probability of a bad outcome. */
export function meanExpected(cases: readonly Scored[]): number {
  return mean(cases.map(({ probabilityOfBad }) => probabilityOfBad))
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
