/** Instalment, probability, confidence and limit of the hand-written policy. */
import type { Fact, FactSet } from '../../server/src/core/facts/facts.ts'

/** What the hand-written policy knows about an applicant; undefined where missing. */
export interface Applicant {
  features: FactSet
  amount: number | undefined
  product: string | undefined
  currency: string | undefined
  income: number | undefined
  recurring: number | undefined
  otherIncome: number | undefined
  stopped: number | undefined
  circular: number | undefined
  otherCurrencies: number | undefined
  debitsInOthers: number | undefined
  spending: number | undefined
  debtService: number | undefined
  reserve: number | undefined
  lowestBalance: number | undefined
  averageBalance: number | undefined
  reconciled: number | undefined
  debitsWithBalance: number | undefined
  lowestToInstalment: number | undefined
  strong: number | undefined
  failed: number | undefined
  conflicts: number | undefined
  consent: string | undefined
  identityData: string | undefined
  days: number | undefined
  daysSinceLast: number | undefined
  leanMonth: number | undefined
  outflowToIncome: number | undefined
  overdrawn90: number | undefined
  overdrawn365: number | undefined
  returnedPayments: number | undefined
  exposure: number | undefined
  repaid: number | undefined
  late: number | undefined
  settled: number | undefined
  defaults: number | undefined
  abuse: number | undefined
  outstanding: number | undefined
  openInOtherCurrency: number | undefined
  offered: number | undefined
  offeredInOtherCurrency: number | undefined
  daysSinceDefault: number | undefined
  requests: number | undefined
}

const ANNUITY_FACTORS = {
  default: annuityFactor(24, 0.12),
  personal_loan: annuityFactor(36, 0.11),
  business_credit_line: annuityFactor(12, 0.14),
}

function annuityFactor(months: number, annualRate: number): number {
  const discount = 1 / (1 + annualRate / 12)
  let factor = 0
  let present = 1
  for (let month = 1; month <= months; month++) {
    present *= discount
    factor += present
  }
  return factor
}

/** Whether a product is access without credit, which has no amount. */
export function isAccess(product: string | undefined): boolean {
  return product === 'marketplace_access' || product === 'platform_access'
}

/** The amount that one unit of monthly instalment repays. */
export function annuityFactorOf(product: string | undefined): number {
  if (product === 'personal_loan') return ANNUITY_FACTORS.personal_loan
  if (product === 'business_credit_line') return ANNUITY_FACTORS.business_credit_line
  return ANNUITY_FACTORS.default
}

function monthsOf(product: string | undefined): number {
  if (product === 'personal_loan') return 36
  return product === 'business_credit_line' ? 12 : 24
}

const BAD_PPM = [
  979852, 953573, 896635, 785572, 607422, 395211, 216292, 104391, 46918, 20367, 8704, 3695, 1564, 661, 279, 118,
]

/** The probability of a bad outcome, in millionths, from a table with a row for every 20 points from 420 up. */
export function badPpmAt(score: number): number {
  if (score <= 420) return BAD_PPM[0]!
  if (score >= 720) return BAD_PPM.at(-1)!
  const row = Math.floor((score - 420) / 20)
  const from = BAD_PPM[row]!
  return Math.floor(from + ((BAD_PPM[row + 1]! - from) * (score - 420 - row * 20)) / 20)
}

// The normal distribution function at every quarter of a standard deviation.
const NORMAL_PPM = [
  500000, 598706, 691462, 773373, 841345, 894350, 933193, 959941, 977250, 987776, 993790, 997020, 998650, 999423,
  999767, 999912, 999968,
]

/** The probability, in millionths, that the true score lies on the same side of the cutoff as this one. */
export function confidencePpm(score: number, variance: number): number {
  const distance = score - 550
  return normalPpm((distance * distance) / variance)
}

/** The same for a decline, if every missing fact were its best. */
export function declinePpm(applicant: Applicant, score: number): number {
  let best = score
  if (applicant.amount !== undefined && applicant.lowestToInstalment === undefined) best += 17
  if (applicant.overdrawn365 === undefined) best += 2
  if (applicant.leanMonth === undefined) best += 10
  if (applicant.outflowToIncome === undefined) best += 6
  if (applicant.days === undefined) best += 22
  if (applicant.strong === undefined) best += 16
  if (applicant.repaid === undefined) best += 14
  const short = 550 - best
  return short <= 0 ? 0 : normalPpm((short * short) / 625)
}

function normalPpm(zSquared: number): number {
  if (zSquared >= 16) return NORMAL_PPM.at(-1)!
  let row = 0
  while (zSquared >= ((row + 1) / 4) ** 2) row += 1
  const [lower, upper] = [(row / 4) ** 2, ((row + 1) / 4) ** 2]
  const from = NORMAL_PPM[row]!
  return Math.floor(from + ((NORMAL_PPM[row + 1]! - from) * (zSquared - lower)) / (upper - lower))
}

