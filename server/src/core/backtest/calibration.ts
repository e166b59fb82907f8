import { readTable } from '../decide/score.ts'
import { CALIBRATION_POINTS_MAX } from '../policy/portfolio-settings.ts'
import type { BacktestCounts, CardTable, RiskCell } from './backtest-counts.ts'
import type { Calibration, CalibrationBand, CalibrationProposal } from './backtest-result.ts'
import { badShare } from './bad-share.ts'

/** Bands of scores that are shown. */
const BANDS = 8
/** As many independent outcomes tell whether a policy has parted from its portfolio; of fewer, chance is the likelier cause. */
export const INDEPENDENT_MIN = 50

const MILLION = 1_000_000

/**
 * What the policy expects of the approved cases with known outcomes against what was observed. The intervals of the bands and
 * of the proposals take all cases to be as dependent as the whole.
 */
export function calibrationOf(
  { kept, no_longer_approved, settings }: Pick<BacktestCounts, 'kept' | 'no_longer_approved' | 'settings'>,
  { independentCells: independent }: { independentCells: number },
): Calibration {
  const cells = [...kept.cells.values(), ...no_longer_approved.cells.values()]
  const all = sumOf(cells)
  const shareOf = ({ cases: known, bad }: { cases: number; bad: number }) =>
    badShare({ known, bad }, all.cases === 0 ? 0 : (independent * known) / all.cases)
  const observed = shareOf(all)
  const expected = all.cases === 0 ? null : all.expectedPpm / all.cases / MILLION
  const isOutside = expected !== null && (expected < observed.low! || expected > observed.high!)
  return {
    expected,
    observed,
    independent,
    has_parted: independent >= INDEPENDENT_MIN && isOutside,
    bands: bandsOf(cells, shareOf),
    proposals: settings.tables.flatMap((table) => proposalOf(table, { cells, shareOf, independent, all: all.cases })),
  }
}

type ShareOf = (sum: { cases: number; bad: number }) => ReturnType<typeof badShare>

/** Bands of about equally many cases. Cases with one score are in one band. */
function bandsOf(cells: readonly RiskCell[], shareOf: ShareOf): CalibrationBand[] {
  const byScore = [...Map.groupBy(cells, ({ score }) => score)].sort(([a], [b]) => a - b)
  const total = sumOf(cells).cases
  const bands: RiskCell[][] = []
  let before = 0
  for (const [, ofScore] of byScore) {
    const band = Math.min(BANDS - 1, Math.floor((before * BANDS) / total))
    bands[band] = [...(bands[band] ?? []), ...ofScore]
    before += sumOf(ofScore).cases
  }
  return bands
    .filter((band) => band !== undefined)
    .map((band): CalibrationBand => {
      const sum = sumOf(band)
      return {
        score_from: band[0]!.score,
        score_to: band.at(-1)!.score,
        expected: sum.expectedPpm / sum.cases / MILLION,
        observed: shareOf(sum),
      }
    })
}

/**
 * The points that fit a table to its outcomes; none if it has too few. Half a bad and half a good outcome are added, because no
 * points fit a rate of zero.
 */
function proposalOf(
  { card, rows, points }: CardTable,
  {
    cells,
    shareOf,
    independent,
    all,
  }: { cells: readonly RiskCell[]; shareOf: ShareOf; independent: number; all: number },
): CalibrationProposal[] {
  const own = cells.filter((cell) => cell.card === card)
  const { cases: known, bad } = sumOf(own)
  if (known === 0 || (independent * known) / all < INDEPENDENT_MIN) return []
  const { low, high } = shareOf({ cases: known, bad })
  const expectedWith = (more: number) =>
    own.reduce((sum, { cases, score }) => sum + cases * readTable(rows, score + more), 0) / known / MILLION
  const fitting = (wanted: number) => pointsFor(wanted, expectedWith, points)
  return [
    {
      segment: card === '' ? null : card,
      known,
      bad,
      points_now: points,
      points: fitting((bad + 0.5) / (known + 1)),
      points_low: fitting(high!),
      points_high: fitting(low!),
    },
  ]
}

/** The calibration points whose expected share is nearest to the wanted one, by bisection: more points expect less. */
function pointsFor(wanted: number, expectedWith: (more: number) => number, now: number): number {
  let [low, high] = [-CALIBRATION_POINTS_MAX - now, CALIBRATION_POINTS_MAX - now]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (expectedWith(middle) >= wanted) low = middle
    else high = middle
  }
  const isLowNearer = Math.abs(expectedWith(low) - wanted) <= Math.abs(expectedWith(high) - wanted)
  return now + (isLowNearer ? low : high)
}

function sumOf(cells: readonly RiskCell[]): { cases: number; expectedPpm: number; bad: number } {
  const sum = { cases: 0, expectedPpm: 0, bad: 0 }
  for (const { cases, expectedPpm, bad } of cells) {
    sum.cases += cases
    sum.expectedPpm += expectedPpm
    sum.bad += bad
  }
  return sum
}
