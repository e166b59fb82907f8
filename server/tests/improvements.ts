import { decide } from '../src/core/decide/decide.ts'
import type { Fact, Facts, FactValue } from '../src/core/facts/facts.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import { VERDICTS } from '../src/core/vocabularies.ts'

/** How a fact is drawn, from bad to good; a fact without a value is drawn as missing. */
interface Scale {
  feature: string
  values: readonly FactValue[]
  canBeMissing: boolean
  /** The value that is best whatever the amount is; a missing one is improved to it. Without it, the last value is. */
  best?: number
}

const number = (feature: string, values: readonly number[]): Scale => ({ feature, values, canBeMissing: true })
const always = (feature: string, values: readonly FactValue[]): Scale => ({ feature, values, canBeMissing: false })

/** The features that a decision may depend on, with values of every size, each list from bad to good. */
const SCALES: readonly Scale[] = [
  number('identity.verified_strong', [0, 1, 2, 3]),
  number('identity.failed', [3, 2, 1, 0]),
  number('identity.conflicts', [1, 0]),
  always('consent.credit_underwriting', ['revoked', 'expired', 'none', 'granted']),
  always('consent.identity_data', ['revoked', 'open']),
  number('cashflow.days_observed', [31, 74, 75, 119, 120, 179, 180, 239, 240, 365]),
  always('cashflow.days_since_last', [110, 46, 45, 10, 0]),
  { ...number('cashflow.monthly_income', [0, 300, 900, 1500, 2900, 4200, 9500]), best: 1e7 },
  { ...number('cashflow.recurring_income', [0, 300, 900, 1500, 2900, 4200, 9500]), best: 1e7 },
  { ...number('cashflow.other_income', [0, 50, 400, 1500, 5000]), best: 1e7 },
  number('cashflow.stopped_income', [9000, 3000, 800, 100, 0]),
  number('cashflow.circular_share', [0.8, 0.2, 0.19, 0.02, 0]),
  always('cashflow.other_currencies', [2, 1, 0]),
  number('cashflow.debits_in_other_currencies', [1, 0.4, 0.02, 1e-6, 0]),
  number('cashflow.lowest_income_to_outflow', [0, 0.09, 0.1, 0.39, 0.4, 0.79, 0.8, 1.5]),
  number('cashflow.monthly_spending', [9000, 4000, 2500, 1200, 600, 0]),
  number('cashflow.monthly_debt_service', [3900, 1200, 400, 90, 0]),
  number('cashflow.outflow_to_income', [3, 1.4, 1.39, 1.1, 1.09, 0.5]),
  { ...number('cashflow.lowest_balance', [-200, 0, 1, 20, 60, 100, 200, 500, 1200, 9000, 60_000]), best: 1e7 },
  { ...number('cashflow.reserve', [-200, 0, 30, 100, 500, 2400, 9000, 60_000]), best: 1e7 },
  { ...number('cashflow.average_balance', [-300, 0, 200, 3000, 15_000]), best: 1e7 },
  number('cashflow.balances_reconciled', [0.4, 0.89, 0.9, 1]),
  number('cashflow.debits_with_balance', [0.3, 0.79, 0.8, 1]),
  number('cashflow.low_balance_share', [0.6, 0.3, 0.29, 0.2, 0.1, 0.09, 0]),
  number('cashflow.overdrawn_days_90', [9, 5, 4, 1, 0]),
  number('cashflow.overdrawn_days_365', [40, 12, 11, 4, 3, 1, 0]),
  number('cashflow.returned_payments', [5, 3, 2, 0]),
  number('graph.negative_exposure', [0.6, 0.2, 0.19, 0.1, 0.09, 0]),
  always('history.repaid', [0, 1, 2, 3]),
  always('history.late', [2, 1, 0]),
  always('history.settled', [1, 0]),
  always('history.defaults', [1, 0]),
  always('history.abuse', [1, 0]),
  always('history.days_since_default', [0, 30, 200, 364, 365, 3650]),
  always('history.requests_7_days', [20, 10, 9, 2, 0]),
  always('history.outstanding', [40_000, 9000, 1000, 0]),
  always('history.open_in_other_currency', [1, 0]),
  always('offers.open_amount', [40_000, 9000, 1000, 0]),
  always('offers.open_in_other_currency', [1, 0]),
]

