import type { CompiledCharacteristic, CompiledPolicy, CompiledRule } from '../policy/compiled-policy.ts'
import type { Verdict } from '../vocabularies.ts'
import type { LimitTrace, OpenCondition, Reason, SettledBy } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'
import { isReduced } from './verdict.ts'

/** What reasons and conditions are taken from. */
export interface ReasonQuestion {
  verdict: Verdict
  settledBy: SettledBy
  /** The rules that hold. */
  held: readonly CompiledRule[]
  /** What each characteristic fell short by, and why a feature is missing, by slot. */
  shortfalls: readonly number[]
  missing: SlotReading['missing']
  total: number
  limit: LimitTrace | null
}

/** The principal reasons: rules first, then the limit, then the largest shortfalls and the largest strengths. */
export function reasonsFor(policy: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const { negative_max, positive_max } = policy.document.reasons
  const toldRules = rulesToTell(question)
  const reasons: Reason[] = []
  for (const { reason } of toldRules) reasons.push(reason)
  const limit = limitReason(policy, question)
  if (limit !== undefined) reasons.push(limit)
  // What settled the verdict is always told, even if that makes more reasons than the policy likes to give.
  let certainNegatives = 0
  for (const { impact } of reasons) if (impact === 'negative') certainNegatives += 1
  addScoredReasons(reasons, policy, { question, toldRules })
  const told: Reason[] = []
  addFirstOfEachCode(told, reasons, { impact: 'negative', max: Math.max(negative_max, certainNegatives) })
  addFirstOfEachCode(told, reasons, { impact: 'positive', max: positive_max })
  return told
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

/** A decline names only what it was declined for: what an approval would have asked for had no part in it. */
function rulesToTell({ verdict, held }: ReasonQuestion): readonly CompiledRule[] {
  return verdict === 'decline' ? held.filter(({ action }) => action === 'decline') : held
}

function limitReason(
  { limitReasons }: CompiledPolicy,
  { settledBy, verdict, limit }: ReasonQuestion,
): Reason | undefined {
  if (settledBy === 'limit_unknown') return limitReasons.unknown
  const isReason = settledBy === 'no_limit_left' || (verdict === 'approve_with_conditions' && isReduced(limit))
  const binding = limit?.binding
  if (!isReason || binding == null || binding === 'requested') return undefined
  return limitReasons[binding]
}

/**
 * One reason per group of correlated characteristics, ranked by what the group lost or gained together and told in the
 * words of its largest member; equal ranks stay in the order of the policy.
 */
function addScoredReasons(
  reasons: Reason[],
  policy: CompiledPolicy,
  { question, toldRules }: { question: ReasonQuestion; toldRules: readonly CompiledRule[] },
): void {
  const { shortfalls, missing } = question
  const { groups, characteristics } = policy
  const hasWeight = shortfallsCount(policy, question)
  const first = reasons.length
  const sizes: number[] = new Array(groups.length)
  let ranked = 0
  for (let at = 0; at < groups.length; at++) {
    const members = groups[at]!
    let total = 0
    for (let index = 0; index < members.length; index++) total += shortfalls[members[index]!]!
    if (total === 0 || (total > 0 && (!hasWeight || isCovered(characteristics[members[0]!]!, toldRules)))) continue
    const sign = total > 0 ? 1 : -1
    let largest = members[0]!
    for (let index = 1; index < members.length; index++) {
      if (sign * shortfalls[members[index]!]! > sign * shortfalls[largest]!) largest = members[index]!
    }
    // Groups are few: to put each in its place beats sorting them afterwards.
    const size = total * sign
    let place = ranked++
    while (place > 0 && sizes[place - 1]! < size) {
      sizes[place] = sizes[place - 1]!
      reasons[first + place] = reasons[first + place - 1]!
      place -= 1
    }
    sizes[place] = size
    reasons[first + place] = reasonOf(characteristics[largest]!, missing, sign)
  }
}

/**
 * A refusal or a review names only what took part in it (12 CFR 1002.9): shortfalls do where the score or how sure it is
 * settled the case, or would have refused it all the same.
 */
function shortfallsCount(policy: CompiledPolicy, { verdict, settledBy, total }: ReasonQuestion): boolean {
  if (verdict === 'approve' || verdict === 'approve_with_conditions') return true
  const isByScore = settledBy === 'score' || settledBy === 'confidence' || settledBy === 'completeness'
  return isByScore || total < policy.document.verdicts.cutoff
}

/** Whether a rule already tells what the group of this characteristic would tell again. */
function isCovered({ group }: CompiledCharacteristic, toldRules: readonly CompiledRule[]): boolean {
  return toldRules.some(({ covers }) => covers === group)
}

function reasonOf(told: CompiledCharacteristic, missing: SlotReading['missing'], sign: 1 | -1): Reason {
  if (sign < 0) return told.strength
  switch (missing[told.slot]) {
    case undefined:
      return told.shortfall
    case 'consent_revoked':
    case 'consent_expired':
      return told.withheld
    case 'other_currency':
      return told.otherCurrency
    default:
      return told.missing
  }
}

function addFirstOfEachCode(
  told: Reason[],
  reasons: readonly Reason[],
  { impact, max }: { impact: Reason['impact']; max: number },
): void {
  const first = told.length
  for (let index = 0; index < reasons.length && told.length - first < max; index++) {
    const reason = reasons[index]!
    if (reason.impact === impact && !hasCode(told, first, reason.code)) told.push(reason)
  }
}

function hasCode(told: readonly Reason[], from: number, code: string): boolean {
  for (let index = from; index < told.length; index++) if (told[index]!.code === code) return true
  return false
}
