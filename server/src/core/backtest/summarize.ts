import type { BacktestCounts, ChangeCounts, GroupCounts, SideCounts } from './backtest-counts.ts'
import type {
  Approvals,
  BacktestResult,
  Estimate,
  Headline,
  LimitCheck,
  LimitName,
  SwapSet,
} from './backtest-result.ts'
import { badShare, independentCases, type Part, weightedSum } from './bad-share.ts'
import { calibrationOf } from './calibration.ts'
import { limitWords } from './limit-words.ts'
import { monitoredAttributes } from './monitored-groups.ts'
import { centreOf, correlationWith, expectedShare, fitRisk, type RiskGroup } from './portfolio-risk.ts'

/** The result of a backtest. */
export function resultOf(counts: BacktestCounts): BacktestResult {
  const { settings, decided, unreadable, by_people, first_at, last_at, matrix, rules, changes } = counts
  const all = Object.values(changes)
  const figures = {
    decided,
    changed: all.reduce((sum, { count }) => sum + count, 0),
    after: approvals(counts.after, decided),
    headline: headlineOf(counts),
  }
  return {
    unreadable,
    first_at,
    last_at,
    limits: limitChecks(counts, figures),
    matrix,
    currency: settings.currency,
    loss_given_default_ppm: settings.lossGivenDefaultPpm,
    by_people,
    before: approvals(counts.before, decided),
    newly_approved: swapSet(changes.newly_approved),
    no_longer_approved: swapSet(changes.no_longer_approved),
    calibration: calibrationOf(counts, observedOf(counts)),
    rules,
    monitored: monitoredAttributes(counts.monitored),
    changed_cases: all.flatMap(({ cases }) => cases).sort((a, b) => (a.decision_id < b.decision_id ? 1 : -1)),
    ...figures,
  }
}

/** All approved cases with a known outcome. */
export interface Observed {
  known: number
  bad: number
  /** How many of them count as independent. */
  independent: number
  /** How many of those with a probability do. */
  independentCells: number
  /** Those with a probability. */
  cells: readonly RiskGroup[]
}

function observedOf({ kept, no_longer_approved: dropped, observed }: BacktestCounts): Observed {
  const known = kept.known + dropped.known
  const cells = [...kept.cells.values(), ...dropped.cells.values()]
  const independent = independentCases(observed)
  const share = known === 0 ? 0 : casesIn(cells) / known
  return { known, bad: kept.bad + dropped.bad, independent, independentCells: independent * share, cells }
}

const NOT_KNOWN: Estimate = { share: null, low: null, high: null }

function headlineOf(counts: BacktestCounts): Headline {
  const { settings, kept, newly_approved: added, no_longer_approved: dropped } = counts
  const observed = observedOf(counts)
  const before = badShare(observed, observed.independent)
  const keptShare = badShare(kept, independentCases(kept.entities))
  const droppedShare = badShare(dropped, independentCases(dropped.entities))
  const expected = expectedOf(added, observed)
  const counted = casesIn([...added.cells.values()])
  // The rate of all is known if that of each part of it is, and of no credit in it nothing is known.
  const isKnown = (kept.approved === 0 || kept.known > 0) && (counted === 0 || expected !== null) && added.unknown === 0
  const weights = { kept: kept.approved, added: counted, all: kept.approved + counted }
  const parts = [
    part(weights.kept / weights.all, keptShare),
    part(weights.added / weights.all, expected?.estimate ?? NOT_KNOWN),
  ].flat()
  const correlation = expected === null || kept.known === 0 ? 0 : expected.correlationWith(kept)
  const together = isKnown && weights.all > 0 ? weightedSum(parts, correlation) : NOT_KNOWN
  const ofBefore = (share: number) => (observed.known === 0 ? 0 : share / observed.known)
  const changes = [
    part(weights.kept / weights.all - ofBefore(kept.known), keptShare),
    part(weights.added / weights.all, expected?.estimate ?? NOT_KNOWN),
    part(-ofBefore(dropped.known), droppedShare),
  ].flat()
  const isComparable = together.share !== null && before.share !== null
  const difference = isComparable ? weightedSum(changes, kept.known === 0 ? 0 : correlation) : NOT_KNOWN
  return {
    maturity_days: settings.maturityDays,
    kept: { approved: kept.approved, mature: kept.mature, outcomes: keptShare },
    newly_approved: {
      approved: added.approved,
      expected: expected?.estimate ?? NOT_KNOWN,
      by_table: counted === 0 ? null : expectedPpmOf(added) / counted / 1_000_000,
      without_probability: added.approved - counted,
    },
    before,
    together: bounded(together),
    difference,
    change: changeIn(difference),
  }
}

