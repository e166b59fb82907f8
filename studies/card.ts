/**
 * The points of the sandbox policy's scorecard and its table of probabilities, fitted to the PKDD'99 ("Berka") accounts of a
 * Czech bank, and whether the card tells risk better than the one before it.
 *
 *     npm run study:card -- <folder with loans*.csv and transactions*.csv> [--today YYYY-MM-DD]
 *
 * Both cards are fitted again in each of ten folds, ten times, and each loan is judged by cards that were fitted without it.
 * The differences have intervals over samples of loans. Then the new card is fitted to all loans, and a line is put through its
 * out-of-fold log-odds: that is the table. The data stays in its own folder and is never added to the project.
 */
import { parseArgs } from 'node:util'
import { sandboxPolicy } from '../server/tests/sandbox-policy.ts'
import { decideLoan, REQUESTED_ON, readLoans } from './berka-loans.ts'
import { areaUnderCurve, bootstrapInterval, brier, type Scored } from './discrimination.ts'
import { type Binned, binOf, fitCard, type Ladder, outOfFold } from './fit-card.ts'
import { badProbability, fitLogistic } from './reliability.ts'

const CROSS = { folds: 10, repeats: 10 }
/** At twenty points for doubled odds, a step is at most seventeen points. */
const STEP_MAX = 0.58
/** Of most characteristics, half a unit: fourteen points. */
const SMALL_STEP_MAX = 0.5
/** An overdraft is an event and no edge that a good account crosses by chance, so it may weigh more. */
const OVERDRAFT_STEP_MAX = 0.85
const POINTS_PER_LOG_ODDS = 20 / Math.LN2
const PPM = 1_000_000
/** The score at which the odds are thirty to one before the line is fitted, and the points of all other characteristics. */
const ANCHOR = { score: 600, odds: 30 }

type Figures = Readonly<Record<string, number>>

const ladder = (id: string, edges: readonly number[], over: Partial<Ladder> = {}): Ladder => ({
  id,
  edges,
  isDescending: false,
  stepMax: STEP_MAX,
  ...over,
})
const less = { isDescending: true } as const

const CARD: readonly Ladder[] = [
  ladder('lowest_balance_to_instalment', [0, 0.5, 1, 1.5, 2, 2.5]),
  ladder('overdrawn_days_365', [1, 2, 4], { ...less, stepMax: OVERDRAFT_STEP_MAX }),
  ladder('lowest_income_to_outflow', [0.1, 0.4, 0.8], { stepMax: SMALL_STEP_MAX }),
  ladder('outflow_to_income', [1.1, 1.4], less),
  ladder('days_observed', [120, 180, 240], { stepMax: SMALL_STEP_MAX }),
]

/** The card before, with its bins, on the same facts; its points had no bound. */
const unbounded = { stepMax: Number.POSITIVE_INFINITY }
const CARD_BEFORE: readonly Ladder[] = [
  ladder('reserve_to_instalment', [0, 0.5, 1, 1.5, 2, 3], unbounded),
  ladder('low_balance_share', [0.1, 0.2, 0.3], { ...less, ...unbounded }),
  ladder('overdrawn_days_365', [1, 2, 4], { ...less, ...unbounded }),
  ladder('lowest_income_to_outflow', [0.25, 0.75], unbounded),
  ladder('instalment_to_income', [0.2, 0.35, 0.6], { ...less, ...unbounded }),
  ladder('outflow_to_income', [1.1, 1.4], { ...less, ...unbounded }),
  ladder('days_observed', [75, 180, 330], unbounded),
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { today: { type: 'string', default: REQUESTED_ON } },
})
const [folder] = positionals
if (folder === undefined) {
  console.error('usage: npm run study:card -- <folder with loans*.csv and transactions*.csv> [--today YYYY-MM-DD]')
  process.exit(2)
}
const now = `${values.today}T12:00:00.000Z`
const policy = sandboxPolicy()
const decided = readLoans(folder).map((loan) => decideLoan(policy, loan, now))
const figures = decided.map(({ facts, evaluation: { trace } }): Figures => {
  const known = Object.entries({ ...facts.features, ...trace.request }).flatMap(([name, fact]) =>
    'value' in fact && typeof fact.value === 'number' ? [[name.split('.')[1]!, fact.value] as const] : [],
  )
  const { lowest_balance: lowest, instalment } = Object.fromEntries(known)
  return Object.fromEntries([
    ...known,
    ...(lowest === undefined ? [] : [['lowest_balance_to_instalment', lowest / instalment!]]),
  ])
})
const after = judged('this card', CARD)
const before = judged('the card before', CARD_BEFORE)
compare('Brier', brier)
compare('AUC', areaUnderCurve)
printCard()

function binned(card: readonly Ladder[]): Binned[] {
  return decided.map(({ isBad }, index) => ({
    isBad,
    bins: card.map((one) => binOf(one, figures[index]![one.id] ?? (one.isDescending ? Number.POSITIVE_INFINITY : -1))),
  }))
}

function judged(title: string, card: readonly Ladder[]) {
  const cases = outOfFold(card, binned(card), CROSS)
  console.log(`${title.padEnd(16)} Brier ${brier(cases).toFixed(4)}   AUC ${areaUnderCurve(cases).toFixed(3)}`)
  return cases
}

/** The difference between the cards in one measure, with its interval over samples of loans. */
function compare(name: string, measure: (cases: readonly Scored[]) => number): void {
  const pairs = after.map((one, index) => ({ after: one, before: before[index]! }))
  const difference = (all: readonly (typeof pairs)[number][]) =>
    measure(all.map((pair) => pair.after)) - measure(all.map((pair) => pair.before))
  const { from, to } = bootstrapInterval(pairs, difference)
  console.log(`${name.padEnd(6)} ${difference(pairs).toFixed(4)}   95 %: ${from.toFixed(4)} to ${to.toFixed(4)}`)
}

function printCard(): void {
  const card = fitCard(CARD, binned(CARD))
  const points = card.steps.map((steps) => steps.map((step) => step * POINTS_PER_LOG_ODDS))
  console.log('\npoints, fitted to all loans')
  for (const [index, { id, edges, isDescending }] of CARD.entries()) {
    const sums = points[index]!.map((_, step) =>
      Math.round(points[index]!.slice(0, step + 1).reduce((a, b) => a + b, 0)),
    )
    console.log(`  ${id.padEnd(30)} ${(isDescending ? edges.toReversed() : edges).join(', ')}: 0, ${sums.join(', ')}`)
  }
  // The points of all cases are whole, so the base is what is left of the score once they are added.
  const base = ANCHOR.score - (Math.log(ANCHOR.odds) + card.intercept) * POINTS_PER_LOG_ODDS
  console.log(`  base without other characteristics ${base.toFixed(1)}`)
  const line = fitLogistic(after.map(({ logOdds, isBad }) => ({ x: logOdds, isBad })))
  console.log(`\nline through the out-of-fold log-odds: ${line.intercept.toFixed(3)} + ${line.slope.toFixed(3)} x\n`)
  for (const { score } of policy.document.scorecard.probability!) {
    const logOdds = -Math.log(ANCHOR.odds) - (score - ANCHOR.score) / POINTS_PER_LOG_ODDS
    console.log(`    - { score: ${score}, bad_ppm: ${Math.max(1, Math.round(badProbability(line, logOdds) * PPM))} }`)
  }
}
