import type { MissingBecause } from '../facts/facts.ts'
import type {
  CompiledCharacteristic,
  CompiledPolicy,
  CompiledRule,
  RankedReason,
  ReasonsWithoutValue,
  ScoredBin,
} from '../policy/compile/compiled-policy.ts'
import type { Verdict } from '../vocabularies.ts'
import type { AssessedAmount, Assessment } from './assess.ts'
import type { LimitTrace, OpenCondition, Reason } from './evaluation.ts'
import { meaningValues } from './meaning-values.ts'
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
 * what is not known where that settled the verdict, then the largest shortfalls and the largest strengths.
 *
 * INVARIANT: no decision is without a reason, and a decline or a review not without a negative one.
 */
export function reasonsFor(policy: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const { asked, verdict } = question
  if (policy.meanings.size > 0) meaningValues(policy, asked)
  const negative = negativeReasons(policy, question)
  const positive: Reason[] = []
  const isOpposed = (reason: Reason) => negative.some(({ code }) => shareGroup(policy, code, reason.code))
  const give = (reason: Reason) => {
    if (reason.impact === 'negative' || isOpposed(reason) || !isTrue(policy, reason, question)) return
    choose(positive, policy.document.reasons.positive_max, reason)
  }
  for (const rule of asked.held) if (isNamed(rule, question)) give(rule.reason)
  for (const { reason } of strengths(policy, question)) give(reason)
  if (negative.length === 0 && positive.length === 0)
    positive.push(verdict === 'approve' ? policy.nothingAgainst : fewStrengths(policy, question))
  for (const reason of positive) negative.push(reason)
  return negative
}

function negativeReasons(policy: CompiledPolicy, question: ReasonQuestion): Reason[] {
  const chosen: Reason[] = []
  const give = (reason: Reason | undefined) => {
    if (reason === undefined || reason.impact === 'positive') return
    choose(chosen, policy.document.reasons.negative_max, inPlaceOf(policy, reason, question))
  }
  give(currencyReason(policy, question))
  for (const rule of question.asked.held) if (isNamed(rule, question)) give(rule.reason)
  give(limitReason(policy, question))
  if (!tookPartByScore(policy, question)) return chosen
  const before = chosen.length
  for (const { reason } of unknowns(policy, question)) give(reason)
  for (const { reason } of shortfalls(policy, question)) give(reason)
  const { settledBy } = question
  if (chosen.length === before && (settledBy === 'score' || settledBy === 'confidence' || chosen.length === 0))
    if (isRefused(question)) give(fewStrengths(policy, question))
  return chosen
}

/** Chooses a reason, unless there is one of its code or there are enough. */
function choose(chosen: Reason[], max: number, reason: Reason): void {
  if (chosen.length === max) return
  for (const { code } of chosen) if (code === reason.code) return
  chosen.push(reason)
}

/** The first reason that its meaning names in its place and whose condition holds, or else the reason itself. */
function inPlaceOf({ meanings }: CompiledPolicy, reason: Reason, { asked }: ReasonQuestion): Reason {
  const meaning = meanings.get(reason.code)
  if (meaning === undefined) return reason
  for (const { holds, reason: other } of meaning.instead) {
    if (holds(asked.reading.values) !== true) continue
    return { code: other.code, impact: reason.impact, label: other.label, node: reason.node }
  }
  return reason
}

/** Whether the meaning of a reason holds; a reason without one is its author's to answer for. */
function isTrue({ meanings }: CompiledPolicy, { code }: Reason, { asked }: ReasonQuestion): boolean {
  const meaning = meanings.get(code)
  return meaning === undefined || meaning.holds(asked.reading.values) === true
}

function shareGroup({ reasonGroups }: CompiledPolicy, one: string, other: string): boolean {
  const groups = reasonGroups.get(one)
  const others = reasonGroups.get(other)
  if (groups === undefined || others === undefined) return false
  for (const group of groups) if (others.includes(group)) return true
  return false
}

function isRefused({ verdict }: ReasonQuestion): boolean {
  return verdict === 'decline' || verdict === 'manual_review'
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
 * What is not known, if that settled the verdict: by its part of the score's variance, or by its weight in completeness. A
 * value whose absence costs no points is a reason here only.
 */
function unknowns(policy: CompiledPolicy, question: ReasonQuestion): readonly RankedReason[] {
  const { settledBy, asked } = question
  if (settledBy !== 'confidence' && settledBy !== 'completeness') return []
  const { values, missing, gaps } = asked.reading
  const ranked: RankedReason[] = []
  for (const [index, characteristic] of policy.characteristics.entries()) {
    const { slot, variance } = characteristic
    if (values[slot] !== undefined || missing[slot] === 'not_requested' || isCovered(characteristic, question)) continue
    const size = settledBy === 'confidence' ? variance : (policy.inputs[slot]?.weight ?? 0)
    if (size > 0) rank(ranked, { size, reason: asked.bins[index]!.lack.reason })
  }
  if (settledBy === 'confidence') return ranked
  for (const slot of gaps) {
    const reasons = policy.gapReasons.get(slot)
    if (reasons === undefined || missing[slot] === 'not_requested') continue
    rank(ranked, { size: policy.inputs[slot]!.weight, reason: reasonWithout(reasons, missing[slot]) })
  }
  return ranked
}

function reasonWithout(reasons: ReasonsWithoutValue, because: MissingBecause | undefined): Reason {
  if (because === 'consent_revoked' || because === 'consent_expired') return reasons.withheld
  return because === 'other_currency' ? reasons.otherCurrency : reasons.missing
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
  return ranked
}

/** Whether the reason of a rule covers the group of a characteristic. */
function isCovered({ group }: CompiledCharacteristic, question: ReasonQuestion): boolean {
  for (const rule of question.asked.held) if (rule.covers === group && isNamed(rule, question)) return true
  return false
}

/** How many characteristics the reason names that stands for want of any other. */
const FACTS_NAMED_MAX = 3

/**
 * The reason of a decline or a review where no characteristic falls short of its reference and none is missing: the score
 * is close to the cutoff, or a policy has set its cutoff above the sum of its references. It names what keeps the score
 * furthest from its best, because no decline may be without a specific reason (12 CFR 1002.9).
 */
function fewStrengths(
  { characteristics, fewStrengths: { label, ...reason } }: CompiledPolicy,
  { asked }: ReasonQuestion,
) {
  const ranked: { size: number; label: string }[] = []
  for (const [index, { bestPoints, label, notApplicableBin }] of characteristics.entries()) {
    const bin = asked.bins[index]!
    if (bin !== notApplicableBin && bestPoints > bin.points) rank(ranked, { size: bestPoints - bin.points, label })
  }
  const named = ranked.length === 0 ? characteristics : ranked
  const facts = named.slice(0, FACTS_NAMED_MAX).map(({ label }) => label)
  return {
    code: reason.code,
    impact: reason.impact,
    label: label.replaceAll('{facts}', facts.join('; ')),
    node: reason.node,
  }
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

/** Inserts an entry after all that are as large. */
function rank<Ranked extends { size: number }>(ranked: Ranked[], one: Ranked): void {
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
