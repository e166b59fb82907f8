import type { OutcomeType } from '../vocabularies.ts'
import { dayOf, decayPpm, PPM } from './decay.ts'

/** What an entity's own outcomes say about it: shares of bad and good belief in ppm; the rest, up to one whole, is unknown. */
export interface TrackRecord {
  adversePpm: number
  favourablePpm: number
}

/** The part of an outcome that counts in the graph: its type and when it happened. */
export interface DatedOutcome {
  type: OutcomeType
  occurredAt: string
}

/** The summed weight of all outcomes of one 30-day period, in ppm of an outcome that counts in full. */
export interface OutcomeTally {
  /** The first day of the period. */
  since: number
  adverse: number
  favourable: number
}

/** How much an outcome of each type counts, in ppm of one that counts in full. */
const WEIGHTS: Readonly<Record<OutcomeType, Pick<OutcomeTally, 'adverse' | 'favourable'>>> = {
  funded: { adverse: 0, favourable: 0 },
  current: { adverse: 0, favourable: PPM / 4 },
  late: { adverse: PPM / 4, favourable: 0 },
  default: { adverse: PPM, favourable: 0 },
  charged_off: { adverse: PPM, favourable: 0 },
  repaid: { adverse: 0, favourable: PPM },
  settled: { adverse: PPM / 4, favourable: 0 },
  fraud_confirmed: { adverse: 3 * PPM, favourable: 0 },
  access_abused: { adverse: PPM, favourable: 0 },
  closed: { adverse: 0, favourable: 0 },
}

const OUTCOME_HALF_LIFE_DAYS = 730
const PERIOD_DAYS = 30
// Ten years; older outcomes have less than a thirtieth of their weight left.
const PERIODS_KEPT = 122

/** The track record of an entity without outcomes. */
export const NO_TRACK_RECORD: TrackRecord = { adversePpm: 0, favourablePpm: 0 }

/** Whether a track record has bad outcomes. Links to such an entity are selected apart, so others cannot crowd them out. */
export function isAdverse({ adversePpm }: TrackRecord): boolean {
  return adversePpm > 0
}

/**
 * Adds an outcome to the tallies and subtracts the one it `supersedes`: a loan that went late and then defaulted counts
 * once, as a default.
 *
 * INVARIANT: the tallies depend on which outcomes were recorded, not on their order, and have at most 122 periods.
 */
export function tallyOutcome(
  tallies: readonly OutcomeTally[],
  outcome: DatedOutcome,
  supersedes?: DatedOutcome,
): OutcomeTally[] {
  const added = addToPeriod(tallies, outcome, 1)
  return newestPeriods(supersedes ? addToPeriod(added, supersedes, -1) : added)
}

/** Subtracts an outcome that was retracted, of a decision that has no other outcome. */
export function untallyOutcome(tallies: readonly OutcomeTally[], outcome: DatedOutcome): OutcomeTally[] {
  return newestPeriods(addToPeriod(tallies, outcome, -1))
}

function newestPeriods(tallies: OutcomeTally[]): OutcomeTally[] {
  return tallies.sort((a, b) => b.since - a.since).slice(0, PERIODS_KEPT)
}

function addToPeriod(tallies: readonly OutcomeTally[], { type, occurredAt }: DatedOutcome, times: 1 | -1) {
  const since = Math.floor(dayOf(occurredAt) / PERIOD_DAYS) * PERIOD_DAYS
  const known = tallies.find((tally) => tally.since === since) ?? { since, adverse: 0, favourable: 0 }
  const adverse = known.adverse + times * WEIGHTS[type].adverse
  const favourable = known.favourable + times * WEIGHTS[type].favourable
  return [...tallies.filter((tally) => tally.since !== since), { since, adverse, favourable }]
}

/**
 * Computes the track record on a day from the bad (b) and good (g) outcomes, each decayed by its age:
 * q⁻ = b / (b + g/4 + 1) and q⁺ = (g/4) / (b + g/4 + 1).
 */
export function trackRecordOf(tallies: readonly OutcomeTally[], today: number): TrackRecord {
  let adverse = 0
  let favourable = 0
  for (const tally of tallies) {
    const left = decayPpm(today - tally.since, OUTCOME_HALF_LIFE_DAYS)
    adverse += (tally.adverse * left) / PPM
    favourable += (tally.favourable * left) / PPM
  }
  // One bad outcome weighs as much as four good ones. PPM is the prior: the unknown weighs as much as one bad outcome.
  const total = adverse + favourable / 4 + PPM
  return {
    adversePpm: Math.floor((adverse / total) * PPM),
    favourablePpm: Math.floor((favourable / 4 / total) * PPM),
  }
}
