/** A decision in words, as lines for a terminal. */
import type { ExplainedLine, ExplainedRule } from '../core/decide/explain-decision.ts'
import type { AmountFigures } from '../core/decide/offer-figures.ts'
import { wordsOf } from '../core/decide/settling-steps.ts'
import { MISSING_BECAUSE } from '../core/facts/facts.ts'
import { requestedIn } from '../core/facts/read-fact.ts'
import { type DecidingThreshold, nearestThreshold } from '../core/policy/deciding-thresholds.ts'
import type { Evidence } from '../underwriting/describe-evidence.ts'
import { percent } from './percent.ts'

type Json = Record<string, unknown>

/** What was recorded about a decision since it was made. */
export interface RecordedSince {
  reviews: Json[]
  outcomes: Json[]
}

interface Shown extends RecordedSince {
  decision: Json
  entity_id: string
  product: string
}

interface Explained extends Shown {
  matches: boolean
  differences: { path: string; recorded: unknown; replayed: unknown }[]
  evidence: Evidence
}

/** The lines of `decisions show`. */
export function showLines({ decision, entity_id, product, reviews, outcomes }: Shown): string[] {
  const { id, verdict, reference, recommended_limit, repayment_probability, risk_tier, confidence } = decision
  return [
    `${id}  ${verdict}`,
    `  entity                 ${entity_id}`,
    `  product                ${product}`,
    ...(reference === undefined ? [] : [`  reference              ${reference}`]),
    ...(recommended_limit === undefined ? [] : [`  recommended limit      ${recommended_limit}`]),
    ...(repayment_probability === undefined ? [] : [`  repayment probability  ${repayment_probability}`]),
    `  risk tier              ${risk_tier}`,
    ...(confidence === undefined ? [] : [`  confidence             ${confidence}`]),
    `  policy                 ${decision.policy_version} (${decision.policy_checksum})`,
    `  decided                ${decision.created_at}, by request ${decision.request_id}`,
    ...outcomeOfDecision(decision),
    ...sinceLines({ reviews, outcomes }),
  ]
}

/** The lines of `decisions explain`. */
export function explainLines(explained: Explained): string[] {
  const { decision, entity_id, evidence, matches, differences } = explained
  return [
    `${decision.id} about ${entity_id}, decided ${decision.created_at} under ${decision.policy_version}`,
    ...(evidence.merged ? [`Read as one: ${evidence.merged.join(', ')}.`] : []),
    ...verdictLines(decision, evidence),
    ...scoreLines(evidence),
    ...derivedLines(evidence),
    ...ruleLines(evidence),
    ...limitLines(evidence),
    ...offerLines(evidence),
    ...outcomeOfDecision(decision),
    ...missingLines(evidence),
    ...graphLines(evidence),
    ...sinceLines(explained),
    '',
    ...(matches
      ? ['Replay: the same facts under the same policy give the same decision, byte for byte.']
      : ['Replay: DIFFERENT from what was recorded, at', ...differences.map(({ path }) => `  ${path}`)]),
  ]
}

function verdictLines(decision: Json, evidence: Evidence): string[] {
  const { settled_by, product, segment, feature_snapshot } = evidence
  const asked = requestedIn(feature_snapshot)
  return [
    `Verdict: ${decision.verdict}${settled_by ? `, settled by ${settled_by}: ${wordsOf(settled_by)}.` : '.'}`,
    asked ? `Asked for: ${asked.amount} ${asked.currency}.` : 'Asked for: access, without an amount.',
    ...(decision.reference === undefined ? [] : [`Reference: ${decision.reference}.`]),
    ...(product ? [`Product: ${product.requested ?? 'none'}${termsText(product)}.`] : []),
    ...(segment === null ? [] : [`Segment: ${segment}.`]),
  ]
}

function termsText(product: NonNullable<Evidence['product']>): string {
  const unlisted = product.is_fallback ? ', which the policy does not list' : ''
  if (product.term_months === null) return unlisted
  const applied = product.is_fallback ? `${unlisted}; the terms of ${product.applied} were used` : ''
  return `${applied}: ${product.term_months} monthly instalments at ${percent(product.annual_rate, 2)} a year${feeText(product)}`
}

