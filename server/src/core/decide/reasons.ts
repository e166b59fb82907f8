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
import { MISSING_BIN } from './score.ts'
import { isReduced } from './verdict.ts'

/** What reasons and conditions are taken from. */
export interface ReasonQuestion {
  verdict: Verdict
  settledBy: SettledBy
  rules: readonly RuleTrace[]
  lines: readonly ScorecardLine[]
  limit: LimitTrace | null
}

/** The principal reasons: rules first, then the limit, then the largest shortfalls and the largest strengths. */
export function reasonsFor(policy: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const { negative_max, positive_max } = policy.document.reasons
  const certain = [...ruleReasons(policy, question), ...limitReasons(policy, question)]
  const all = [...certain, ...scoredReasons(policy, question.lines)]
  // What settled the verdict is always told, even if that makes more reasons than the policy likes to give.
  const certainNegatives = certain.filter(({ impact }) => impact === 'negative').length
  return [
    ...firstOfEachCode(all, 'negative', Math.max(negative_max, certainNegatives)),
    ...firstOfEachCode(all, 'positive', positive_max),
  ]
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
function ruleReasons(policy: CompiledPolicy, { verdict, rules }: ReasonQuestion): Reason[] {
  return rules.flatMap((rule, index) => {
    const isPartOfIt = rule.holds === true && (verdict !== 'decline' || rule.action === 'decline')
    return isPartOfIt ? [policy.rules[index]!.reason] : []
  })
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
function scoredReasons(policy: CompiledPolicy, lines: readonly ScorecardLine[]): Reason[] {
  const ranked: { size: number; reason: Reason }[] = []
  for (const members of policy.groups) {
    let total = 0
    for (const index of members) total += lines[index]!.shortfall
    if (total === 0) continue
    const sign = total > 0 ? 1 : -1
    let largest = members[0]!
    for (const index of members) {
      if (sign * lines[index]!.shortfall > sign * lines[largest]!.shortfall) largest = index
    }
    ranked.push({ size: total * sign, reason: reasonOf(policy, lines[largest]!, largest) })
  }
  return ranked.sort((a, b) => b.size - a.size).map(({ reason }) => reason)
}

function reasonOf(policy: CompiledPolicy, line: ScorecardLine, index: number): Reason {
  const { shortfall, strength, missing } = policy.characteristics[index]!
  if (line.shortfall < 0) return strength
  return line.bin === MISSING_BIN ? missing : shortfall
}

function firstOfEachCode(reasons: readonly Reason[], impact: Reason['impact'], max: number): Reason[] {
  const chosen: Reason[] = []
  for (const reason of reasons) {
    if (chosen.length === max) break
    if (reason.impact === impact && !chosen.some(({ code }) => code === reason.code)) chosen.push(reason)
  }
  return chosen
}
