import type { CompiledCharacteristic, CompiledPolicy, CompiledRule } from '../policy/compiled-policy.ts'
import type { Impact, Verdict } from '../vocabularies.ts'
import type { LimitTrace, OpenCondition, Reason, ScorecardLine, SettledBy } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'
import { isReduced } from './verdict.ts'

/** What the reasons and conditions of a decision are taken from. */
export interface ReasonQuestion {
  verdict: Verdict
  settledBy: SettledBy
  /** The rules that hold. */
  held: readonly CompiledRule[]
  /** The scorecard, one line for each characteristic. */
  lines: readonly ScorecardLine[]
  missing: SlotReading['missing']
  total: number
  limit: LimitTrace | null
}

/** The principal reasons: rules first, then the limit, then the largest shortfalls and the largest strengths. */
export function reasonsFor(policy: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const { negative_max, positive_max } = policy.document.reasons
  const rules = rulesToName(question)
  const reasons: Reason[] = []
  for (const { reason } of rules) reasons.push(reason)
  const limit = limitReason(policy, question)
  if (limit) reasons.push(limit)
  // What settled the verdict is always given, even if that makes more reasons than the policy's maximum.
  let settlingNegatives = 0
  for (const { impact } of reasons) if (impact === 'negative') settlingNegatives += 1
  for (const { reason } of scoredReasons(policy, question, rules)) reasons.push(reason)
  const first: Reason[] = []
  addFirstOfEachCode(first, reasons, { impact: 'negative', max: Math.max(negative_max, settlingNegatives) })
  addFirstOfEachCode(first, reasons, { impact: 'positive', max: positive_max })
  return first
}

/** The conditions of an approval; other verdicts have none. */
export function conditionsFor(policy: CompiledPolicy, { verdict, held, limit }: ReasonQuestion): OpenCondition[] {
  if (verdict !== 'approve_with_conditions') return []
  const conditions = held.flatMap(({ id, condition }): OpenCondition[] =>
    condition ? [{ ...condition, node: `rule_trace/${id}` }] : [],
  )
  if (limit !== null && isReduced(limit)) {
    const { code, label } = policy.document.limit.reduced_amount
    const filled = label.replaceAll('{limit}', String(limit.amount)).replaceAll('{currency}', limit.currency)
    conditions.push({ code, label: filled, node: `limit/${limit.binding}` })
  }
  return conditions
}

/** A decline names only the rules that declined: conditions and reviews had no part in it. */
function rulesToName({ verdict, held }: ReasonQuestion): readonly CompiledRule[] {
  return verdict === 'decline' ? held.filter(({ action }) => action === 'decline') : held
}

function limitReason({ limitReasons }: CompiledPolicy, question: ReasonQuestion): Reason | undefined {
  const { settledBy, verdict, limit } = question
  if (settledBy === 'limit_unknown') return limitReasons.unknown
  const isReason = settledBy === 'no_limit_left' || (verdict === 'approve_with_conditions' && isReduced(limit))
  const binding = limit?.binding
  if (!isReason || binding == null || binding === 'requested') return undefined
  return limitReasons[binding]
}

/**
 * One reason for each group of correlated characteristics: that of its largest member, ranked by the group's total
 * shortfall or surplus. Groups of equal rank stay in the order of the policy.
 */
function scoredReasons(
  policy: CompiledPolicy,
  question: ReasonQuestion,
  rules: readonly CompiledRule[],
): { size: number; reason: Reason }[] {
  const { groups, characteristics } = policy
  const { lines, missing } = question
  const areShortfallsNamed = tookPartByScore(policy, question)
  const ranked: { size: number; reason: Reason }[] = []
  for (const members of groups) {
    let total = 0
    for (const index of members) total += lines[index]!.shortfall
    const isNamed = total < 0 || (areShortfallsNamed && !isCovered(characteristics[members[0]!]!, rules))
    if (total === 0 || !isNamed) continue
    const sign = total > 0 ? 1 : -1
    let largest = members[0]!
    for (const index of members) {
      if (sign * lines[index]!.shortfall > sign * lines[largest]!.shortfall) largest = index
    }
    const named = characteristics[largest]!
    ranked.push({ size: sign * total, reason: sign < 0 ? named.strength : shortfallReason(named, missing) })
  }
  return ranked.sort((a, b) => b.size - a.size)
}

/**
 * Whether shortfalls took part in the verdict; a decline or a review may name only what did (12 CFR 1002.9). They took
 * part if the score, its confidence or completeness settled the verdict, or if the score would have declined as well.
 */
function tookPartByScore(policy: CompiledPolicy, { verdict, settledBy, total }: ReasonQuestion): boolean {
  if (verdict === 'approve' || verdict === 'approve_with_conditions') return true
  const isByScore = settledBy === 'score' || settledBy === 'confidence' || settledBy === 'completeness'
  return isByScore || total < policy.document.verdicts.cutoff
}

/** Whether the reason of a rule already covers the group of this characteristic. */
function isCovered({ group }: CompiledCharacteristic, rules: readonly CompiledRule[]): boolean {
  return rules.some(({ covers }) => covers === group)
}

function shortfallReason(characteristic: CompiledCharacteristic, missing: SlotReading['missing']): Reason {
  switch (missing[characteristic.slot]) {
    case undefined:
      return characteristic.shortfall
    case 'consent_revoked':
    case 'consent_expired':
      return characteristic.withheld
    case 'other_currency':
      return characteristic.otherCurrency
    default:
      return characteristic.missing
  }
}

/** Adds up to `max` reasons of an impact, the first of each code. */
function addFirstOfEachCode(
  first: Reason[],
  reasons: readonly Reason[],
  { impact, max }: { impact: Impact; max: number },
): void {
  const end = first.length + max
  for (const reason of reasons) {
    if (first.length === end) return
    if (reason.impact === impact && !hasReason(first, reason)) first.push(reason)
  }
}

function hasReason(reasons: readonly Reason[], { code, impact }: Reason): boolean {
  for (const reason of reasons) if (reason.code === code && reason.impact === impact) return true
  return false
}
