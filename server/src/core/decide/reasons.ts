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
  const certain = ruleReasons(policy, question)
  for (const reason of limitReasons(policy, question)) certain.push(reason)
  const all = certain.slice()
  for (const reason of scoredReasons(policy, question.lines)) all.push(reason)
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
function ruleReasons(policy: CompiledPolicy, { verdict, rules }: ReasonQuestion): Reason[] {
  const reasons: Reason[] = []
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index]!
    if (rule.holds === true && (verdict !== 'decline' || rule.action === 'decline'))
      reasons.push(policy.rules[index]!.reason)
  }
  return reasons
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
  const ranked: Reason[] = []
  const sizes: number[] = []
  for (const members of policy.groups) {
    let total = 0
    for (const index of members) total += lines[index]!.shortfall
    if (total === 0) continue
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

function reasonOf(policy: CompiledPolicy, line: ScorecardLine, index: number): Reason {
  const { shortfall, strength, missing } = policy.characteristics[index]!
  if (line.shortfall < 0) return strength
  return line.bin === MISSING_BIN ? missing : shortfall
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
