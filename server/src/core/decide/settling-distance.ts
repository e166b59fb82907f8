import type { DecidingThreshold } from '../policy/deciding-thresholds.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'
import type { Evaluation } from './evaluation.ts'
import type { ExplainedRule } from './explain-decision.ts'
import { type SettledBy, wordsOf } from './settling-steps.ts'

/** What a distance is measured in: an evaluation, its rules with their thresholds, and the thresholds of its segment. */
export interface Measured {
  evaluation: Evaluation
  rules: readonly ExplainedRule[]
  verdicts: PolicyDocument['verdicts']
}

/** What settled a verdict, and how far the request is from being settled otherwise. */
export function settledLine(measured: Measured): string {
  const { settled_by } = measured.evaluation.trace
  const distance = DISTANCES[settled_by](measured)
  return `settled by ${settled_by}, because ${wordsOf(settled_by)}${distance === '' ? '' : `: ${distance}`}`
}

const DISTANCES: Readonly<Record<SettledBy, (measured: Measured) => string>> = {
  knock_out: (measured) => heldRules(measured, 'decline'),
  data_questioned: (measured) => heldRules(measured, 'manual_review'),
  score: scoreDistance,
  completeness: ({ evaluation: { trace }, verdicts }) =>
    `${percent(trace.completeness.ppm)} of ${percent(verdicts.completeness_min_ppm)} is known, without ${trace.completeness.missing.join(', ')}`,
  review_rule: (measured) => heldRules(measured, 'manual_review'),
  confidence: (measured) => {
    const { evaluation, verdicts } = measured
    const ppm = evaluation.trace.confidence?.ppm ?? 0
    return `${scoreDistance(measured)}, with a confidence of ${percent(ppm)} where ${percent(verdicts.confidence_min_ppm)} is asked for`
  },
  limit_unknown: ({ evaluation: { trace } }) => `without ${trace.limit?.missing.join(', ')}`,
  no_limit_left: limitDistance,
  counter_offer: limitDistance,
  conditions: (measured) => heldRules(measured, 'condition'),
  nothing_against: scoreDistance,
}

function scoreDistance({ evaluation: { trace } }: Measured): string {
  if (trace.confidence === null) return ''
  const { total, cutoff } = trace.score
  return `the score of ${total} is ${distanceWords(total - cutoff)} the cutoff of ${cutoff}`
}

function distanceWords(distance: number): string {
  return distance === 0 ? 'at' : `${Math.abs(distance)} ${distance > 0 ? 'above' : 'below'}`
}

function heldRules({ rules }: Measured, action: ExplainedRule['action']): string {
  const held = rules.filter((rule) => rule.holds === true && rule.action === action)
  return held.map((rule) => ruleDistance(rule)).join('; ')
}

/** A rule, whether it holds, and how far the nearest number is that would turn it. */
export function ruleDistance({ rule, row, holds, missing, thresholds, when }: ExplainedRule): string {
  const name = row === undefined ? `rule ${rule}` : `row ${rule}/${row}`
  if (holds === null) return `${name} lacks ${missing?.join(', ')}`
  const [nearest] = thresholds.toSorted((a, b) => closeness(a) - closeness(b))
  const state = holds ? 'holds' : 'does not hold'
  if (nearest === undefined) return `${name} ${state} (${when})`
  const { feature, operator, threshold, value, distance } = nearest
  return `${name} ${state} by ${distance}: ${feature} is ${value}, against ${operator} ${threshold}`
}

/** How near a value is to a threshold, as a share of the threshold if it has a size. */
function closeness({ distance, threshold }: DecidingThreshold): number {
  return distance / (Math.abs(threshold) || 1)
}

function limitDistance({ evaluation: { trace } }: Measured): string {
  const { limit } = trace
  if (!limit) return ''
  const { amount, binding, currency, terms } = limit
  const bound = terms.find(({ term }) => term === binding)
  const requested = terms.find(({ term }) => term === 'requested')
  const asked = requested === undefined ? '' : ` of ${requested.amount} asked for`
  const why = bound === undefined ? `${binding} binds` : `${binding} allows ${bound.amount}`
  return `${amount ?? 'unknown'} ${currency}${asked}, ${why}`
}

function percent(ppm: number): string {
  return `${Math.round(ppm / 100) / 100} %`
}
