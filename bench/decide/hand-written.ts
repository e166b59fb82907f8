/**
 * `sandbox-policy-v1` as hand-written code: its numbers are constants, its rules plain comparisons. It gives no reasons
 * and no trace, and changing it takes a release. It is the lower bound for the cost of any engine.
 *
 * It reads the same facts as `decide` and returns the same verdict, tier, limit, score and rule hits, so it computes
 * everything the verdict depends on, including completeness, confidence and the limit.
 */
import type { Fact, FactSet, Facts } from '../../server/src/core/facts/facts.ts'
import type { Verdict } from '../../server/src/core/vocabularies.ts'
import {
  type Applicant,
  annuityFactorOf,
  badPpmAt,
  confidencePpm,
  declinePpm,
  isAccess,
  isStale,
  limitBounds,
  unknownVariance,
} from './hand-written-credit.ts'

/** What the hand-written policy returns. */
export interface HandWrittenAnswer {
  verdict: Verdict
  tier: string
  limit: number | null
  score: number
  hits: string[]
}

/** Decides by the rules, points, tiers and limits of `sandbox-policy-v1`. */
export function decideByHand({ features }: Facts): HandWrittenAnswer {
  const applicant = readApplicant(features)
  const hits = ruleHits(applicant)
  const asked = judge(applicant, hits)
  const { score, tier } = asked
  const limit = largestOffer(applicant, hits, asked)
  if (limit === null || limit === applicant.amount) {
    return { verdict: asked.verdict, tier: tier.tier, limit: isApproved(asked) ? limit : null, score, hits }
  }
  if (limit > 0) return { verdict: 'approve_with_conditions', tier: tier.tier, limit, score, hits }
  return { verdict: isApproved(asked) ? 'decline' : asked.verdict, tier: tier.tier, limit: null, score, hits }
}

interface Judged {
  verdict: Verdict
  score: number
  tier: (typeof TIERS)[number]
  bounds: ReturnType<typeof limitBounds>
}

function judge(applicant: Applicant, hits: readonly string[]): Judged {
  const score = scoreOf(applicant)
  const tier = tierAt(score)
  const bounds = limitBounds(applicant, tier, badPpmAt(score))
  return { verdict: verdictOn(applicant, { hits, score, bounds }), score, tier, bounds }
}

/** The largest amount that is approved, 0 if none is; null if it is not known or no amount was requested. */
function largestOffer(applicant: Applicant, hits: readonly string[], asked: Judged): number | null {
  const { amount } = applicant
  const { bounds } = asked
  if (amount === undefined || bounds === null) return null
  if (bounds.isUnknown) return asked.verdict === 'decline' && bounds.lowest < bounds.step ? 0 : null
  if (hits.some((hit) => KNOCK_OUTS.has(hit))) return 0
  const { step } = bounds
  const at = (other: number) => judge(withAmount(applicant, other), hits)
  const steps = Math.floor(amount / step)
  if (isApproved(asked) && (steps * step === amount || isApproved(at((steps + 1) * step)))) return amount
  if (amount < step) return 0
  const smallest = at(step)
  if (!isApproved(smallest)) return 0
  let [low, high] = [1, Math.floor(Math.min(amount, smallest.bounds?.lowest ?? 0) / step) + 1]
  for (let middle = high - 1; high - low > 1; middle = low + Math.floor((high - low) / 2)) {
    if (isApproved(at(middle * step))) low = middle
    else high = middle
  }
  return low * step
}

function isApproved({ verdict }: Judged): boolean {
  return verdict === 'approve' || verdict === 'approve_with_conditions'
}

function number(fact: Fact | undefined): number | undefined {
  return fact !== undefined && 'value' in fact && typeof fact.value === 'number' ? fact.value : undefined
}

/** A number about the account; undefined if it is stale. */
function recent(fact: Fact | undefined): number | undefined {
  return isStale(fact) ? undefined : number(fact)
}

/** Whether a fact applies to the request: access without credit is decided without bank data. */
function isAskedFor(fact: Fact | undefined): boolean {
  return fact === undefined || 'value' in fact || fact.missing !== 'not_requested'
}

function text(fact: Fact | undefined): string | undefined {
  return fact !== undefined && 'value' in fact && typeof fact.value === 'string' ? fact.value : undefined
}

