import { type VerdictStretch, verdictTrack } from '../../core/decide/verdict-track.ts'
import type { Facts } from '../../core/facts/facts.ts'
import { findFeature, isMeasured } from '../../core/facts/feature-catalogue.ts'
import type { CompiledPolicy } from '../../core/policy/compile/compiled-policy.ts'
import type { Evidence } from '../../underwriting/describe-evidence.ts'
import { nearOf } from '../decision-view/view-evaluation.ts'

/** A feature that can be changed in a what-if, with the verdict that each of its values would give. */
export interface Slider {
  feature: string
  label: string
  unit: string | null
  /** The value that was decided with; null if it is missing. */
  value: number | null
  from: number
  to: number
  step: number
  track: VerdictStretch[]
}

/** The amount and seven features: what fits on a screen, and what is decided along all of them within 100 ms. */
const SLIDERS_MAX = 8

/** The facts of a what-if, and as they were before its changes. */
export interface WhatIfFacts {
  facts: Facts
  unchanged: Facts
}

/**
 * The sliders of a what-if: the amount, then the features that rules nearly turned on, then those that cost most points. All
 * of that, and the range of each, is by the unchanged facts: a slider that moved or stretched would run from the pointer.
 */
export function slidersOf(
  { rule_trace, scorecard }: Pick<Evidence, 'rule_trace' | 'scorecard'>,
  policy: CompiledPolicy,
  whatIf: WhatIfFacts,
): Slider[] {
  const near = rule_trace.flatMap((rule) => (rule.holds === true ? rule.thresholds : (nearOf(rule) ?? [])))
  const lines = [...scorecard].sort((a, b) => b.shortfall - a.shortfall)
  const names = ['request.amount', ...[...near, ...lines].map(({ feature }) => feature)]
  const numeric = [...new Set(names)].filter((name) => isChangeable(name, whatIf.unchanged, policy))
  return numeric.slice(0, SLIDERS_MAX).map((feature) => sliderFor(feature, policy, whatIf))
}

/** Whether a feature is a number that follows from nothing else: the policy's own figures and measures of the request do. */
function isChangeable(name: string, { features }: Facts, { derived }: CompiledPolicy): boolean {
  const fact = features[name]
  if (isMeasured(name) || derived.some(({ feature }) => feature === name)) return false
  if (fact && 'value' in fact) return typeof fact.value === 'number'
  // The request does not raise it: access without credit is decided without bank data.
  if (fact?.missing === 'not_requested') return false
  return name !== 'request.amount' && findFeature(name)?.type === 'number'
}

function sliderFor(feature: string, policy: CompiledPolicy, { facts, unchanged }: WhatIfFacts): Slider {
  const value = numberIn(facts, feature)
  const definition = findFeature(feature)
  const unit = definition?.unit ?? null
  const { from, to, step } = rangeOf(feature, unit, numberIn(unchanged, feature) ?? 0)
  const range = { from: Math.min(from, value ?? from), to: Math.max(to, value ?? to), step }
  return {
    feature,
    label: definition?.label ?? feature,
    unit,
    value,
    ...range,
    track: verdictTrack(policy, facts, { feature, ...range }),
  }
}

function numberIn({ features }: Facts, feature: string): number | null {
  const fact = features[feature]
  return fact && 'value' in fact ? Number(fact.value) : null
}

/** The values of a slider: round numbers, with the present value well inside. */
function rangeOf(feature: string, unit: string | null, value: number): Pick<Slider, 'from' | 'to' | 'step'> {
  if (unit === 'share') return { from: 0, to: Math.max(1, value), step: 0.01 }
  if (unit === 'ratio') return { from: 0, to: ceilTo(Math.max(3, value * 2), 1), step: 0.05 }
  if (unit === 'days') return { from: 0, to: Math.max(feature.includes('overdrawn') ? 30 : 365, value), step: 1 }
  if (unit === 'money') {
    const step = moneyStep(Math.max(1_000, Math.abs(value) * 2))
    const from = feature === 'request.amount' ? step : value < 0 ? -ceilTo(-value * 2, step) : 0
    return { from, to: ceilTo(Math.max(1_000, Math.abs(value) * 2), step), step }
  }
  return { from: Math.min(0, value), to: Math.max(10, ceilTo(value * 2, 1)), step: Number.isInteger(value) ? 1 : 0.01 }
}

/** A round step of which a range has between 100 and 1,000. */
function moneyStep(range: number): number {
  let step = 1
  while (range / step > 1_000) step *= 10
  return step
}

function ceilTo(value: number, step: number): number {
  return Math.ceil(value / step) * step
}
