import type { FactSet, Facts } from '../facts/facts.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { type Assessment, assess } from './assess.ts'
import { isApproved, type Offer, offerOn } from './counter-offer.ts'
import { type DecisionTrace, type DerivedTrace, ENGINE_VERSION, type Evaluation } from './evaluation.ts'
import { readFigures } from './read-figures.ts'
import { readSlots } from './read-slots.ts'
import { conditionsFor, reasonsFor } from './reasons.ts'
import { scorecardLines } from './score.ts'
import { type Settled, settled } from './settling-steps.ts'
import { termsUsed } from './terms-used.ts'
import { isReduced } from './verdict.ts'

/** A request as it was judged: the requested amount, the amount that is approved, and what settled the verdict. */
export interface Judgement extends Settled {
  /** The policy of the applicant's segment. */
  policy: CompiledPolicy
  asked: Assessment
  offer: Offer
}

/** Judges a request, without reasons and without a trace. */
export function judge(whole: CompiledPolicy, { features }: Facts): Judgement {
  const policy = whole.segments.length === 0 ? whole : segmentFor(whole, features)
  const asked = assess(policy, features, readFigures(policy, features))
  const offer = offerOn(policy, asked)
  const { verdict, settledBy } = settledOn(asked, offer)
  return { policy, asked, offer, verdict, settledBy }
}

/**
 * Evaluates a policy on facts. A pure function: the same policy and the same facts give the same bytes.
 *
 * Score, tier and probability are those of the requested amount, also if a smaller one is approved.
 */
export function decide(whole: CompiledPolicy, facts: Facts): Evaluation {
  const judgement = judge(whole, facts)
  const { policy, asked, offer, verdict, settledBy } = judgement
  const { limit, offered } = offer
  const question = { verdict, settledBy, asked, limit, offered }
  const isLent = verdict === 'approve' || verdict === 'approve_with_conditions'
  return {
    verdict,
    tier: asked.tier.tier,
    limit: isLent ? (limit?.amount ?? null) : null,
    reasons: reasonsFor(policy, question),
    conditions: conditionsFor(policy, question),
    terms: termsUsed(judgement),
    trace: whole.derived.length === 0 && whole.segments.length === 0 ? traceOf(judgement) : longTraceOf(judgement),
  }
}

/** The members of a trace are in the order of their names: see `orderedJson`. */
function traceOf({ policy, asked, offer, settledBy }: Judgement): DecisionTrace {
  return {
    completeness: asked.completeness,
    confidence: asked.confidence,
    engine_version: ENGINE_VERSION,
    limit: offer.limit,
    request: asked.request,
    rule_trace: asked.ruleTraces,
    score: scoreTrace(policy, asked),
    scorecard: scorecardLines(policy, asked),
    settled_by: settledBy,
  }
}

/** The trace under a policy that computes features or has segments. */
function longTraceOf(judgement: Judgement): DecisionTrace {
  const { completeness, confidence, ...others } = traceOf(judgement)
  const { engine_version, limit, request, rule_trace, score, scorecard, settled_by } = others
  const { policy, asked } = judgement
  return {
    completeness,
    confidence,
    derived: derivedTrace(policy, asked),
    engine_version,
    limit,
    request,
    rule_trace,
    score,
    scorecard,
    segment: policy.segment,
    settled_by,
  }
}

function scoreTrace(policy: CompiledPolicy, asked: Assessment): DecisionTrace['score'] {
  const { document, hasPointsRules, probabilitySlot } = policy
  const { scorecard, verdicts } = document
  const { badPpm: bad_ppm, total, before } = asked
  const { base } = scorecard
  const { cutoff } = verdicts
  if (probabilitySlot !== undefined) {
    const isExternal = asked.reading.values[probabilitySlot] !== undefined
    const probability_source = bad_ppm === null ? null : isExternal ? 'external' : 'table'
    const rules = hasPointsRules ? { rule_points: before.points } : {}
    return { bad_ppm, base, cutoff, probability_source, ...rules, total }
  }
  return hasPointsRules
    ? { bad_ppm, base, cutoff, rule_points: before.points, total }
    : { bad_ppm, base, cutoff, total }
}

function derivedTrace({ derived }: CompiledPolicy, { reading }: Assessment): DerivedTrace[] {
  return derived.map(({ feature, slot }) => {
    const value = reading.values[slot]
    const age_days = reading.ages[slot]
    if (value === undefined) return { feature, missing: reading.missing[slot]!, value: null }
    return age_days === undefined ? { feature, value } : { age_days, feature, value }
  })
}

function settledOn(asked: Assessment, { limit }: Offer): Settled {
  if (isReduced(limit)) return settled('counter_offer')
  // An amount below the step of the currency may be within every term, and is still not lent.
  if (limit?.amount === 0 && isApproved(asked)) return settled('no_limit_left')
  return asked
}

const NOT_MEASURED: FactSet = {}

/**
 * The policy of the applicant's segment: the first whose condition holds, otherwise the document itself. No condition may
 * depend on the amount, so nothing has to be measured here and every amount is judged in the same segment.
 */
export function segmentFor(policy: CompiledPolicy, features: FactSet): CompiledPolicy {
  const { values } = readSlots(policy, features, NOT_MEASURED)
  return policy.segments.find(({ holds }) => holds(values) === true)?.policy ?? policy
}
