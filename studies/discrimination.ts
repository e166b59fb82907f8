/** A case with its score (higher is better), its expected probability of a bad outcome, and whether it ended badly. */
export interface Scored {
  score: number
  probabilityOfBad: number
  isBad: boolean
}

/** The chance that a good case scores above a bad one, ties counting half (Mann–Whitney). */
export function areaUnderCurve(cases: readonly Scored[]): number {
  const good = cases.filter(({ isBad }) => !isBad)
  const bad = cases.filter(({ isBad }) => isBad)
  let wins = 0
  for (const { score: better } of good) {
    for (const { score } of bad) wins += better > score ? 1 : better === score ? 0.5 : 0
  }
  return wins / (good.length * bad.length)
}

/** The largest distance between the score distributions of good and bad cases. */
export function kolmogorovSmirnov(cases: readonly Scored[]): number {
  const goods = cases.filter(({ isBad }) => !isBad).length
  const bads = cases.length - goods
  const distances = cases.map(({ score }) => {
    const below = cases.filter((other) => other.score <= score)
    const badBelow = below.filter(({ isBad }) => isBad).length
    return badBelow / bads - (below.length - badBelow) / goods
  })
  return Math.max(...distances)
}

/** The mean squared error of the expected probabilities. */
export function brier(cases: readonly Scored[]): number {
  const squares = cases.map(({ probabilityOfBad, isBad }) => (probabilityOfBad - (isBad ? 1 : 0)) ** 2)
  return squares.reduce((sum, square) => sum + square, 0) / cases.length
}

/** The standard deviation of a measure over samples drawn with replacement; seeded, so that every run prints the same. */
export function bootstrapError(cases: readonly Scored[], measure: (cases: readonly Scored[]) => number): number {
  const draw = seededDraws(20_260_115)
  const measures = Array.from({ length: 400 }, () => measure(cases.map(() => cases[draw(cases.length)]!)))
  const mean = measures.reduce((sum, value) => sum + value, 0) / measures.length
  const variance = measures.reduce((sum, value) => sum + (value - mean) ** 2, 0) / measures.length
  return Math.sqrt(variance)
}

/** Park and Miller's minimal generator: good enough for resampling, and the same on every platform. */
function seededDraws(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}
