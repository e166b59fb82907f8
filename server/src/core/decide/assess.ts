import type { FactSet } from '../facts/facts.ts'
import type { CompiledPolicy, CompiledRule, CompiledTier } from '../policy/compile/compiled-policy.ts'
import type { Verdict } from '../vocabularies.ts'
import { completenessOf, confidenceIn } from './confidence.ts'
import type { Completeness, Confidence } from './evaluation.ts'
import { addCaps, fillVariables, type JudgedAmount, type LimitBounds, limitBounds } from './limit-bounds.ts'
import { measureRequest } from './measure-request.ts'
import type { Figures } from './read-figures.ts'
import { readAgain, readSlots, type SlotReading } from './read-slots.ts'
import { type RuleAnswers, runRules } from './run-rules.ts'
import { runTables } from './run-tables.ts'
import { readTable, type ScoredCard, score, scoreAgain } from './score.ts'
import type { SettledBy } from './settling-steps.ts'
import { verdictOn } from './verdict.ts'

/** What an offer of one amount is made of. */
export interface AssessedAmount {
  figures: Figures
  tier: CompiledTier
  /** The rules that hold: before the score, then after it, then the rows of tables. */
  held: readonly CompiledRule[]
  /** Null if no amount was requested. */
  bounds: LimitBounds | null
  total: number
  /** Null for access without credit, and if the policy has only an external probability that is missing. */
  badPpm: number | null
  verdict: Verdict
  settledBy: SettledBy
}

/** A request for one amount, judged under a policy. */
export interface Assessment extends AssessedAmount {
  request: FactSet
  /** Every value that rules and limit terms read, also the variables of this amount. */
  reading: SlotReading
  /** The answers of the rules before the score. */
  before: RuleAnswers
  /** The traces of all rules: before the score, then after it, then those of the tables. */
  ruleTraces: RuleAnswers['traces']
  /** The bin of each characteristic. */
  bins: ScoredCard['bins']
  /** The score without the points of rules. */
  cardTotal: number
  completeness: Completeness
  /** Null for access without credit, and without a scorecard. */
  confidence: Confidence | null
}

/** Judges a request for the amount in `figures`, without looking for another amount. */
export function assess(policy: CompiledPolicy, features: FactSet, figures: Figures): Assessment {
  const request = measureRequest(figures)
  const reading = readSlots(policy, features, request)
  const completeness = completenessOf(policy, reading)
  const before = runRules(policy.rules, reading.values)
  return settle(policy, {
    figures,
    request,
    reading,
    completeness,
    before,
    scored: score(policy, reading),
    asked: undefined,
  })
}

/**
 * Judges another amount than `asked` by what depends on it. The search for a counter-offer judges about ten amounts; judging
 * each from the start took twice as long.
 */
export function assessAt(policy: CompiledPolicy, asked: Assessment, amount: number): AssessedAmount {
  const figures = { ...asked.figures, amount }
  const request = measureRequest(figures)
  const reading = readAgain(policy, asked.reading, { measured: request, amount })
  const scored = scoreAgain(policy, asked, reading)
  // No edge of a bin lies between the amounts, so they differ only in whether they are within the bounds.
  if (scored === asked && policy.readsAmountByBinsOnly) {
    const { tier, held, bounds, total, badPpm, completeness, confidence } = asked
    const settled = verdictOn(policy, { amount, held, score: total, completeness, confidence, bounds })
    return { figures, tier, held, bounds, total, badPpm, verdict: settled.verdict, settledBy: settled.settledBy }
  }
  const { completeness } = asked
  const before = policy.hasRulesOnAmount ? runRules(policy.rules, reading.values, asked.before) : asked.before
  return settle(policy, { figures, request, reading, completeness, before, scored, asked })
}

type Unsettled = Pick<Assessment, 'figures' | 'request' | 'reading' | 'before' | 'completeness'> & {
  scored: ScoredCard
  /** The requested amount, if this is another one. */
  asked: Assessment | undefined
}

function settle(policy: CompiledPolicy, unsettled: Unsettled): Assessment {
  const { figures, request, reading, before, completeness, scored, asked } = unsettled
  const { bins, cardTotal } = scored
  const total = cardTotal + before.points
  const isAccess = figures.amount === undefined
  const badPpm = isAccess ? null : badPpmOf(policy, reading, total)
  const tier = tierOf(policy, total)
  const hasScore = !isAccess && policy.isScored
  const confidence = !hasScore ? null : confidenceIn(policy, reading, { total, openPoints: before.openPoints })
  const judged = { figures, reading, tier, total, badPpm, asked }
  const { bounds, ruleTraces, held } = boundAndRule(policy, judged, before)
  const question = { amount: figures.amount, held, score: total, completeness, confidence, bounds }
  const { verdict, settledBy } = verdictOn(policy, question)
  return {
    figures,
    request,
    reading,
    before,
    ruleTraces,
    held,
    bins,
    cardTotal,
    total,
    badPpm,
    tier,
    completeness,
    confidence,
    bounds,
    verdict,
    settledBy,
  }
}

/** The bounds of the limit, and the traces of all rules: those after the score see the bounds, and may add to them. */
function boundAndRule(
  policy: CompiledPolicy,
  judged: JudgedAmount,
  before: RuleAnswers,
): Pick<Assessment, 'bounds' | 'ruleTraces' | 'held'> {
  if (judged.figures.amount !== undefined) fillVariables(policy, judged)
  const bounds = limitBounds(policy, judged, before.held)
  if (policy.afterScore.length === 0 && policy.tables.length === 0)
    return { bounds, ruleTraces: before.traces, held: before.held }
  const slots = judged.reading.values
  if (bounds !== null && bounds.missing.length === 0)
    slots[policy.slots.variables['limit.amount']] = bounds.lowest?.amount
  const after = runRules(policy.afterScore, slots)
  const inTables = runTables(policy.tables, slots)
  if (bounds !== null) addCaps(bounds, [...after.held, ...inTables.held], slots)
  return {
    bounds,
    ruleTraces: [...before.traces, ...after.traces, ...inTables.traces],
    held: [...before.held, ...after.held, ...inTables.held],
  }
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