function readApplicant(features: FactSet): Applicant {
  const applicant: Applicant = {
    features,
    amount: undefined,
    product: text(features['request.product']),
    currency: text(features['request.currency']),
    income: recent(features['cashflow.monthly_income']),
    recurring: recent(features['cashflow.recurring_income']),
    otherIncome: recent(features['cashflow.other_income']),
    stopped: recent(features['cashflow.stopped_income']),
    circular: recent(features['cashflow.circular_share']),
    otherCurrencies: number(features['cashflow.other_currencies']),
    debitsInOthers: number(features['cashflow.debits_in_other_currencies']),
    spending: recent(features['cashflow.monthly_spending']),
    debtService: recent(features['cashflow.monthly_debt_service']),
    reserve: recent(features['cashflow.reserve']),
    lowestBalance: recent(features['cashflow.lowest_balance']),
    averageBalance: recent(features['cashflow.average_balance']),
    reconciled: recent(features['cashflow.balances_reconciled']),
    debitsWithBalance: recent(features['cashflow.debits_with_balance']),
    lowestToInstalment: undefined,
    strong: number(features['identity.verified_strong']),
    failed: number(features['identity.failed']),
    conflicts: number(features['identity.conflicts']),
    consent: text(features['consent.credit_underwriting']),
    identityData: text(features['consent.identity_data']),
    days: recent(features['cashflow.days_observed']),
    daysSinceLast: number(features['cashflow.days_since_last']),
    leanMonth: recent(features['cashflow.lowest_income_to_outflow']),
    outflowToIncome: recent(features['cashflow.outflow_to_income']),
    overdrawn90: recent(features['cashflow.overdrawn_days_90']),
    overdrawn365: recent(features['cashflow.overdrawn_days_365']),
    returnedPayments: recent(features['cashflow.returned_payments']),
    exposure: number(features['graph.negative_exposure']),
    repaid: number(features['history.repaid']),
    late: number(features['history.late']),
    settled: number(features['history.settled']),
    defaults: number(features['history.defaults']),
    abuse: number(features['history.abuse']),
    outstanding: number(features['history.outstanding']),
    openInOtherCurrency: number(features['history.open_in_other_currency']),
    offered: number(features['offers.open_amount']),
    offeredInOtherCurrency: number(features['offers.open_in_other_currency']),
    daysSinceDefault: number(features['history.days_since_default']),
    requests: number(features['history.requests_7_days']),
  }
  const amount = isAccess(applicant.product) ? undefined : number(features['request.amount'])
  return amount === undefined ? applicant : withAmount(applicant, amount)
}

function withAmount(applicant: Applicant, amount: number): Applicant {
  const instalment = amount / annuityFactorOf(applicant.product)
  const { lowestBalance } = applicant
  return {
    ...applicant,
    amount,
    lowestToInstalment: lowestBalance === undefined ? undefined : ratio(lowestBalance, instalment),
  }
}

const RATIO_MAX = 1000

function ratio(over: number, under: number): number {
  if (under <= 0) return RATIO_MAX
  return Math.floor(Math.max(-RATIO_MAX, Math.min(RATIO_MAX, over / under)) * 1e6) / 1e6
}

function ruleHits(applicant: Applicant): string[] {
  const hits: string[] = []
  addKnockOuts(hits, applicant)
  addPersonReviews(hits, applicant)
  addAccountReviews(hits, applicant)
  addConditions(hits, applicant)
  return hits
}

function addKnockOuts(hits: string[], applicant: Applicant): void {
  const { abuse, defaults, overdrawn90, overdrawn365, returnedPayments, stopped, income, reserve, spending } = applicant
  if (abuse !== undefined && abuse > 0) hits.push('abuse_on_record')
  if (defaults !== undefined && defaults > 0) hits.push('default_on_record')
  if ((overdrawn90 !== undefined && overdrawn90 >= 5) || (overdrawn365 !== undefined && overdrawn365 >= 12))
    hits.push('account_overdrawn')
  if (returnedPayments !== undefined && returnedPayments >= 3) hits.push('payments_returned')
  if (stopped === undefined || income === undefined || reserve === undefined || spending === undefined) return
  if (stopped > income && income < 0.5 * spending && reserve < 6 * spending) hits.push('income_stopped')
}

