/** A case with its score (higher is better) and whether it ended badly. */
export interface Ranked {
  score: number
  isBad: boolean
}

/** A case with its score, its expected probability of a bad outcome, and whether it ended badly. */
export interface Scored extends Ranked {
  probabilityOfBad: number
}

/** The chance that a good case scores above a bad one, ties counting half (Mann–Whitney). */
export function areaUnderCurve(cases: readonly Ranked[]): number {
  const sorted = cases.toSorted((a, b) => a.score - b.score)
  let [wins, badBelow] = [0, 0]
  for (let start = 0; start < sorted.length; ) {
    let [end, good, bad] = [start, 0, 0]
    for (; end < sorted.length && sorted[end]!.score === sorted[start]!.score; end++) {
      if (sorted[end]!.isBad) bad += 1
      else good += 1
    }
    wins += good * (badBelow + bad / 2)
    badBelow += bad
    start = end
  }
  return wins / (badBelow * (cases.length - badBelow))
}

/** The largest distance between the score distributions of good and bad cases. */
export function kolmogorovSmirnov(cases: readonly Ranked[]): number {
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

/** The standard deviation of a measure over samples drawn with replacement. */
export function bootstrapError<Case>(cases: readonly Case[], measure: (cases: readonly Case[]) => number): number {
  const measures = bootstrap(cases, measure)
  const mean = measures.reduce((sum, value) => sum + value, 0) / measures.length
  const variance = measures.reduce((sum, value) => sum + (value - mean) ** 2, 0) / measures.length
  return Math.sqrt(variance)
}

/** The interval that holds the middle 95 % of a measure over samples drawn with replacement. */
export function bootstrapInterval<Case>(
  cases: readonly Case[],
  measure: (cases: readonly Case[]) => number,
): { from: number; to: number } {
  const measures = bootstrap(cases, measure).sort((a, b) => a - b)
  const at = (share: number) => measures[Math.round(share * (measures.length - 1))]!
  return { from: at(0.025), to: at(0.975) }
}

/** Seeded, so that every run prints the same. */
function bootstrap<Case>(cases: readonly Case[], measure: (cases: readonly Case[]) => number): number[] {
  const draw = seededDraws(20_260_115)
  return Array.from({ length: 400 }, () => measure(cases.map(() => cases[draw(cases.length)]!)))
}

/** Park and Miller's minimal generator: good enough for resampling, and the same on every platform. */
function seededDraws(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}
