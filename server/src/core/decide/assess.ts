import type { FactSet } from '../facts/facts.ts'
import type { CompiledPolicy, CompiledRule, CompiledTier } from '../policy/compile/compiled-policy.ts'
import type { Slots } from '../policy/expression/compile-expression.ts'
import type { Verdict } from '../vocabularies.ts'
import { completenessOf, confidenceIn } from './confidence.ts'
import type { Completeness, Confidence, RuleTrace, ScorecardLine } from './evaluation.ts'
import { addCaps, type JudgedAmount, judgedSlots, type LimitBounds, limitBounds } from './limit-bounds.ts'
import { measureRequest } from './measure-request.ts'
import type { Figures } from './read-figures.ts'
import { readAgain, readSlots, type SlotReading } from './read-slots.ts'
import { type RuleAnswers, runRules, runRulesAgain } from './run-rules.ts'
import { readTable, type ScoredCard, score, scoreAgain } from './score.ts'
import type { SettledBy } from './settling-steps.ts'
import { verdictOn } from './verdict.ts'

/** A request for one amount, judged under a policy. */
export interface Assessment {
  figures: Figures
  request: FactSet
  reading: SlotReading
  /** The answers of the rules before the score. */
  before: RuleAnswers
  /** The traces of all rules, and the rules that hold: before the score, then after it. */
  traces: RuleTrace[]
  held: readonly CompiledRule[]
  lines: ScorecardLine[]
  /** The score without the points of rules. */
  cardTotal: number
  total: number
  /** Null if the policy has only an external probability, and that is missing. */
  badPpm: number | null
  tier: CompiledTier
  completeness: Completeness
  confidence: Confidence
  /** Every value that rules and limit terms read, by slot. */
  slots: Slots
  /** Null if no amount was requested. */
  bounds: LimitBounds | null
  verdict: Verdict
  settledBy: SettledBy
}

/** Judges a request for the amount in `figures`, without looking for another amount. */
export function assess(policy: CompiledPolicy, features: FactSet, figures: Figures): Assessment {
  const request = measureRequest(figures)
  const reading = readSlots(policy, features, request)
  const completeness = completenessOf(policy, reading)
  const before = runRules(policy, policy.rules, reading.values)
  return settle(policy, { figures, request, reading, completeness, before, scored: score(policy, reading) })
}

/**
 * Judges another amount than `asked` by what depends on it. The search for a counter-offer judges about ten amounts; judging
 * each from the start took twice as long.
 */
export function assessAt(policy: CompiledPolicy, asked: Assessment, amount: number): Assessment {
  const figures = { ...asked.figures, amount }
  const request = measureRequest(figures)
  const reading = readAgain(policy, asked.reading, { measured: request, amount })
  const { completeness } = asked
  const before = policy.hasRulesOnAmount ? runRulesAgain(policy, asked.before, reading.values) : asked.before
  return settle(policy, { figures, request, reading, completeness, before, scored: scoreAgain(policy, asked, reading) })
}

type Unsettled = Pick<Assessment, 'figures' | 'request' | 'reading' | 'before' | 'completeness'> & {
  scored: ScoredCard
}

function settle(policy: CompiledPolicy, unsettled: Unsettled): Assessment {
  const { figures, request, reading, before, completeness, scored } = unsettled
  const { lines, cardTotal } = scored
  const total = cardTotal + before.points
  const badPpm = badPpmOf(policy, reading, total)
  const tier = tierOf(policy, total)
  const confidence = confidenceIn(policy, reading, { total, openPoints: before.openPoints })
  const judged = { figures, reading, tier, total, badPpm }
  const { bounds, traces, held, slots } = boundAndRule(policy, judged, before)
  const question = { amount: figures.amount, held, score: total, completeness, confidence, bounds }
  const { verdict, settledBy } = verdictOn(policy, question)
  return {
    figures,
    request,
    reading,
    before,
    traces,
    held,
    lines,
    cardTotal,
    total,
    badPpm,
    tier,
    completeness,
    confidence,
    slots,
    bounds,
    verdict,
    settledBy,
  }
}

/** The bounds of the limit, and the answers of all rules: those after the score see the bounds, and may add to them. */
function boundAndRule(
  policy: CompiledPolicy,
  judged: JudgedAmount,
  before: RuleAnswers,
): Pick<Assessment, 'bounds' | 'traces' | 'held' | 'slots'> {
  const isCredit = judged.figures.amount !== undefined
  const slots = isCredit ? judgedSlots(policy, judged) : judged.reading.values.slice()
  const bounds = limitBounds(policy, judged, { slots, held: before.held })
  if (policy.afterScore.length === 0) return { bounds, traces: before.traces, held: before.held, slots }
  if (bounds !== null && bounds.missing.length === 0)
    slots[policy.slots.all.get('limit.amount')!] = bounds.lowest?.amount
  const after = runRules(policy, policy.afterScore, slots)
  if (bounds !== null) addCaps(bounds, after.held, { policy, slots })
  return { bounds, traces: [...before.traces, ...after.traces], held: [...before.held, ...after.held], slots }
}

const MILLION = 1_000_000

/** The probability of a bad outcome: the external one if it is known, otherwise that of the table. */
function badPpmOf({ probability, probabilitySlot }: CompiledPolicy, { values }: SlotReading, total: number) {
  if (probabilitySlot !== undefined) {
    const repaid = values[probabilitySlot]
    if (typeof repaid === 'number') return MILLION - Math.floor(repaid * MILLION)
  }
  return probability === null ? null : readTable(probability, total)
}

/** The first tier that the score reaches; every score reaches the last one. */
function tierOf({ tiers }: CompiledPolicy, total: number): CompiledTier {
  return tiers.find(({ from }) => total >= from)!
}