function addPersonReviews(hits: string[], applicant: Applicant): void {
  const { exposure, identityData, settled, daysSinceDefault, requests, conflicts, failed, strong } = applicant
  const inOtherCurrency = [applicant.openInOtherCurrency, applicant.offeredInOtherCurrency]
  if (exposure !== undefined && exposure >= 0.2) hits.push('linked_to_bad_outcome')
  if (exposure === undefined) hits.push('graph_withheld')
  if (identityData !== undefined && identityData !== 'open') hits.push('identity_withheld')
  if (settled !== undefined && settled > 0) hits.push('settled_on_record')
  if (daysSinceDefault !== undefined && daysSinceDefault < 365) hits.push('recent_default')
  if (requests !== undefined && requests >= 10) hits.push('too_many_requests')
  if (inOtherCurrency.some((credits) => credits !== undefined && credits > 0)) hits.push('open_in_other_currency')
  if (conflicts !== undefined && conflicts > 0) hits.push('conflicting_identity')
  if (failed !== undefined && failed >= 2 && strong === 0) hits.push('identity_failed')
}

function addAccountReviews(hits: string[], applicant: Applicant): void {
  const { stopped, income, spending, overdrawn365, days, daysSinceLast, averageBalance } = applicant
  const { debitsWithBalance, reconciled, otherCurrencies, debitsInOthers, consent } = applicant
  if (income !== undefined && spending !== undefined) {
    if (stopped !== undefined && stopped > income && income < 0.8 * spending) hits.push('income_stopped_with_savings')
    if (income < 0.5 * spending) hits.push('income_below_spending')
  }
  if (overdrawn365 !== undefined && overdrawn365 >= 4) hits.push('overdrawn_before')
  if (days !== undefined && days < 75) hits.push('short_history')
  if (daysSinceLast !== undefined && daysSinceLast > 45) hits.push('bank_data_ended')
  if (income !== undefined && spending === undefined) hits.push('spending_unknown')
  if (income !== undefined && averageBalance === undefined) hits.push('balances_unknown')
  if (debitsWithBalance !== undefined && debitsWithBalance < 0.95 && averageBalance !== undefined)
    hits.push('balances_incomplete')
  if (reconciled !== undefined && reconciled < 0.98) hits.push('balances_do_not_add_up')
  if (otherCurrencies !== undefined && otherCurrencies > 0) hits.push('income_in_other_currency')
  if (debitsInOthers !== undefined && debitsInOthers > 0) hits.push('spending_in_other_currency')
  if (consent === 'revoked' || consent === 'expired') hits.push('consent_withdrawn')
}

function addConditions(hits: string[], applicant: Applicant): void {
  const { consent, circular, identityData, strong, exposure } = applicant
  if (consent === 'none') hits.push('consent_missing')
  if (circular !== undefined && circular >= 0.2) hits.push('circular_transfers')
  if (spendsSavings(applicant)) hits.push('spending_above_income')
  if (identityData === 'open' && (strong === undefined || strong === 0)) hits.push('identity_not_verified')
  if (exposure !== undefined && exposure >= 0.1 && exposure < 0.2) hits.push('linked_exposure')
}

function spendsSavings({ income, spending, debtService, reserve }: Applicant): boolean {
  if (income === undefined || spending === undefined || debtService === undefined || reserve === undefined) return false
  return spending + debtService > 1.08 * income && reserve < 24 * (spending + debtService - income)
}

const KNOCK_OUTS = new Set([
  'abuse_on_record',
  'default_on_record',
  'account_overdrawn',
  'payments_returned',
  'income_stopped',
])
const CONDITIONS = new Set([
  'consent_missing',
  'circular_transfers',
  'spending_above_income',
  'identity_not_verified',
  'linked_exposure',
])

function scoreOf(applicant: Applicant): number {
  return (
    302 +
    lowestBalancePoints(applicant) +
    overdraftPoints(applicant) +
    leanMonthPoints(applicant) +
    outflowPoints(applicant) +
    daysPoints(applicant) +
    (applicant.strong === undefined ? 10 : applicant.strong < 1 ? 0 : applicant.strong < 2 ? 18 : 26) +
    (applicant.repaid === undefined ? 10 : applicant.repaid < 1 ? 10 : applicant.repaid < 3 ? 18 : 24) +
    (applicant.late === undefined ? 16 : applicant.late < 1 ? 16 : applicant.late < 2 ? 6 : 0)
  )
}

function lowestBalancePoints({ amount, lowestToInstalment: lowest }: Applicant): number {
  if (amount === undefined) return 67
  if (lowest === undefined) return 73
  if (lowest < 0) return 0
  if (lowest < 0.5) return 17
  if (lowest < 1) return 33
  if (lowest < 1.5) return 50
  if (lowest < 2) return 67
  return lowest < 2.5 ? 82 : 90
}