function feeText({ fee_rate, fee_amount }: { fee_rate: number; fee_amount: number }): string {
  const fees = [...(fee_rate > 0 ? [percent(fee_rate, 2)] : []), ...(fee_amount > 0 ? [String(fee_amount)] : [])]
  return fees.length === 0 ? '' : `, with a fee of ${fees.join(' and ')}`
}

function scoreLines({ score, confidence, completeness, scorecard }: Evidence): string[] {
  if (!score || !completeness) return []
  const { base, total, cutoff, bad_ppm, rule_points = 0, probability_source } = score
  const source = probability_source ? ` (${probability_source === 'table' ? 'by the table' : 'external'})` : ''
  const byRules = rule_points === 0 ? '' : `, ${signed(rule_points)} of them by rules`
  const complete = `completeness ${percent(completeness.ppm / 1e6, 2)}`
  const sum = `Score: ${total} = base ${base} + ${total - base} points${byRules}`
  if (!confidence)
    return ['', `${sum}; of access it settles the tier alone.`, ...scorecard.map(lineOfCard), `  ${complete}`]
  return [
    '',
    `${sum}; the cutoff is ${cutoff} (${signed(total - cutoff)}).`,
    ...scorecard.map(lineOfCard),
    `  bad outcome ${bad_ppm === null ? 'not known' : percent(bad_ppm / 1e6, 2)}${source}, confidence ${percent(confidence.ppm / 1e6, 2)}, ${complete}`,
  ]
}

function lineOfCard({ points, label, feature, value, missing, bin, reference }: ExplainedLine): string {
  const lacking = missing ? `is missing (${missing})` : 'is not asked for'
  const seen = value === null ? `${feature} ${lacking}` : `${feature} = ${value}`
  return `  ${signed(points).padStart(5)}  ${label}: ${seen}, ${bin}; reference ${reference}`
}

function derivedLines({ derived }: Evidence): string[] {
  const lines = derived.map(({ feature, value, missing }) =>
    value === null ? `  ${feature} is missing (${missing})` : `  ${feature} = ${value}`,
  )
  return section('Computed by the policy', lines)
}

function ruleLines({ rule_trace }: Evidence): string[] {
  const held = rule_trace.filter(({ holds }) => holds === true)
  const open = rule_trace.filter(({ holds }) => holds === null)
  const near = rule_trace.filter((rule) => rule.holds === false && nearestThreshold(rule.thresholds) !== undefined)
  return [
    ...section('Rules that hold', held.flatMap(lineOfHeld)),
    ...section(
      'Rules that nearly hold',
      near.map((rule) => `  ${rule.rule} (${rule.action}): ${thresholdText(nearestThreshold(rule.thresholds)!)}`),
    ),
    ...section(
      'Rules left open, because a value is missing',
      open.map(({ rule, action, missing = [] }) => `  ${rule} (${action}): needs ${missing.join(', ')}`),
    ),
  ]
}

function lineOfHeld({ rule, row, action, label, values, thresholds }: ExplainedRule): string[] {
  const seen = values.map(({ feature, value, missing }) =>
    value === null ? `${feature} is missing (${missing})` : `${feature} = ${value}`,
  )
  return [
    `  ${rule}${row === undefined ? '' : `, row ${row}`} (${action}): ${label}`,
    `    ${seen.join(', ')}`,
    ...thresholds.map((threshold) => `    ${thresholdText(threshold)}`),
  ]
}

function thresholdText({ feature, operator, value, threshold, distance }: DecidingThreshold): string {
  return `${feature} ${operator} ${threshold} decides it; ${value} is ${distance} away`
}

/** Without a rate for it, a currency is named as missing among the features that a limit needs. */
function lackingLines(missing: readonly string[], currency: string): string[] {
  const features = missing.filter((feature) => feature !== 'request.currency')
  return [
    ...(features.length < missing.length ? [`  the policy does not lend in ${currency}`] : []),
    ...(features.length > 0 ? [`  without a value for ${features.join(', ')}`] : []),
  ]
}

