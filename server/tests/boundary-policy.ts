import { canonicalJson, sha256 } from '../src/core/canonical-json.ts'
import { compileStoredPolicy } from '../src/core/policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../src/core/policy/compile/compiled-policy.ts'
import type { PolicyDocument } from '../src/core/policy/policy-document.ts'

/** The reason, or the condition, of a part of the policy. */
const told = (code: string) => ({ code, label: code.replaceAll('_', ' ') })

function rule(id: string, when: string, action: 'decline' | 'manual_review' | 'condition') {
  return {
    id,
    when,
    // biome-ignore lint/suspicious/noThenProperty: a rule is never awaited
    then: action,
    reason: { ...told(id), impact: 'negative' as const },
    ...(action === 'condition' && { condition: told(id) }),
    explanation: id,
  }
}

function characteristic(
  id: string,
  feature: string,
  bins: PolicyDocument['scorecard']['characteristics'][number]['bins'],
) {
  const shared = { reference: 0, spread: 0, missing: 0, group: id }
  return { id, feature, ...shared, bins, shortfall: told(`${id}_low`), strength: told(`${id}_high`) }
}

/**
 * A policy of round numbers, for tests at its boundaries: `snapshot.steer` sets the score, ten points are one standard
 * deviation, and a normal distribution of three rows makes confidence exact at whole deviations.
 */
const document: PolicyDocument = {
  version: 'boundaries',
  model_version: 'boundaries',
  description: 'Round numbers, for tests at boundaries.',
  missing_reasons: [told('nothing_known')],
  inputs: [
    { feature: 'snapshot.steer', type: 'number', weight: 4, missing: 'nothing_known' },
    { feature: 'snapshot.segment', type: 'string', weight: 3, missing: 'nothing_known' },
    { feature: 'snapshot.member', type: 'boolean', weight: 0, missing: 'nothing_known' },
    { feature: 'snapshot.bureau', type: 'number', weight: 3, half_life_days: 100, max_age_days: 200 },
    { feature: 'snapshot.left', type: 'number', weight: 0 },
    { feature: 'snapshot.right', type: 'number', weight: 0 },
    { feature: 'cashflow.monthly_income', type: 'number', weight: 0 },
    { feature: 'cashflow.monthly_spending', type: 'number', weight: 0 },
    { feature: 'cashflow.balance_variation', type: 'number', weight: 0 },
    { feature: 'cashflow.overdrawn_days_365', type: 'number', weight: 0 },
    { feature: 'request.instalment_to_income', type: 'number', weight: 0 },
  ],
  rules: [
    rule('overdrawn', '2 * cashflow.overdrawn_days_365 + 1 >= 9', 'decline'),
    { ...rule('in_doubt', 'cashflow.overdrawn_days_365 == 3', 'manual_review'), questions_data: true },
    rule('spends', 'cashflow.monthly_spending / cashflow.monthly_income > 0.8', 'manual_review'),
    rule('heavy', 'request.instalment_to_income > 1.5', 'manual_review'),
    rule('sum', 'snapshot.left - snapshot.right * 2 < -1', 'condition'),
    rule('prefix', 'snapshot.segment.startsWith("si") && !snapshot.member', 'condition'),
  ],
  scorecard: {
    base: 500,
    spread: 10,
    characteristics: [
      characteristic(
        'steer',
        'snapshot.steer',
        [89, 90, 91, 99, 100, 101, 109, 110, 111, 119, 120, 121].map((points, at) => ({ below: at + 1, points })),
      ),
      {
        ...characteristic('segment', 'snapshot.segment', [
          { equals: 'gold', points: 3 },
          { equals: 'silver', points: 0 },
          { points: -3 },
        ]),
        missing: -1,
      },
      characteristic('member', 'snapshot.member', [{ equals: true, points: 0 }, { points: 0 }]),
      {
        ...characteristic('bureau', 'snapshot.bureau', [
          { below: 500, points: -4 },
          { below: 700, points: 0 },
          { points: 4 },
        ]),
        spread: 20,
      },
      characteristic('left', 'snapshot.left', [{ below: 0, points: -2 }, { below: 10, points: 0 }, { points: 2 }]),
      characteristic('right', 'snapshot.right', [{ below: 0, points: -2 }, { below: 10, points: 0 }, { points: 2 }]),
    ],
    probability: [
      { score: 580, bad_ppm: 400_000 },
      { score: 600, bad_ppm: 100_000 },
      { score: 620, bad_ppm: 20_000 },
    ],
    normal: [
      { z: 0, ppm: 500_000 },
      { z: 1, ppm: 800_000 },
      { z: 2, ppm: 950_000 },
    ],
  },
  tiers: [
    { tier: 'A', from: 620, balance_multiple: 2, cap: 50_000 },
    { tier: 'B', from: 610, balance_multiple: 1, cap: 5_000 },
    { tier: 'C', balance_multiple: 1, cap: 1_000 },
  ],
  verdicts: { cutoff: 600, confidence_min_ppm: 800_000, completeness_min_ppm: 700_000 },
  reasons: { negative_max: 2, positive_max: 1 },
  limit: {
    terms: [
      {
        term: 'income',
        instalment:
          'cashflow.monthly_income * (1.0 - 0.5 * (cashflow.balance_variation > 1.0 ? 1.0 : cashflow.balance_variation)) - cashflow.monthly_spending',
        reason: told('income_too_low'),
      },
      { term: 'tier_cap', amount: 'tier.cap * currency.per_reference', reason: told('tier_cap') },
    ],
    currencies: [
      { currency: 'EUR', per_reference: 1, step: 50 },
      { currency: 'JPY', per_reference: 160, step: 1000 },
    ],
    risk: told('risk'),
    unknown: told('unknown'),
    unlisted_currency: told('unlisted_currency'),
    reduced_amount: { code: 'reduced_amount', label: 'At most {limit} {currency}' },
  },
  products: [
    { product: 'default', term_months: 10, annual_rate: 0 },
    { product: 'dear', term_months: 12, annual_rate: 0.12 },
  ],
  tests: [],
}

/** Compiles the policy of round numbers, perhaps with other parts. */
export function boundaryPolicy(edit: Partial<PolicyDocument> = {}): CompiledPolicy {
  const text = canonicalJson({ ...document, ...edit })
  const compiled = compileStoredPolicy({ document: text, checksum: sha256(text) })
  if ('policy' in compiled) return compiled.policy
  throw new Error(JSON.stringify(compiled))
}