function overdraftPoints({ features, overdrawn365: days }: Applicant): number {
  if (days === undefined) return isAskedFor(features['cashflow.overdrawn_days_365']) ? 58 : 60
  if (days < 1) return 60
  if (days < 2) return 36
  return days < 4 ? 11 : 0
}

function leanMonthPoints({ features, leanMonth: covered }: Applicant): number {
  if (covered === undefined) return isAskedFor(features['cashflow.lowest_income_to_outflow']) ? 23 : 29
  if (covered < 0.1) return 0
  if (covered < 0.4) return 14
  return covered < 0.8 ? 29 : 33
}

function outflowPoints({ features, outflowToIncome: outflow }: Applicant): number {
  if (outflow === undefined) return isAskedFor(features['cashflow.outflow_to_income']) ? 27 : 26
  if (outflow < 1.1) return 33
  return outflow < 1.4 ? 17 : 0
}

function daysPoints({ features, days }: Applicant): number {
  if (days === undefined) return isAskedFor(features['cashflow.days_observed']) ? 21 : 29
  if (days < 120) return 0
  if (days < 180) return 14
  return days < 240 ? 29 : 43
}

const TIERS = [
  { tier: 'A+', from: 625, multiple: 8, cap: 250_000 },
  { tier: 'A', from: 615, multiple: 6, cap: 150_000 },
  { tier: 'A-', from: 600, multiple: 4.7, cap: 100_000 },
  { tier: 'B+', from: 590, multiple: 4.7, cap: 75_000 },
  { tier: 'B', from: 580, multiple: 4.6, cap: 50_000 },
  { tier: 'B-', from: 570, multiple: 4.5, cap: 35_000 },
  { tier: 'C+', from: 560, multiple: 4.3, cap: 20_000 },
  { tier: 'C', from: 550, multiple: 4, cap: 15_000 },
  { tier: 'C-', from: 535, multiple: 3, cap: 10_000 },
  { tier: 'D', from: 510, multiple: 2, cap: 5_000 },
]
const LAST_TIER = { tier: 'E', from: -Infinity, multiple: 1, cap: 1_000 }

function tierAt(score: number): (typeof TIERS)[number] {
  for (const tier of TIERS) if (score >= tier.from) return tier
  return LAST_TIER
}

const WEIGHTS = [
  ['cashflow.days_observed', 1],
  ['cashflow.lowest_income_to_outflow', 2],
  ['cashflow.outflow_to_income', 1],
  ['cashflow.overdrawn_days_365', 1],
] as const

/** The weighted share of the applicable inputs that is known. */
function completenessPpm(applicant: Applicant): number {
  let weight = applicant.amount === undefined ? 3 : 6
  for (const [feature, one] of WEIGHTS) if (isAskedFor(applicant.features[feature])) weight += one
  let knownWeight = 0
  if (applicant.strong !== undefined) knownWeight += 3
  if (applicant.days !== undefined) knownWeight += 1
  if (applicant.leanMonth !== undefined) knownWeight += 2
  if (applicant.outflowToIncome !== undefined) knownWeight += 1
  if (applicant.overdrawn365 !== undefined) knownWeight += 1
  if (applicant.lowestToInstalment !== undefined) knownWeight += 3
  return Math.floor((knownWeight * 1_000_000) / weight)
}

function verdictOn(
  applicant: Applicant,
  { hits, score, bounds }: { hits: readonly string[]; score: number; bounds: ReturnType<typeof limitBounds> },
): Verdict {
  const isReviewed = hits.some((hit) => !KNOCK_OUTS.has(hit) && !CONDITIONS.has(hit))
  const approval = hits.some((hit) => CONDITIONS.has(hit)) ? 'approve_with_conditions' : 'approve'
  if (hits.some((hit) => KNOCK_OUTS.has(hit))) return 'decline'
  const isIncomplete = completenessPpm(applicant) < 500_000
  if (applicant.amount === undefined) return isIncomplete || isReviewed ? 'manual_review' : approval
  if (declinePpm(applicant, score) >= 700_000) return 'decline'
  if (bounds !== null && bounds.lowest < bounds.step) return 'decline'
  if (isIncomplete || isReviewed || score < 550) return 'manual_review'
  if (confidencePpm(score, unknownVariance(applicant)) < 700_000) return 'manual_review'
  if (bounds === null || bounds.isUnknown) return 'manual_review'
  return bounds.lowest < applicant.amount ? 'decline' : approval
}