/** The variance of the score: the model's own, plus that of every fact in proportion to its unknown share. */
export function unknownVariance({ features, amount }: Applicant): number {
  const millionths =
    625 * 1_000_000 +
    (amount === undefined ? 0 : 784 * unknownCashflowPpm(features['cashflow.lowest_balance'])) +
    121 * unknownCashflowPpm(features['cashflow.overdrawn_days_365']) +
    196 * unknownCashflowPpm(features['cashflow.lowest_income_to_outflow']) +
    81 * unknownCashflowPpm(features['cashflow.outflow_to_income']) +
    256 * unknownCashflowPpm(features['cashflow.days_observed']) +
    144 * unknownPpm(features['identity.verified_strong'], 1095)
  return Math.floor(millionths / 1_000_000)
}

const SIXTEENTHS = [
  1_000_000, 957_603, 917_004, 878_126, 840_896, 805_245, 771_105, 738_413, 707_107, 677_128, 648_420, 620_929, 594_604,
  569_394, 545_254, 522_137, 500_000,
]

/** The age in days after which facts about the account are ignored. */
const CASHFLOW_MAX_AGE_DAYS = 120

/** Whether a fact about the account is too old to be used. */
export function isStale(fact: Fact | undefined): boolean {
  return fact !== undefined && 'value' in fact && fact.age_days !== undefined && fact.age_days > CASHFLOW_MAX_AGE_DAYS
}

/** The unknown share of a fact about the account, in millionths; a stale fact counts as missing. */
function unknownCashflowPpm(fact: Fact | undefined): number {
  return isStale(fact) ? 1_000_000 : unknownPpm(fact, 90)
}

function unknownPpm(fact: Fact | undefined, halfLifeDays: number): number {
  if (fact === undefined || !('value' in fact)) return 1_000_000
  if (fact.age_days === undefined) return 0
  const halvings = Math.floor(fact.age_days / halfLifeDays)
  if (halvings >= 20) return 1_000_000
  const sixteenths = ((fact.age_days - halvings * halfLifeDays) * 16) / halfLifeDays
  const step = Math.floor(sixteenths)
  const from = SIXTEENTHS[step]!
  const remaining = from + (SIXTEENTHS[step + 1]! - from) * (sixteenths - step)
  return 1_000_000 - Math.floor(remaining / 2 ** halvings)
}

/** The lowest known term of the limit, and whether another is missing; null if the request names no amount. */
export function limitBounds(
  applicant: Applicant,
  tier: { multiple: number; cap: number },
  badPpm: number,
): { lowest: number; step: number; isUnknown: boolean } | null {
  const { amount, currency, product, recurring, otherIncome, reserve, spending, debtService } = applicant
  const outstanding = sumOf(applicant.outstanding, applicant.offered)
  if (amount === undefined || currency === undefined) return null
  const money = CURRENCIES.get(currency)
  const annuity = annuityFactorOf(product)
  const terms: (number | undefined)[] = []
  if (reserve === undefined || recurring === undefined || otherIncome === undefined) terms.push(undefined)
  else {
    const income = recurring + otherIncome
    const owed = outstanding === undefined ? undefined : outstanding / annuity
    const bearable = 0.3 * (income + reserve / 60)
    const lasting = (spent: number) => (Math.min(0, income - spent) * monthsOf(product)) / 1.1
    const left = (spent: number) => {
      const surplus = Math.max(0, income - spent) / 1.1 + Math.max(0, reserve) / 24
      return Math.max(surplus, (lasting(spent) + tier.multiple * Math.max(0, reserve)) / annuity)
    }
    terms.push(spending === undefined || debtService === undefined ? undefined : left(spending + debtService) * annuity)
    terms.push(spending === undefined || owed === undefined ? undefined : (left(spending) - owed) * annuity)
    for (const debt of [debtService, owed]) terms.push(debt === undefined ? undefined : (bearable - debt) * annuity)
  }
  if (money === undefined) terms.push(undefined)
  else {
    const cap = tier.cap * money.perEuro
    terms.push((1500 * money.perEuro) / (0.6 * (badPpm / 1_000_000)), cap)
    terms.push(outstanding === undefined ? undefined : cap - outstanding)
  }
  let lowest = Infinity
  for (const term of terms) if (term !== undefined) lowest = Math.min(lowest, inCents(term))
  return { lowest, step: money?.step ?? 0, isUnknown: terms.includes(undefined) }
}

/** The sum of two amounts; undefined if one is not known. */
function sumOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other
}

function inCents(amount: number): number {
  return Math.floor(Math.max(0, Math.min(1e12, amount)) * 100) / 100
}

/** The currencies of the cases; the policy has more, but a lookup costs the same. */
const CURRENCIES = new Map([
  ['EUR', { perEuro: 1, step: 50 }],
  ['USD', { perEuro: 1, step: 50 }],
  ['JPY', { perEuro: 160, step: 5000 }],
])
