import { judge } from '../../core/decide/decide.ts'
import type { LimitTerm, LimitTrace } from '../../core/decide/evaluation.ts'
import { replayableFacts } from '../../core/decide/replayable-facts.ts'
import type { Facts } from '../../core/facts/facts.ts'
import { type RequestedAmount, requestedIn } from '../../core/facts/read-fact.ts'
import type { CompiledPolicy } from '../../core/policy/compile/compiled-policy.ts'
import { type DecidingThreshold, nearestThreshold } from '../../core/policy/deciding-thresholds.ts'
import { describeBinding, type LimitBinding, nameOfTerm } from '../../core/policy/limit-bindings.ts'
import { isObject } from '../../core/stored-json.ts'
import { VERDICTS, type Verdict } from '../../core/vocabularies.ts'
import { describeEvidence, type Evidence } from '../../underwriting/describe-evidence.ts'
import type { RecordedReplay } from '../../underwriting/replay-recorded.ts'
import { describeFeatures, type ShownFeature } from './describe-features.ts'

/** A path of the trust graph over which a bad outcome reaches the applicant; the entity at its end is named by its id. */
export interface EvaluatedPath {
  entity_id: string
  /** The types of its links, from the applicant on. */
  edges: string[]
  strength: number
  share: number
  uses_payments: boolean
}

/** A limit with the names of its terms and, in words, what keeps it from being higher. */
export interface ShownLimit extends LimitTrace {
  terms: (LimitTerm & { name: string })[]
  bound: LimitBinding | null
}

/** What the decision view shows of an evaluation by itself, without the names of entities: plain data. */
export interface EvaluationView {
  verdict: Verdict | null
  recommended_limit: number | null
  repayment_probability: number | null
  tier: string | null
  requested: RequestedAmount | null
  /** The entities that were read as one; empty if there was only one. */
  merged: readonly string[]
  policy: { version: string | null; checksum: string | null; model_version: string | null }
  /** The thresholds of the policy, for the segment of the applicant; null if the policy cannot be read. */
  thresholds: { cutoff: number; confidence_min_ppm: number; completeness_min_ppm: number } | null
  tiers: { tier: string; from: number }[]
  evidence: Pick<
    Evidence,
    | 'engine_version'
    | 'settled_by'
    | 'score'
    | 'completeness'
    | 'confidence'
    | 'segment'
    | 'product'
    | 'scorecard'
    | 'better_amount'
    | 'counter_offer'
  > & { limit: ShownLimit | null }
  rules: (Evidence['rule_trace'][number] & { near: DecidingThreshold | null })[]
  reasons: { code: string; label: string; impact: string }[]
  conditions: { code: string; label: string }[]
  features: ShownFeature[]
  graph: { negative_exposure: number | null; paths: EvaluatedPath[] }
}

/** Describes an evaluation for the decision view, as far as it can be without reading: it runs in threads too. */
export function viewEvaluation(replay: RecordedReplay): EvaluationView {
  const evidence = describeEvidence(replay)
  const facts = factsOf(replay)
  const { scorecard, engine_version, settled_by, score, completeness, confidence, segment, limit } = evidence
  return {
    ...describeVerdict(replay.decision),
    requested: requestedIn(evidence.feature_snapshot),
    merged: replay.merged ?? [],
    policy: {
      version: evidence.policy_version,
      checksum: evidence.policy_checksum,
      model_version: evidence.model_version,
    },
    ...describePolicy(replay.policy, facts),
    evidence: {
      engine_version,
      settled_by,
      score,
      completeness,
      confidence,
      segment,
      scorecard,
      limit: limit && describeLimit(limit),
      product: evidence.product,
      better_amount: evidence.better_amount,
      counter_offer: evidence.counter_offer,
    },
    rules: evidence.rule_trace.map((rule) => ({ ...rule, near: nearOf(rule) })),
    features: describeFeatures(evidence, replay.policy, facts),
    graph: { negative_exposure: numberOf(evidence.graph?.negative_exposure), paths: pathsOf(evidence.graph) },
  }
}

/** The threshold that a rule which did not hold nearly turned on, if there is one. */
export function nearOf({ holds, thresholds }: Evidence['rule_trace'][number]): DecidingThreshold | null {
  return holds === false ? (nearestThreshold(thresholds) ?? null) : null
}

/** The facts, if the decision could be made from them again. */
function factsOf({ features, evaluation }: RecordedReplay): Facts | null {
  const readable = evaluation && replayableFacts({ features, format: 1 })
  return readable && 'facts' in readable ? readable.facts : null
}

/** The decision as it was recorded; a stored one may have been altered in any way. */
function describeVerdict(decision: RecordedReplay['decision']) {
  const { verdict, recommended_limit, repayment_probability, risk_tier, reason_codes, conditions } = decision ?? {}
  return {
    verdict: VERDICTS.find((known) => known === verdict) ?? null,
    recommended_limit: numberOf(recommended_limit),
    repayment_probability: numberOf(repayment_probability),
    tier: typeof risk_tier === 'string' ? risk_tier : null,
    reasons: objectsOf(reason_codes).map(({ code, label, impact }) => ({
      code: String(code),
      label: String(label),
      impact: String(impact),
    })),
    conditions: objectsOf(conditions).map(({ code, label }) => ({ code: String(code), label: String(label) })),
  }
}

function describePolicy(
  whole: CompiledPolicy | null,
  facts: Facts | null,
): Pick<EvaluationView, 'thresholds' | 'tiers'> {
  if (!whole) return { thresholds: null, tiers: [] }
  const { document, tiers } = facts ? judge(whole, facts).policy : whole
  return {
    thresholds: document.verdicts,
    // The last tier takes every score that reaches no other.
    tiers: tiers.flatMap(({ tier, from }) => (Number.isFinite(from) ? [{ tier, from }] : [])),
  }
}

function describeLimit(limit: LimitTrace): ShownLimit {
  return {
    ...limit,
    terms: limit.terms.map((term) => ({ ...term, name: nameOfTerm(term.term) })),
    bound: limit.binding === null ? null : describeBinding(limit.binding),
  }
}

function pathsOf(graph: Evidence['graph']): EvaluatedPath[] {
  return objectsOf(graph?.paths).map(({ entity_id, edges, strength, share, uses_payments }) => ({
    entity_id: String(entity_id),
    edges: Array.isArray(edges) ? edges.map(String) : [],
    strength: numberOf(strength) ?? 0,
    share: numberOf(share) ?? 0,
    uses_payments: uses_payments === true,
  }))
}

function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
