import { judge } from '../../core/decide/decide.ts'
import { type Facts, type FactValue, MISSING_BECAUSE, type MissingBecause } from '../../core/facts/facts.ts'
import { findFeature } from '../../core/facts/feature-catalogue.ts'
import type { CompiledPolicy } from '../../core/policy/compile/compiled-policy.ts'
import { isObject } from '../../core/stored-json.ts'
import type { Evidence } from '../../underwriting/describe-evidence.ts'

/** A feature that a decision saw: its value with age and source, or why it has none, and which parts of the policy read it. */
export interface ShownFeature {
  feature: string
  label: string | null
  /** Such as `money`, `days` or `share`; null for features that only the policy knows. */
  unit: string | null
  source: string
  value: FactValue | null
  age_days: number | null
  missing: MissingBecause | null
  /** The same in a sentence. */
  missing_means: string | null
  used_by: { scorecard: boolean; rules: string[]; limit: boolean }
}

type Use = ShownFeature['used_by']

/** Describes every feature that a decision saw, those that the policy computes too, in the order of their names. */
export function describeFeatures(
  evidence: Evidence,
  policy: CompiledPolicy | null,
  facts: Facts | null,
): ShownFeature[] {
  const used = policy && facts ? usesOf(evidence, policy, facts) : new Map<string, Use>()
  const computed = evidence.derived.map(({ feature, ...fact }) => [feature, fact] as const)
  const seen = { ...evidence.feature_snapshot, ...evidence.request, ...Object.fromEntries(computed) }
  return Object.entries(seen)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([feature, fact]) => describeFeature(feature, fact, used.get(feature)))
}

function describeFeature(feature: string, fact: unknown, use: Use | undefined): ShownFeature {
  const known = findFeature(feature)
  const { value, age_days, missing } = isObject(fact) ? fact : {}
  const because = typeof missing === 'string' && missing in MISSING_BECAUSE ? (missing as MissingBecause) : null
  return {
    feature,
    label: known?.label ?? null,
    unit: known?.unit ?? null,
    source: sourceOf(feature),
    value: because === null && value !== undefined ? (value as FactValue) : null,
    age_days: typeof age_days === 'number' ? age_days : null,
    missing: because,
    missing_means: because && MISSING_BECAUSE[because],
    used_by: use ?? { scorecard: false, rules: [], limit: false },
  }
}

/** Where the values of a feature are from. */
export function sourceOf(feature: string): string {
  return findFeature(feature)?.source ?? (feature.startsWith('snapshot.') ? 'feature snapshots' : 'the policy')
}

function usesOf(evidence: Evidence, whole: CompiledPolicy, facts: Facts): Map<string, Use> {
  const uses = new Map<string, Use>()
  const of = (feature: string): Use => {
    const use = uses.get(feature) ?? { scorecard: false, rules: [], limit: false }
    uses.set(feature, use)
    return use
  }
  for (const { feature } of evidence.scorecard) of(feature).scorecard = true
  for (const { rule, values } of evidence.rule_trace) for (const { feature } of values) of(feature).rules.push(rule)
  const { policy } = judge(whole, facts)
  for (const { reads } of policy.limitTerms) for (const slot of reads) of(policy.slots.names[slot]!).limit = true
  return uses
}
