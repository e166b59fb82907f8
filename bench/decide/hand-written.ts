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
  badPpmAt,
  confidencePpm,
  isStale,
  limitFor,
  monthlyInstalment,
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
  const score = scoreOf(applicant)
  const tier = tierAt(score)
  const limit = limitFor(applicant, tier, badPpmAt(score))
  const verdict = verdictOn(applicant, { hits, score, limit })
  const isApproved = verdict === 'approve' || verdict === 'approve_with_conditions'
  return { verdict, tier: tier.tier, limit: isApproved ? (limit?.amount ?? null) : null, score, hits }
}

function number(fact: Fact | undefined): number | undefined {
  return fact !== undefined && 'value' in fact && typeof fact.value === 'number' ? fact.value : undefined
}

/** A number about the account; undefined if it is stale. */
function recent(fact: Fact | undefined): number | undefined {
  return isStale(fact) ? undefined : number(fact)
}

function text(fact: Fact | undefined): string | undefined {
  return fact !== undefined && 'value' in fact && typeof fact.value === 'string' ? fact.value : undefined
}

function readApplicant(features: FactSet): Applicant {
  const amount = number(features['request.amount'])
  const product = text(features['request.product'])
  const inflow = recent(features['cashflow.median_inflow'])
  const lowestBalance = recent(features['cashflow.lowest_balance'])
  const instalment = amount === undefined ? undefined : monthlyInstalment(amount, product)
  return {
    features,
    amount,
    product,
    currency: text(features['request.currency']),
    inflow,
    spending: recent(features['cashflow.mean_spending']),
    debtService: recent(features['cashflow.mean_debt_service']),
    averageBalance: recent(features['cashflow.average_balance']),
    instalmentToInflow: instalment === undefined || inflow === undefined ? undefined : ratio(instalment, inflow),
    reserve: instalment === undefined || lowestBalance === undefined ? undefined : ratio(lowestBalance, instalment),
    strong: number(features['identity.verified_strong']),
    failed: number(features['identity.failed']),
    conflicts: number(features['identity.conflicts']),
    consent: text(features['consent.credit_underwriting']),
    identityData: text(features['consent.identity_data']),
    months: recent(features['cashflow.months_observed']),
    inflowVariation: recent(features['cashflow.inflow_variation']),
    leanMonth: recent(features['cashflow.lowest_inflow_to_outflow']),
    outflowToInflow: recent(features['cashflow.outflow_to_inflow']),
    lowBalanceShare: recent(features['cashflow.low_balance_share']),
    negativeDays: recent(features['cashflow.negative_days']),
    returnedPayments: recent(features['cashflow.returned_payments']),
    exposure: number(features['graph.negative_exposure']),
    repaid: number(features['history.repaid']),
    late: number(features['history.late']),
    settled: number(features['history.settled']),
    defaults: number(features['history.defaults']),
    abuse: number(features['history.abuse']),
    outstanding: number(features['history.outstanding']),
    openInOtherCurrency: number(features['history.open_in_other_currency']),
  }
}

const RATIO_MAX = 1000

function ratio(over: number, under: number): number {
  if (under <= 0) return RATIO_MAX
  return Math.round(Math.max(-RATIO_MAX, Math.min(RATIO_MAX, over / under)) * 1e6) / 1e6
}

function ruleHits(applicant: Applicant): string[] {
  const { abuse, defaults, negativeDays, returnedPayments, exposure, identityData, settled } = applicant
  const { openInOtherCurrency, conflicts, failed, strong, months, consent } = applicant
  const hits: string[] = []
  if (abuse !== undefined && abuse > 0) hits.push('abuse_on_record')
  if (defaults !== undefined && defaults > 0) hits.push('default_on_record')
  if (negativeDays !== undefined && negativeDays >= 5) hits.push('account_overdrawn')
  if (returnedPayments !== undefined && returnedPayments >= 3) hits.push('payments_returned')
  if (exposure !== undefined && exposure >= 0.2) hits.push('linked_to_bad_outcome')
  if (exposure === undefined) hits.push('graph_withheld')
  if (identityData !== undefined && identityData !== 'open') hits.push('identity_withheld')
  if (settled !== undefined && settled > 0) hits.push('settled_on_record')
  if (openInOtherCurrency !== undefined && openInOtherCurrency > 0) hits.push('open_in_other_currency')
  if (conflicts !== undefined && conflicts > 0) hits.push('conflicting_identity')
  if (failed !== undefined && failed >= 2 && strong === 0) hits.push('identity_failed')
  if (months !== undefined && months < 3) hits.push('short_history')
  if (consent === 'revoked' || consent === 'expired') hits.push('consent_withdrawn')
  if (consent === 'none') hits.push('consent_missing')
  if (identityData === 'open' && (strong === undefined || strong === 0)) hits.push('identity_not_verified')
  if (exposure !== undefined && exposure >= 0.1 && exposure < 0.2) hits.push('linked_exposure')
  return hits
}

const KNOCK_OUTS = new Set(['abuse_on_record', 'default_on_record', 'account_overdrawn', 'payments_returned'])
const REVIEWS = new Set([
  'linked_to_bad_outcome',
  'graph_withheld',
  'identity_withheld',
  'settled_on_record',
  'open_in_other_currency',
  'conflicting_identity',
  'identity_failed',
  'short_history',
  'consent_withdrawn',
])
const CONDITIONS = new Set(['consent_missing', 'identity_not_verified', 'linked_exposure'])