/** The facts about income: an account from which income can be told has them all. */
const INCOME = [
  'cashflow.monthly_income',
  'cashflow.recurring_income',
  'cashflow.other_income',
  'cashflow.stopped_income',
]

const AMOUNTS = [40, 300, 800, 1234.56, 3000, 6000, 20_000, 150_000]
const AGES = [0, 0, 3, 20, 60, 119]

/** How many percent of an applicant's facts are bad, and missing: only an applicant with few of both is approved. */
const APPLICANTS = [
  { bad: 3, missing: 0 },
  { bad: 8, missing: 1 },
  { bad: 18, missing: 4 },
]

/** A pseudo-random number below a bound, from a seed: the minimal standard generator of Park and Miller. */
export function seededBelow(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
  }
}

/** The facts of an applicant, and the same facts with one of them improved. */
export interface Improvement {
  before: Facts
  after: Facts
  improved: string
}

/** What is asked for: an amount, or access without one. */
export type Ask = 'credit' | 'access'

/** The scales, with the thresholds of a policy's own rules and bins, and the values next to them. */
export function scalesFor({ document }: CompiledPolicy): Scale[] {
  const thresholds = new Map<string, number[]>()
  const add = (feature: string, threshold: number) =>
    thresholds.set(feature, [...(thresholds.get(feature) ?? []), threshold])
  for (const { when } of document.rules)
    for (const [, feature, threshold] of when.matchAll(/\b([a-z]+\.[a-z0-9_]+)\s*[<>]=?\s*(-?\d+(?:\.\d+)?)/g))
      add(feature!, Number(threshold))
  for (const { feature, bins } of document.scorecard.characteristics)
    for (const { below } of bins) if (below !== undefined) add(feature, below)
  return SCALES.map((scale) => withThresholds(scale, thresholds.get(scale.feature) ?? []))
}

function withThresholds(scale: Scale, thresholds: readonly number[]): Scale {
  if (thresholds.length === 0 || !scale.values.every((value) => typeof value === 'number')) return scale
  const values = scale.values as number[]
  const [worst, best] = [values[0]!, values.at(-1)!]
  const around = thresholds.flatMap((threshold) => {
    const little = Math.max(1, Math.abs(threshold)) * 1e-6
    return [threshold - little, threshold, threshold + little]
  })
  const within = around.filter((value) => value >= Math.min(worst, best) && value <= Math.max(worst, best))
  const all = [...new Set([...values, ...within])].sort((a, b) => (worst < best ? a - b : b - a))
  return { ...scale, values: all }
}

/**
 * Draws an applicant and improves one fact: to a better value, from missing to the best value, or to a fresher one. Most
 * facts are good, because the verdict of an applicant with many bad ones hardly ever changes.
 */
