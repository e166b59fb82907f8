import type { OutcomeType } from '../vocabularies.ts'
import { dayOf, decayPpm, PPM } from './decay.ts'

/** What the outcomes of one entity say about it: shares of belief in ppm; what is left to one whole is ignorance. */
export interface Evidence {
  adversePpm: number
  favourablePpm: number
}

/** An outcome as far as the graph is concerned. */
export interface EvidenceOutcome {
  type: OutcomeType
  occurredAt: string
}

/** The weight of all outcomes of one period, in ppm of an outcome that counts in full. */
export interface OutcomeTally {
  /** The day the period begins. */
  since: number
  adverse: number
  favourable: number
}

const ADVERSE: Partial<Record<OutcomeType, number>> = {
  fraud_confirmed: 3 * PPM,
  default: PPM,
  charged_off: PPM,
  access_abused: PPM,
  late: PPM / 4,
  settled: PPM / 4,
}
const FAVOURABLE: Partial<Record<OutcomeType, number>> = { repaid: PPM, current: PPM / 4 }

const OUTCOME_HALF_LIFE_DAYS = 730
const PERIOD_DAYS = 30
// Ten years; what is older has less than a thirtieth of its weight left.
const PERIODS_KEPT = 122

/** Nothing known, good or bad. */
export const NO_EVIDENCE: Evidence = { adversePpm: 0, favourablePpm: 0 }

/** Tells whether there is anything bad to say, so that links to this entity must not be crowded out. */
export function isAdverse({ adversePpm }: Evidence): boolean {
  return adversePpm > 0
}

/**
 * Adds an outcome to the tallies, taking back the one it `supersedes`: a loan that went late, then bad, is one bad loan.
 *
 * INVARIANT: the tallies depend on which outcomes were recorded, never on their order, and never grow beyond a bound.
 */
export function recordOutcome(
  tallies: readonly OutcomeTally[],
  outcome: EvidenceOutcome,
  supersedes?: EvidenceOutcome,
): OutcomeTally[] {
  const added = addToPeriod(tallies, outcome, 1)
  const changed = supersedes ? addToPeriod(added, supersedes, -1) : added
  return changed.sort((a, b) => b.since - a.since).slice(0, PERIODS_KEPT)
}

function addToPeriod(tallies: readonly OutcomeTally[], { type, occurredAt }: EvidenceOutcome, times: 1 | -1) {
  const since = Math.floor(dayOf(occurredAt) / PERIOD_DAYS) * PERIOD_DAYS
  const known = tallies.find((tally) => tally.since === since) ?? { since, adverse: 0, favourable: 0 }
  const adverse = known.adverse + times * (ADVERSE[type] ?? 0)
  const favourable = known.favourable + times * (FAVOURABLE[type] ?? 0)
  return [...tallies.filter((tally) => tally.since !== since), { since, adverse, favourable }]
}

/** Weighs the outcomes as they look today: q⁻ = b / (b + g/4 + 1), q⁺ = (g/4) / (b + g/4 + 1). */
export function evidenceOf(tallies: readonly OutcomeTally[], today: number): Evidence {
  let adverse = 0
  let favourable = 0
  for (const tally of tallies) {
    const left = decayPpm(today - tally.since, OUTCOME_HALF_LIFE_DAYS)
    adverse += (tally.adverse * left) / PPM
    favourable += (tally.favourable * left) / PPM
  }
  // One bad outcome outweighs four good ones, and the one whole is what nobody knows yet.
  const total = adverse + favourable / 4 + PPM
  return {
    adversePpm: Math.floor((adverse / total) * PPM),
    favourablePpm: Math.floor((favourable / 4 / total) * PPM),
  }
}
