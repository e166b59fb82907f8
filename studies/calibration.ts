/**
 * How far the probabilities of the sandbox policy can be trusted, and the table that fits the loans, on the PKDD'99
 * ("Berka") accounts of a Czech bank.
 *
 *     npm run study:calibration -- <folder with loans*.csv and transactions*.csv> [--today YYYY-MM-DD]
 *
 * It compares three ways from the score to the probability: the odds that the points were scaled to before any fit, the table of
 * the policy as it is, and a fitted line. The scorecard is not fitted to these loans, only the line is. Its figures are out of
 * fold: each loan is judged by a line that was fitted without it. Where the table of the policy was itself fitted to these loans,
 * its figures flatter it. The last part is the table for the policy, fitted to all loans. The data stays in its own folder and is never added to the project.
 */
import { parseArgs } from 'node:util'
import { sandboxPolicy } from '../server/tests/sandbox-policy.ts'
import { decideLoan, REQUESTED_ON, readLoans } from './berka-loans.ts'
import { bootstrapInterval, brier, type Scored } from './discrimination.ts'
import {
  badProbability,
  calibrationError,
  calibrationSlope,
  fitLogistic,
  type LogisticLine,
  lineOfOdds,
  meanExpected,
  reliabilityBands,
} from './reliability.ts'

const FOLDS = 10
const REPEATS = 20
/** The scores are divided by this, so that the pull towards zero of the fit is the same for both coefficients. */
const SCALE = 20
const PPM = 1_000_000
/** What the points were scaled to, before any fit. */
const SCALED_TO = { score: 600, odds: 30, doubling: 20 }
/** The probability whose interval is shown. */
const SHOWN = 0.2
const CONFIDENCE_BANDS = [
  [500_000, 700_000],
  [700_000, 900_000],
  [900_000, PPM + 1],
] as const

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { today: { type: 'string', default: REQUESTED_ON } },
})
const [folder] = positionals
if (folder === undefined) {
  console.error(
    'usage: npm run study:calibration -- <folder with loans*.csv and transactions*.csv> [--today YYYY-MM-DD]',
  )
  process.exit(2)
}
const policy = sandboxPolicy()
const { cutoff } = policy.document.verdicts
const now = `${values.today}T12:00:00.000Z`
const decided = readLoans(folder).map((loan) => decideLoan(policy, loan, now))

console.log(`policy ${policy.document.version} ${policy.checksum.slice(0, 12)}, as of ${values.today}`)
const bad = decided.filter(({ isBad }) => isBad).length
console.log(`${decided.length} loans, ${bad} bad (${percent(bad / decided.length)})`)
report(
  `before any fit: odds of ${SCALED_TO.odds} to one at ${SCALED_TO.score} points, doubled by every ${SCALED_TO.doubling}`,
  decided.map((one) => ({ ...one, probabilityOfBad: badProbability(lineOfOdds(SCALED_TO), one.score) })),
)
report('the table of the policy', decided)
report(`a fitted line, out of fold (${FOLDS} folds, mean of ${REPEATS} repeats)`, outOfFold(decided))
reportConfidence()
printTable(lineOf(decided))

function report(title: string, cases: readonly Scored[]): void {
  console.log(`\n${title}`)
  console.log(`mean   ${percent(meanExpected(cases))} expected, ${percent(bad / cases.length)} observed`)
  for (const [name, measure] of [
    ['Brier', brier],
    ['ECE', calibrationError],
    ['slope', calibrationSlope],
  ] as const) {
    const { from, to } = bootstrapInterval(cases, measure)
    console.log(`${name.padEnd(6)} ${measure(cases).toFixed(4)}   95 %: ${from.toFixed(4)} to ${to.toFixed(4)}`)
  }
  console.log('expected between       loans   expected   observed')
  for (const band of reliabilityBands(cases)) {
    const span = `${percent(band.from)} and ${percent(band.to)}`
    const shares = [band.expected, band.observed].map((share) => percent(share).padStart(8)).join('   ')
    console.log(`${span.padEnd(22)} ${String(band.cases).padStart(5)}   ${shares}`)
  }
}

/** What confidence says: how sure it is on which side of the cutoff a loan is, not how likely it is repaid. */
function reportConfidence(): void {
  console.log('\nconfidence             above the cutoff, bad      below the cutoff, bad')
  for (const [from, to] of CONFIDENCE_BANDS) {
    const band = decided.filter(
      ({ evaluation: { trace } }) => trace.confidence!.ppm >= from && trace.confidence!.ppm < to,
    )
    const shown = [true, false].map((isAbove) => {
      const side = band.filter(({ score }) => score >= cutoff === isAbove)
      const badShare = side.filter(({ isBad }) => isBad).length / side.length
      return `${String(side.length).padStart(6)} ${(side.length === 0 ? '–' : percent(badShare)).padStart(18)}`
    })
    console.log(`${`${percent(from / PPM)} to ${percent(Math.min(1, to / PPM))}`.padEnd(18)} ${shown.join('  ')}`)
  }
}

/** Each loan with the mean of the probabilities that lines fitted without it give; good and bad loans are spread evenly. */
function outOfFold(cases: readonly Scored[]): Scored[] {
  const sums = cases.map(() => 0)
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const foldOf = foldsOf(cases, repeat)
    for (let fold = 0; fold < FOLDS; fold++) {
      const line = lineOf(cases.filter((_, index) => foldOf[index] !== fold))
      for (const [index, one] of cases.entries())
        if (foldOf[index] === fold) sums[index]! += badProbability(line, placeOf(one.score)) / REPEATS
    }
  }
  return cases.map((one, index) => ({ ...one, probabilityOfBad: sums[index]! }))
}

/** The fold of each case: cases of either kind take turns, in an order that differs between repeats. */
function foldsOf(cases: readonly Scored[], repeat: number): number[] {
  const folds = cases.map(() => 0)
  for (const isBad of [true, false]) {
    const order = cases
      .flatMap((one, index) => (one.isBad === isBad ? [index] : []))
      .toSorted((a, b) => shuffled(a, repeat) - shuffled(b, repeat))
    for (const [place, index] of order.entries()) folds[index] = place % FOLDS
  }
  return folds
}

/** A number that orders indices differently for each repeat: Knuth's multiplicative hash. */
function shuffled(index: number, repeat: number): number {
  return ((index + 1) * 2_654_435_761 + (repeat + 1) * 40_503 * (index + 7)) % 4_294_967_296
}

function lineOf(cases: readonly Scored[]): LogisticLine {
  return fitLogistic(cases.map(({ score, isBad }) => ({ x: placeOf(score), isBad })))
}

function placeOf(score: number): number {
  return (score - cutoff) / SCALE
}

function printTable(line: LogisticLine): void {
  const perDoubling = (-SCALE * Math.log(2)) / line.slope
  console.log(`\nfitted to all loans: ${percent(badProbability(line, 0))} at the cutoff of ${cutoff},`)
  console.log(`the odds double every ${perDoubling.toFixed(1)} points`)
  const shown = (Math.log(SHOWN / (1 - SHOWN)) - line.intercept) / line.slope
  const { from, to } = bootstrapInterval(decided, (cases) => badProbability(lineOf(cases), shown))
  console.log(
    `where it says ${percent(SHOWN)}, lines fitted to samples say ${percent(from)} to ${percent(to)} (95 %)\n`,
  )
  for (const { score } of policy.document.scorecard.probability!) {
    const badPpm = Math.max(1, Math.round(badProbability(line, placeOf(score)) * PPM))
    console.log(`    - { score: ${score}, bad_ppm: ${badPpm} }`)
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
