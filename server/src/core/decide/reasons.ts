import type { CompiledCharacteristic, CompiledPolicy, CompiledRule } from '../policy/compile/compiled-policy.ts'
import type { Impact, Verdict } from '../vocabularies.ts'
import type { Assessment } from './assess.ts'
import type { LimitTrace, OpenCondition, Reason } from './evaluation.ts'
import type { SlotReading } from './read-slots.ts'
import type { SettledBy } from './settling-steps.ts'
import { isReduced } from './verdict.ts'

/** What the reasons and conditions of a decision are taken from. */
export interface ReasonQuestion {
  verdict: Verdict
  settledBy: SettledBy
  /** The requested amount as it was judged, and the amount that is approved. */
  asked: Assessment
  offered: Assessment
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
  for (const { reason } of shortfalls(policy, question, rules)) reasons.push(reason)
  for (const { reason } of strengths(policy, question)) reasons.push(reason)
  const first: Reason[] = []
  addFirstOfEachCode(first, reasons, { impact: 'negative', max: negative_max })
  addFirstOfEachCode(first, reasons, { impact: 'positive', max: positive_max })
  return first
}

/** The conditions of an approval; other verdicts have none. */
export function conditionsFor(policy: CompiledPolicy, { verdict, offered, limit }: ReasonQuestion): OpenCondition[] {
  if (verdict !== 'approve_with_conditions') return []
  const conditions = offered.held.flatMap(({ id, condition }): OpenCondition[] =>
    condition ? [{ ...condition, node: `rule_trace/${id}` }] : [],
  )
  if (limit !== null && isReduced(limit)) {
    const { code, label } = policy.document.limit.reduced_amount
    const filled = label.replaceAll('{limit}', String(limit.amount)).replaceAll('{currency}', limit.currency)
    conditions.push({ code, label: filled, node: 'limit' })
  }
  return conditions
}

/**
 * A decline names only the rules that declined: conditions and reviews had no part in it. Rules that add points rank with
 * the scorecard, and rules that cap the limit with its terms.
 */
function rulesToName({ verdict, asked: { held } }: ReasonQuestion): readonly CompiledRule[] {
  if (verdict === 'decline') return held.filter(({ action }) => action === 'decline')
  return held.filter(({ action }) => action !== 'points' && action !== 'cap')
}

function limitReason(policy: CompiledPolicy, question: ReasonQuestion): Reason | undefined {
  const { limitReasons } = policy
  const { settledBy, limit } = question
  if (settledBy === 'limit_unknown') return limitReasons.get('unknown')
  if (settledBy === 'knock_out') return limitBehindRules(policy, question)
  if (settledBy !== 'no_limit_left' && settledBy !== 'counter_offer') return undefined
  return limitReasons.get(limit?.binding ?? '')
}

/** The reason of the term that made the limit what it is, if a rule declined by `limit.amount`. */
function limitBehindRules({ limitReasons, slots }: CompiledPolicy, { asked }: ReasonQuestion): Reason | undefined {
  if (!asked.held.some(({ action, readsLimit }) => action === 'decline' && readsLimit)) return undefined
  // Rules after the score may have added lower bounds since; the rule saw this one.
  const seen = asked.slots[slots.all.get('limit.amount')!]
  return limitReasons.get(asked.bounds?.terms.find(({ amount }) => amount === seen)?.term ?? '')
}

interface Ranked {
  size: number
  reason: Reason
}

/**
 * The shortfalls of the scorecard, largest first, each for itself: a group must not hide a principal factor. A shortfall
 * whose group the reason of a rule covers is left out.
 */
function shortfalls(policy: CompiledPolicy, question: ReasonQuestion, rules: readonly CompiledRule[]): Ranked[] {
  if (!tookPartByScore(policy, question)) return []
  const { lines, reading } = question.asked
  const ranked: Ranked[] = []
  for (const [index, characteristic] of policy.characteristics.entries()) {
    const size = lines[index]!.shortfall
    if (size <= 0 || rules.some(({ covers }) => covers === characteristic.group)) continue
    ranked.push({ size, reason: shortfallReason(characteristic, reading.missing) })
  }
  if (policy.hasPointsRules) for (const one of byPoints(question, 'negative')) ranked.push(one)
  if (ranked.length === 0 && question.settledBy === 'score') return furthestFromBest(policy, question)
  return ranked.sort(largestFirst)
}

/** The rules that hold and add points for or against the applicant. */
function byPoints({ asked: { held } }: ReasonQuestion, impact: Impact): Ranked[] {
  return held
    .map(({ points, reason }) => ({ size: impact === 'positive' ? points : -points, reason }))
    .filter(({ size }) => size > 0)
}

/**
 * What keeps a declined score furthest from the best, where a policy has set its cutoff above the sum of its references and
 * no characteristic falls short of one: no decline may be without a reason (12 CFR 1002.9).
 */
function furthestFromBest({ characteristics }: CompiledPolicy, { asked }: ReasonQuestion): Ranked[] {
  const ranked = characteristics.map((characteristic, index) => ({
    size: characteristic.bestPoints - asked.lines[index]!.points,
    reason: shortfallReason(characteristic, asked.reading.missing),
  }))
  return ranked.filter(({ size }) => size > 0).sort(largestFirst)
}

/**
 * The strengths of known values, largest first. A group with a shortfall has none, so that no two reasons state opposites.
 */
function strengths(policy: CompiledPolicy, question: ReasonQuestion): Ranked[] {
  const { groups, characteristics } = policy
  const { lines } = question.asked
  const ranked: Ranked[] = policy.hasPointsRules ? byPoints(question, 'positive') : []
  for (const members of groups) {
    if (members.some((index) => lines[index]!.shortfall > 0)) continue
    for (const index of members) {
      const { shortfall, value } = lines[index]!
      const size = -shortfall
      if (size > 0 && value !== null) ranked.push({ size, reason: characteristics[index]!.strength })
    }
  }
  return ranked.sort(largestFirst)
}

function largestFirst(a: Ranked, b: Ranked): number {
  return b.size - a.size
}

/**
 * Whether shortfalls took part in the verdict; a decline or a review may name only what did (12 CFR 1002.9). They took
 * part if the score, its confidence or completeness settled the verdict, or if the score would have declined as well.
 */
function tookPartByScore(policy: CompiledPolicy, { verdict, settledBy, asked }: ReasonQuestion): boolean {
  if (verdict === 'approve' || verdict === 'approve_with_conditions') return true
  const isByScore =
    settledBy === 'score' ||
    settledBy === 'confidence' ||
    settledBy === 'completeness' ||
    (settledBy === 'knock_out' && asked.held.some(({ action, readsScore }) => action === 'decline' && readsScore))
  return isByScore || (asked.figures.amount !== undefined && asked.total < policy.document.verdicts.cutoff)
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