function limitLines({ limit, better_amount }: Evidence): string[] {
  if (!limit) return []
  const { amount, binding, currency, missing, terms } = limit
  const known = amount === null ? 'not known' : `${amount} ${currency}`
  return [
    '',
    `Limit: ${known}${binding ? `; ${binding} keeps it from being higher` : ''}.`,
    ...terms.map((bound) => `  ${bound.term === binding ? '→' : ' '} ${bound.term}: ${bound.amount}`),
    ...lackingLines(missing, currency),
    better_amount
      ? `A better verdict: ${better_amount.amount} ${better_amount.currency} would be ${better_amount.verdict} (${better_amount.settled_by}).`
      : 'No smaller amount has a better verdict.',
  ]
}

/** The figures of a counter-offer beside those of the request. */
function offerLines({ counter_offer }: Evidence): string[] {
  if (!counter_offer) return []
  const { asked, offered, currency } = counter_offer
  const row = (name: string, of: (figures: AmountFigures) => string | number) =>
    `  ${name.padEnd(22)} ${String(of(asked)).padStart(12)} ${String(of(offered)).padStart(12)}`
  const lines = asked.scorecard.map(({ label }, index) =>
    row(label, ({ scorecard }) => `${scorecard[index]!.value ?? 'missing'} (${signed(scorecard[index]!.points)})`),
  )
  return section('Asked for and offered', [
    row(`amount in ${currency}`, ({ amount }) => amount),
    row('monthly instalment', ({ instalment }) => instalment),
    row('annual rate', ({ annual_rate }) => percent(annual_rate, 2)),
    row('score', ({ score }) => score),
    row('tier', ({ tier }) => tier),
    row('bad outcome', ({ bad_ppm }) => (bad_ppm === null ? 'not known' : percent(bad_ppm / 1e6, 2))),
    row('confidence', ({ confidence }) => percent(confidence.ppm / 1e6, 2)),
    ...lines,
  ])
}

function outcomeOfDecision({ reason_codes, conditions }: Json): string[] {
  const reasons = listOf(reason_codes).map(
    ({ impact, label, code }) => `  ${impact === 'positive' ? '+' : '−'} ${label} (${code})`,
  )
  return [
    ...section('Reasons', reasons),
    ...section(
      'Conditions',
      listOf(conditions).map(({ label, code }) => `  ${label} (${code})`),
    ),
  ]
}

function missingLines({ missing_features }: Evidence): string[] {
  return section(
    'Missing',
    missing_features.map(({ feature, missing }) => `  ${feature}: ${MISSING_BECAUSE[missing]}`),
  )
}

function graphLines({ graph }: Evidence): string[] {
  return section(
    'Links to bad outcomes',
    listOf(graph?.paths).map(({ entity_id, edges, share }) => `  ${entity_id} over ${edges}: share ${share}`),
  )
}

function sinceLines({ reviews, outcomes }: RecordedSince): string[] {
  return [
    ...section(
      'Reviews since',
      reviews.flatMap((review) => {
        const { id, name } = (review.reviewer ?? {}) as Json
        const person = name === undefined ? id : `${name} (${id})`
        const by = review.api_key === null ? person : `${person} through API key ${review.api_key}`
        const granted =
          review.recommended_limit === undefined ? '' : `, ${review.recommended_limit} ${review.currency} granted`
        return [
          `  ${review.created_at}  ${review.verdict} by ${by}${granted}${review.overrides ? ', overrides the verdict' : ''}: ${review.reason}`,
          ...listOf(review.conditions).map(({ label, code }) => `    on the condition: ${label} (${code})`),
        ]
      }),
    ),
    ...section(
      'Outcomes since',
      outcomes.map(({ occurred_at, type, amount, currency, days_past_due, override, note }) => {
        const details = [
          ...(amount === undefined ? [] : [`${amount} ${currency}`]),
          ...(days_past_due === undefined ? [] : [`${days_past_due} days past due`]),
          ...(override === true ? [`although it does not fit the decision: ${note}`] : []),
        ]
        return `  ${occurred_at}  ${type}${details.length > 0 ? `: ${details.join(', ')}` : ''}`
      }),
    ),
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines]
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value : []
}

function signed(points: number): string {
  return points < 0 ? `−${-points}` : `+${points}`
}