function part(weight: number, { share, low, high }: Estimate): Part[] {
  return share === null || low === null || high === null ? [] : [{ weight, estimate: { share, low, high } }]
}

function expectedOf(added: GroupCounts, observed: Observed) {
  const cells = [...added.cells.values()]
  const centre = centreOf(observed.cells.length > 0 ? observed.cells : cells)
  const risk = fitRisk(observed.cells, { independent: observed.independentCells, centre })
  const expected = expectedShare(risk, cells, independentCases(added.entities))
  if (expected === null) return null
  return {
    estimate: expected.estimate,
    correlationWith: (kept: GroupCounts) =>
      correlationWith(risk, expected, [...kept.cells.values()], independentCases(kept.entities)),
  }
}

function changeIn({ low, high }: Estimate): Headline['change'] {
  if (low === null || high === null) return null
  if (low > 0) return 'worse'
  return high < 0 ? 'better' : 'not_shown'
}

function bounded({ share, low, high }: Estimate): Estimate {
  return { share, low: low === null ? null : Math.max(0, low), high: high === null ? null : Math.min(1, high) }
}

function casesIn(cells: readonly RiskGroup[]): number {
  return cells.reduce((sum, { cases }) => sum + cases, 0)
}

function expectedPpmOf({ cells }: GroupCounts): number {
  return [...cells.values()].reduce((sum, { expectedPpm }) => sum + expectedPpm, 0)
}

function approvals(
  { approved, amount, expected_loss, loss_known, loss_unknown }: SideCounts,
  decided: number,
): Approvals {
  return {
    approved,
    rate: decided === 0 ? 0 : approved / decided,
    amount,
    expected_loss: loss_known === 0 && loss_unknown > 0 ? null : expected_loss,
    loss_unknown,
  }
}

function swapSet({ count, known, bad, entities }: ChangeCounts): SwapSet {
  return { count, outcomes: badShare({ known, bad }, independentCases(entities)) }
}

type LimitedFigures = Pick<BacktestResult, 'decided' | 'changed' | 'after' | 'headline'>

function limitChecks({ settings: { limits } }: BacktestCounts, figures: LimitedFigures): LimitCheck[] {
  const { decided, changed, after, headline } = figures
  const ppmOf = (share: number | null) => (share === null ? null : Math.round(share * 1_000_000))
  const found: Record<LimitName, number | null> = {
    decisions_min: decided,
    bad_ppm_max: ppmOf(headline.together.share),
    approved_ppm_min: decided === 0 ? null : ppmOf(after.rate),
    approved_ppm_max: decided === 0 ? null : ppmOf(after.rate),
    changed_ppm_max: decided === 0 ? null : ppmOf(changed / decided),
  }
  return (Object.keys(found) as LimitName[]).flatMap((limit) => {
    const allowed = limits[limit]
    if (allowed === undefined) return []
    const value = found[limit]
    const isKept = value !== null && (limit.endsWith('_min') ? value >= allowed : value <= allowed)
    const check = { limit, allowed, found: value, is_kept: isKept }
    return [{ ...check, words: limitWords(check) }]
  })
}
