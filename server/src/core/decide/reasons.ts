import type { CompiledPolicy } from '../policy/compiled-policy.ts'
import type {
  LimitTrace,
  OpenCondition,
  Reason,
  RuleTrace,
  ScorecardLine,
  SettledBy,
  Verdict,
} from './decision-outcome.ts'
import { MISSING_BIN, type ScoredCard } from './score.ts'
import { isReduced } from './verdict.ts'

/** What reasons and conditions are taken from. */
export interface ReasonQuestion {
  verdict: Verdict
  settledBy: SettledBy
  rules: readonly RuleTrace[]
  card: ScoredCard
  limit: LimitTrace | null
}

/** The principal reasons: rules first, then the limit, then the largest shortfalls and the largest strengths. */
export function reasonsFor(policy: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const { negative_max, positive_max } = policy.document.reasons
  const certain = ruleReasons(policy, question)
  for (const reason of limitReasons(policy, question)) certain.push(reason)
  const all = certain.slice()
  for (const reason of scoredReasons(policy, question)) all.push(reason)
  // What settled the verdict is always told, even if that makes more reasons than the policy likes to give.
  let certainNegatives = 0
  for (const { impact } of certain) if (impact === 'negative') certainNegatives += 1
  const told = firstOfEachCode(all, 'negative', Math.max(negative_max, certainNegatives))
  for (const reason of firstOfEachCode(all, 'positive', positive_max)) told.push(reason)
  return told
}

/** The conditions of an approval; other verdicts have none. */
export function conditionsFor(policy: CompiledPolicy, { verdict, rules, limit }: ReasonQuestion): OpenCondition[] {
  if (verdict !== 'approve_with_conditions') return []
  const conditions = rules.flatMap((rule, index): OpenCondition[] => {
    const { condition } = policy.rules[index]!.definition
    return rule.holds === true && condition ? [{ ...condition, node: `rule_trace/${rule.rule}` }] : []
  })
  if (limit !== null && isReduced(limit)) {
    const { code, label } = policy.document.limit.reduced_amount
    const filled = label.replaceAll('{limit}', String(limit.amount)).replaceAll('{currency}', limit.currency)
    conditions.push({ code, label: filled, node: `limit/${limit.binding}` })
  }
  return conditions
}

/** A decline names only what it was declined for: what an approval would have asked for had no part in it. */
function ruleReasons(policy: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const reasons: Reason[] = []
  for (let index = 0; index < question.rules.length; index++) {
    if (isTold(question, index)) reasons.push(policy.rules[index]!.reason)
  }
  return reasons
}

function isTold({ verdict, rules }: ReasonQuestion, index: number): boolean {
  const { holds, action } = rules[index]!
  return holds === true && (verdict !== 'decline' || action === 'decline')
}

function limitReasons(policy: CompiledPolicy, { settledBy, verdict, limit }: ReasonQuestion): Reason[] {
  const { reasons } = policy.document.limit
  if (settledBy === 'limit_unknown') return [{ ...reasons.unknown, impact: 'negative', node: 'limit' }]
  const isReason = settledBy === 'no_limit_left' || (verdict === 'approve_with_conditions' && isReduced(limit))
  const binding = limit?.binding
  if (!isReason || binding == null || binding === 'requested') return []
  return [{ ...reasons[binding], impact: 'negative', node: `limit/${binding}` }]
}

/**
 * One reason per group of correlated characteristics, ranked by what the group lost or gained together and told in the
 * words of its largest member; equal ranks stay in the order of the policy.
 */
function scoredReasons(policy: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const { lines } = question.card
  const hasWeight = shortfallsCount(policy, question)
  const ranked: Reason[] = []
  const sizes: number[] = []
  for (const members of policy.groups) {
    let total = 0
    for (const index of members) total += lines[index]!.shortfall
    if (total === 0 || (total > 0 && (!hasWeight || isCovered(policy, question, members[0]!)))) continue
    const sign = total > 0 ? 1 : -1
    let largest = members[0]!
    for (const index of members) {
      if (sign * lines[index]!.shortfall > sign * lines[largest]!.shortfall) largest = index
    }
    // Groups are few: to put each in its place beats sorting them afterwards.
    const size = total * sign
    let place = sizes.length
    while (place > 0 && sizes[place - 1]! < size) {
      sizes[place] = sizes[place - 1]!
      ranked[place] = ranked[place - 1]!
      place -= 1
    }
    sizes[place] = size
    ranked[place] = reasonOf(policy, lines[largest]!, largest)
  }
  return ranked
}

/**
 * A refusal or a review names only what took part in it (12 CFR 1002.9): shortfalls do where the score or how sure it is
 * settled the case, or would have refused it all the same.
 */
function shortfallsCount(policy: CompiledPolicy, { verdict, settledBy, card }: ReasonQuestion): boolean {
  if (verdict === 'approve' || verdict === 'approve_with_conditions') return true
  return SETTLED_BY_SCORE.includes(settledBy) || card.total < policy.document.verdicts.cutoff
}

const SETTLED_BY_SCORE: readonly SettledBy[] = ['score', 'confidence', 'completeness']

/** Whether a rule already tells what the group of this characteristic would tell again. */
function isCovered(policy: CompiledPolicy, question: ReasonQuestion, index: number): boolean {
  const { group } = policy.characteristics[index]!.definition
  for (let rule = 0; rule < question.rules.length; rule++) {
    if (policy.rules[rule]!.definition.covers === group && isTold(question, rule)) return true
  }
  return false
}

function reasonOf(policy: CompiledPolicy, line: ScorecardLine, index: number): Reason {
  const { shortfall, strength, missing, withheld, otherCurrency } = policy.characteristics[index]!
  if (line.shortfall < 0) return strength
  if (line.bin !== MISSING_BIN) return shortfall
  if (line.missing === 'consent_revoked' || line.missing === 'consent_expired') return withheld
  return line.missing === 'other_currency' ? otherCurrency : missing
}

function hasCode(reasons: readonly Reason[], code: string): boolean {
  for (const reason of reasons) if (reason.code === code) return true
  return false
}

function firstOfEachCode(reasons: readonly Reason[], impact: Reason['impact'], max: number): Reason[] {
  const chosen: Reason[] = []
  for (const reason of reasons) {
    if (chosen.length === max) break
    if (reason.impact === impact && !hasCode(chosen, reason.code)) chosen.push(reason)
  }
  return chosen
}
