import type { Scored } from './discrimination.ts'

/** A characteristic of a card: the bins of one figure, from the worst to the best. */
export interface Ladder {
  id: string
  /** The edges between its bins, in the order of the figure. */
  edges: readonly number[]
  /** Whether less of the figure is better. */
  isDescending: boolean
  /** The most that one step from a bin to the next may be worth, in log-odds. */
  stepMax: number
}

/** A case by the bin of each ladder, 0 for the worst. */
export interface Binned {
  bins: readonly number[]
  isBad: boolean
}

/** The log-odds of a bad outcome in the worst bins, and what each step up takes from them. */
export interface FittedCard {
  intercept: number
  /** By ladder and step. */
  steps: readonly (readonly number[])[]
}

/** How far the steps are pulled towards zero: the weight of half their squares against the likelihood. */
const RIDGE = 0.5
const SWEEPS_MAX = 400
const CHANGE_MIN = 1e-5

/** The bin of a figure: how many edges it has passed on the better side. A figure on an edge is above it. */
export function binOf({ edges, isDescending }: Pick<Ladder, 'edges' | 'isDescending'>, figure: number): number {
  const passed = edges.filter((edge) => figure >= edge).length
  return isDescending ? edges.length - passed : passed
}

/**
 * Fits the steps of a card by penalised maximum likelihood, one after the other until none changes. No step is below zero, so
 * that a better figure never costs points, nor above the bound of its ladder, so that no bin is a cliff.
 */
export function fitCard(ladders: readonly Ladder[], cases: readonly Binned[]): FittedCard {
  const steps = ladders.map(({ edges }) => edges.map(() => 0))
  const odds = cases.map(() => 0)
  let intercept = 0
  const update = (bounds: { at: number; from: number; to: number; ridge: number }, has: (one: Binned) => boolean) => {
    let [slope, curve] = [bounds.ridge * bounds.at, bounds.ridge + 1e-9]
    for (const [index, one] of cases.entries()) {
      if (!has(one)) continue
      const p = 1 / (1 + Math.exp(-odds[index]!))
      slope += Number(one.isBad) - p
      curve += p * (1 - p)
    }
    const change = Math.max(bounds.from - bounds.at, Math.min(bounds.to - bounds.at, -slope / Math.max(curve, 0.05)))
    for (const [index, one] of cases.entries()) if (has(one)) odds[index]! -= change
    return change
  }
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep++) {
    const free = { at: 0, from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, ridge: 0 }
    const shift = update(free, () => true)
    intercept -= shift
    let largest = Math.abs(shift)
    for (const [ladder, { stepMax }] of ladders.entries()) {
      for (const [step, at] of steps[ladder]!.entries()) {
        const change = update({ at, from: 0, to: stepMax, ridge: RIDGE }, ({ bins }) => bins[ladder]! > step)
        steps[ladder]![step]! += change
        largest = Math.max(largest, Math.abs(change))
      }
    }
    if (largest < CHANGE_MIN) break
  }
  return { intercept, steps }
}

/** The log-odds of a bad outcome under a card. */
export function logOddsOf({ intercept, steps }: FittedCard, { bins }: Binned): number {
  return steps.reduce(
    (odds, ofLadder, ladder) => odds - ofLadder.slice(0, bins[ladder]).reduce((sum, step) => sum + step, 0),
    intercept,
  )
}

/** The fold of each case: cases of either kind take turns, in an order that differs between repeats. */
export function foldsOf(
  cases: readonly { isBad: boolean }[],
  { folds, repeat }: { folds: number; repeat: number },
): number[] {
  const places = cases.map(() => 0)
  for (const isBad of [true, false]) {
    const order = cases
      .flatMap((one, index) => (one.isBad === isBad ? [index] : []))
      .toSorted((a, b) => shuffled(a, repeat) - shuffled(b, repeat))
    for (const [place, index] of order.entries()) places[index] = place % folds
  }
  return places
}

/** A number that orders indices differently for each repeat: Knuth's multiplicative hash. */
function shuffled(index: number, repeat: number): number {
  return ((index + 1) * 2_654_435_761 + (repeat + 1) * 40_503 * (index + 7)) % 4_294_967_296
}

/** Each case with the mean log-odds, and the mean probability, of the cards that were fitted without it. */
export function outOfFold<Case extends Binned>(
  ladders: readonly Ladder[],
  cases: readonly Case[],
  { folds, repeats }: { folds: number; repeats: number },
): (Scored & { logOdds: number })[] {
  const sums = cases.map(() => ({ probability: 0, logOdds: 0 }))
  for (let repeat = 0; repeat < repeats; repeat++) {
    const foldOf = foldsOf(cases, { folds, repeat })
    for (let fold = 0; fold < folds; fold++) {
      const card = fitCard(
        ladders,
        cases.filter((_, index) => foldOf[index] !== fold),
      )
      for (const [index, one] of cases.entries()) {
        if (foldOf[index] !== fold) continue
        const logOdds = logOddsOf(card, one)
        sums[index]!.logOdds += logOdds / repeats
        sums[index]!.probability += 1 / (1 + Math.exp(-logOdds)) / repeats
      }
    }
  }
  return cases.map(({ isBad }, index) => {
    const { probability, logOdds } = sums[index]!
    return { isBad, logOdds, score: -logOdds, probabilityOfBad: probability }
  })
}
