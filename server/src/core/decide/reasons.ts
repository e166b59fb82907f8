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
  // What settled the verdict is always given, even if that makes more reasons than the policy's maximum.
  const settling = [...rules.map(({ reason }) => reason), ...limitReasons(policy, question)]
  const settlingNegatives = settling.filter(({ impact }) => impact === 'negative').length
  const reasons = [...settling, ...scoredReasons(policy, question, rules)]
  return [
    ...firstOfEachCode(reasons, { impact: 'negative', max: Math.max(negative_max, settlingNegatives) }),
    ...firstOfEachCode(reasons, { impact: 'positive', max: positive_max }),
  ]
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

function limitReasons({ limitReasons: reasons }: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const { settledBy, verdict, limit } = question
  if (settledBy === 'limit_unknown') return [reasons.unknown]
  const isReason = settledBy === 'no_limit_left' || (verdict === 'approve_with_conditions' && isReduced(limit))
  const binding = limit?.binding
  if (!isReason || binding == null || binding === 'requested') return []
  return [reasons[binding]]
}

/**
 * One reason for each group of correlated characteristics: that of its largest member, ranked by the group's total
 * shortfall or surplus. Groups of equal rank stay in the order of the policy.
 */
function scoredReasons(policy: CompiledPolicy, question: ReasonQuestion, rules: readonly CompiledRule[]): Reason[] {
  const { groups, characteristics } = policy
  const { lines, missing } = question
  const areShortfallsNamed = tookPartByScore(policy, question)
  const ranked: { size: number; reason: Reason }[] = []
  for (const members of groups) {
    const total = members.reduce((sum, index) => sum + lines[index]!.shortfall, 0)
    const isNamed = total < 0 || (areShortfallsNamed && !isCovered(characteristics[members[0]!]!, rules))
    if (total === 0 || !isNamed) continue
    const sign = Math.sign(total)
    const largest = members.reduce((one, other) =>
      sign * lines[other]!.shortfall > sign * lines[one]!.shortfall ? other : one,
    )
    const named = characteristics[largest]!
    ranked.push({ size: Math.abs(total), reason: total < 0 ? named.strength : shortfallReason(named, missing) })
  }
  return ranked.sort((a, b) => b.size - a.size).map(({ reason }) => reason)
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

function firstOfEachCode(reasons: readonly Reason[], { impact, max }: { impact: Impact; max: number }): Reason[] {
  const first: Reason[] = []
  for (const reason of reasons) {
    if (first.length === max) break
    if (reason.impact === impact && !first.some(({ code }) => code === reason.code)) first.push(reason)
  }
  return first
}
