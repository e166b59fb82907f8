import type {
  CompiledCharacteristic,
  CompiledPolicy,
  CompiledRule,
  RankedReason,
  ScoredBin,
} from '../policy/compile/compiled-policy.ts'
import type { Verdict } from '../vocabularies.ts'
import type { AssessedAmount, Assessment } from './assess.ts'
import type { LimitTrace, OpenCondition, Reason } from './evaluation.ts'
import type { SettledBy } from './settling-steps.ts'
import { isReduced } from './verdict.ts'

/** What the reasons and conditions of a decision are taken from. */
export interface ReasonQuestion {
  verdict: Verdict
  settledBy: SettledBy
  /** The requested amount as it was judged, and the amount that is approved. */
  asked: Assessment
  offered: AssessedAmount
  limit: LimitTrace | null
}

/**
 * The principal reasons: a currency that is not offered, which no other fact can change, then rules, then the limit, then
 * the largest shortfalls and the largest strengths.
 */
export function reasonsFor(policy: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const { negative_max, positive_max } = policy.document.reasons
  const chosen: Chosen = { negative: [], negativeMax: negative_max, positive: [], positiveMax: positive_max }
  const currency = currencyReason(policy, question)
  if (currency) choose(chosen, currency)
  for (const rule of question.asked.held) if (isNamed(rule, question)) choose(chosen, rule.reason)
  const limit = limitReason(policy, question)
  if (limit) choose(chosen, limit)
  if (tookPartByScore(policy, question)) for (const { reason } of shortfalls(policy, question)) choose(chosen, reason)
  for (const { reason } of strengths(policy, question)) choose(chosen, reason)
  const { negative, positive } = chosen
  for (const reason of positive) negative.push(reason)
  if (negative.length === 0 && question.verdict === 'approve') negative.push(...policy.nothingAgainst)
  return negative
}

/** The reasons that a decision gives, by impact. */
interface Chosen {
  negative: Reason[]
  negativeMax: number
  positive: Reason[]
  positiveMax: number
}

/** Chooses a reason, unless there is one of its code or there are enough of its impact. */
function choose({ negative, negativeMax, positive, positiveMax }: Chosen, reason: Reason): void {
  const isNegative = reason.impact === 'negative'
  const chosen = isNegative ? negative : positive
  if (chosen.length === (isNegative ? negativeMax : positiveMax)) return
  for (const { code } of chosen) if (code === reason.code) return
  chosen.push(reason)
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
 * the scorecard, and rules that cap the limit with its terms. A row of a table that does nothing has no reason.
 */
function isNamed({ action }: CompiledRule, { verdict }: ReasonQuestion): boolean {
  if (action === 'none') return false
  return verdict === 'decline' ? action === 'decline' : action !== 'points' && action !== 'cap'
}

function limitReason(policy: CompiledPolicy, question: ReasonQuestion): Reason | undefined {
  const { limitReasons } = policy
  const { settledBy, limit } = question
  if (settledBy === 'limit_unknown') return currencyReason(policy, question) ?? limitReasons.get('unknown')
  if (settledBy === 'knock_out') return limitBehindRules(policy, question)
  if (settledBy !== 'no_limit_left' && settledBy !== 'counter_offer') return undefined
  return limitReasons.get(limit?.binding ?? '')
}

/** The reason of a review in a currency that the policy does not lend in; a decline has reasons of its own. */
function currencyReason({ limitReasons }: CompiledPolicy, { verdict, asked }: ReasonQuestion): Reason | undefined {
  if (verdict !== 'manual_review' || asked.bounds === null || asked.bounds.step !== null) return undefined
  return limitReasons.get('unlisted_currency')
}

/** The reason of the term that made the limit what it is, if a rule declined by `limit.amount`. */
function limitBehindRules({ limitReasons, slots }: CompiledPolicy, { asked }: ReasonQuestion): Reason | undefined {
  if (!asked.held.some(({ action, readsLimit }) => action === 'decline' && readsLimit)) return undefined
  // Rules after the score may have added lower bounds since; the rule saw this one.
  const seen = asked.reading.values[slots.variables['limit.amount']]
  return limitReasons.get(asked.bounds?.terms.find(({ amount }) => amount === seen)?.term ?? '')
}

/**
 * The shortfalls of the scorecard, largest first, each for itself: a group must not hide a principal factor. A shortfall
 * whose group the reason of a rule covers is left out.
 */
function shortfalls({ characteristics }: CompiledPolicy, question: ReasonQuestion): readonly RankedReason[] {
  const { bins, held } = question.asked
  const ranked: RankedReason[] = []
  for (let index = 0; index < characteristics.length; index++) {
    const { lack } = bins[index]!
    if (lack.size > 0 && !isCovered(characteristics[index]!, question)) rank(ranked, lack)
  }
  for (const { points, rankedReason } of held) if (points < 0) rank(ranked, rankedReason)
  return ranked.length === 0 && question.settledBy === 'score' ? furthestFromBest(characteristics, bins) : ranked
}

/** Whether the reason of a rule covers the group of a characteristic. */
function isCovered({ group }: CompiledCharacteristic, question: ReasonQuestion): boolean {
  for (const rule of question.asked.held) if (rule.covers === group && isNamed(rule, question)) return true
  return false
}

/**
 * What keeps a declined score furthest from the best, where a policy has set its cutoff above the sum of its references and
 * no characteristic falls short of one: no decline may be without a reason (12 CFR 1002.9).
 */
function furthestFromBest(
  characteristics: readonly CompiledCharacteristic[],
  bins: readonly ScoredBin[],
): readonly RankedReason[] {
  const ranked: RankedReason[] = []
  for (const [index, { bestPoints }] of characteristics.entries()) {
    const { points, lack } = bins[index]!
    if (bestPoints > points) rank(ranked, { size: bestPoints - points, reason: lack.reason })
  }
  return ranked
}

/**
 * The strengths of known values, largest first. A group with a shortfall has none, so that no two reasons state opposites.
 */
function strengths({ groups }: CompiledPolicy, { asked }: ReasonQuestion): readonly RankedReason[] {
  const { bins, held } = asked
  const ranked: RankedReason[] = []
  for (const { points, rankedReason } of held) if (points > 0) rank(ranked, rankedReason)
  for (const members of groups) {
    if (fallShort(members, bins)) continue
    for (const index of members) {
      const { strength } = bins[index]!
      if (strength !== undefined && strength.size > 0) rank(ranked, strength)
    }
  }
  return ranked
}

function fallShort(members: readonly number[], bins: readonly ScoredBin[]): boolean {
  for (const index of members) if (bins[index]!.shortfall > 0) return true
  return false
}

/** Inserts a reason after all that are as large. */
function rank(ranked: RankedReason[], one: RankedReason): void {
  let place = ranked.length
  for (; place > 0 && ranked[place - 1]!.size < one.size; place--) ranked[place] = ranked[place - 1]!
  ranked[place] = one
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