function scoreOf(applicant: Applicant): number {
  return (
    358 +
    reservePoints(applicant) +
    lowBalancePoints(applicant.lowBalanceShare) +
    overdraftPoints(applicant.negativeDays) +
    leanMonthPoints(applicant.leanMonth) +
    affordabilityPoints(applicant) +
    (applicant.outflowToInflow === undefined ? 10 : applicant.outflowToInflow < 1.05 ? 14 : 0) +
    monthsPoints(applicant.months) +
    (applicant.strong === undefined ? 10 : applicant.strong < 1 ? 0 : applicant.strong < 2 ? 18 : 26) +
    (applicant.repaid === undefined ? 10 : applicant.repaid < 1 ? 10 : applicant.repaid < 3 ? 18 : 24) +
    (applicant.late === undefined ? 16 : applicant.late < 1 ? 16 : applicant.late < 2 ? 6 : 0)
  )
}

function reservePoints({ amount, reserve }: Applicant): number {
  if (amount === undefined) return 43
  if (reserve === undefined) return 42
  if (reserve < 0) return 0
  if (reserve < 0.5) return 28
  if (reserve < 1) return 34
  if (reserve < 2) return 52
  return reserve < 4 ? 58 : 62
}

function lowBalancePoints(share: number | undefined): number {
  if (share === undefined) return 30
  if (share < 0.02) return 44
  if (share < 0.05) return 35
  if (share < 0.1) return 23
  if (share < 0.15) return 12
  return share < 0.2 ? 5 : 0
}

function overdraftPoints(days: number | undefined): number {
  if (days === undefined) return 38
  if (days < 1) return 40
  return days < 3 ? 8 : 0
}

function leanMonthPoints(covered: number | undefined): number {
  if (covered === undefined) return 11
  if (covered < 0.25) return 0
  return covered < 0.75 ? 10 : 20
}

function affordabilityPoints({ amount, instalmentToInflow }: Applicant): number {
  if (amount === undefined) return 10
  if (instalmentToInflow === undefined) return 9
  if (instalmentToInflow < 0.2) return 16
  if (instalmentToInflow < 0.35) return 11
  return instalmentToInflow < 0.6 ? 5 : 0
}

function monthsPoints(months: number | undefined): number {
  if (months === undefined) return 4
  if (months < 3) return 0
  if (months < 6) return 4
  return months < 12 ? 10 : 12
}

const TIERS = [
  { tier: 'A+', from: 630, balanceMultiple: 12, cap: 250_000 },
  { tier: 'A', from: 615, balanceMultiple: 10, cap: 150_000 },
  { tier: 'A-', from: 600, balanceMultiple: 9, cap: 100_000 },
  { tier: 'B+', from: 590, balanceMultiple: 8, cap: 75_000 },
  { tier: 'B', from: 580, balanceMultiple: 7, cap: 50_000 },
  { tier: 'B-', from: 570, balanceMultiple: 6, cap: 35_000 },
  { tier: 'C+', from: 560, balanceMultiple: 5, cap: 20_000 },
  { tier: 'C', from: 550, balanceMultiple: 4, cap: 15_000 },
  { tier: 'C-', from: 535, balanceMultiple: 3, cap: 10_000 },
  { tier: 'D', from: 510, balanceMultiple: 2, cap: 5_000 },
]
const LAST_TIER = { tier: 'E', from: -Infinity, balanceMultiple: 1, cap: 1_000 }

function tierAt(score: number): (typeof TIERS)[number] {
  for (const tier of TIERS) if (score >= tier.from) return tier
  return LAST_TIER
}

/** The weighted share of the applicable inputs that is known. */
function completenessPpm(applicant: Applicant): number {
  let knownWeight = 0
  if (applicant.strong !== undefined) knownWeight += 3
  if (applicant.months !== undefined) knownWeight += 1
  if (applicant.leanMonth !== undefined) knownWeight += 2
  if (applicant.outflowToInflow !== undefined) knownWeight += 1
  if (applicant.lowBalanceShare !== undefined) knownWeight += 1
  if (applicant.negativeDays !== undefined) knownWeight += 1
  if (applicant.instalmentToInflow !== undefined) knownWeight += 2
  if (applicant.reserve !== undefined) knownWeight += 3
  return Math.floor((knownWeight * 1_000_000) / (applicant.amount === undefined ? 9 : 14))
}

function verdictOn(
  applicant: Applicant,
  { hits, score, limit }: { hits: string[]; score: number; limit: ReturnType<typeof limitFor> },
): HandWrittenAnswer['verdict'] {
  if (hits.some((hit) => KNOCK_OUTS.has(hit))) return 'decline'
  if (completenessPpm(applicant) < 500_000) return 'manual_review'
  if (hits.some((hit) => REVIEWS.has(hit))) return 'manual_review'
  if (confidencePpm(score, unknownVariance(applicant)) < 700_000) return 'manual_review'
  if (score < 550) return 'decline'
  if (limit !== null && limit.amount === null) return 'manual_review'
  if (limit !== null && limit.amount === 0) return 'decline'
  if (hits.some((hit) => CONDITIONS.has(hit)) || limit?.isReduced) return 'approve_with_conditions'
  return 'approve'
}