export function drawImprovement(
  below: (bound: number) => number,
  { scales = SCALES, ask }: { scales?: readonly Scale[]; ask?: Ask } = {},
): Improvement {
  const features: Record<string, Fact> = { 'request.product': { value: 'default' } }
  const places = new Map<string, number>()
  const { bad, missing } = APPLICANTS[below(APPLICANTS.length)]!
  const isAccess = ask === undefined ? below(100) < 6 : ask === 'access'
  const applying = scales.filter(({ feature }) => !isAccess || !feature.startsWith('cashflow.'))
  for (const { feature, values, canBeMissing } of applying) {
    const isBad = below(100) < bad
    const place = isBad ? below(values.length) : values.length - 1
    const isMissing = canBeMissing && below(100) < missing
    const { [INCOME[0]!]: income } = features
    const isUnknown = INCOME.includes(feature) && income !== undefined ? 'missing' in income : isMissing
    places.set(feature, isUnknown ? -1 : place)
    features[feature] = factAt(values, places.get(feature)!, canBeMissing ? AGES[below(AGES.length)] : undefined)
  }
  for (const { feature } of scales) features[feature] ??= { missing: 'not_requested' }
  features['request.amount'] = isAccess ? { missing: 'not_requested' } : { value: AMOUNTS[below(AMOUNTS.length)]! }
  features['request.currency'] = isAccess ? { missing: 'not_requested' } : { value: 'EUR' }
  const before: Facts = { format: 1, features }
  const improvable = applying.filter(({ feature, values }) => {
    const fact = features[feature]!
    return places.get(feature)! < values.length - 1 || ('value' in fact && (fact.age_days ?? 0) > 0)
  })
  if (improvable.length === 0) return drawImprovement(below, { scales, ...(ask && { ask }) })
  for (;;) {
    const { feature, values } = improvable[below(improvable.length)]!
    const place = places.get(feature)!
    const fact = features[feature]!
    const age = 'value' in fact ? fact.age_days : 0
    if (age !== undefined && age > 0 && below(3) === 0) {
      const fresher = { ...fact, age_days: below(age) } as Fact
      return { before, after: withFact(before, feature, fresher), improved: `${feature} is fresher` }
    }
    if (place < 0) return { before, after: withBest(before, feature, scales), improved: `${feature} is known` }
    if (place === values.length - 1) continue
    const value = values[place + 1 + below(values.length - 1 - place)]!
    return { before, after: withFact(before, feature, factAt([value], 0, age)), improved: feature }
  }
}

/** The facts with the best value in place of a missing one; what is known about income becomes known together. */
function withBest(facts: Facts, feature: string, scales: readonly Scale[]): Facts {
  const known = INCOME.includes(feature) ? INCOME : [feature]
  return scales
    .filter((scale) => known.includes(scale.feature))
    .reduce((all, { feature: name, values, best = values.at(-1)! }) => withFact(all, name, factAt([best], 0, 0)), facts)
}

function factAt(values: readonly FactValue[], place: number, age: number | undefined): Fact {
  if (place < 0) return { missing: 'no_data' }
  return age === undefined ? { value: values[place]! } : { age_days: age, value: values[place]! }
}

function withFact({ features }: Facts, name: string, fact: Fact): Facts {
  return { format: 1, features: { ...features, [name]: fact } }
}

/** What became worse by an improvement: the verdict, the limit or the probability; empty if nothing did. */
export function worsenedBy(policy: CompiledPolicy, { before, after }: Improvement): string[] {
  const [worse, better] = [decide(policy, before), decide(policy, after)]
  return [
    ...(rankOf(better.verdict) < rankOf(worse.verdict) ? ['verdict'] : []),
    ...((better.limit ?? 0) < (worse.limit ?? 0) ? ['limit'] : []),
    ...(better.trace.score.bad_ppm! > worse.trace.score.bad_ppm! ? ['probability'] : []),
  ]
}

/** What becomes worse by asking for less: the verdict; or better by it: the limit; empty if nothing does. */
export function worsenedByAsking(
  policy: CompiledPolicy,
  facts: Facts,
  amounts: { less: number; more: number },
): string[] {
  const at = (amount: number) => decide(policy, withFact(facts, 'request.amount', { value: amount }))
  const [less, more] = [at(amounts.less), at(amounts.more)]
  return [
    ...(rankOf(less.verdict) < rankOf(more.verdict) ? ['verdict'] : []),
    ...((less.limit ?? 0) > (more.limit ?? 0) ? ['limit'] : []),
  ]
}

/** The rank of a verdict: a higher one is better for the applicant. */
export function rankOf(verdict: (typeof VERDICTS)[number]): number {
  return -VERDICTS.indexOf(verdict)
}
