import fc from 'fast-check'
import type { Fact, FactSet, Facts } from '../src/core/facts/facts.ts'

const ratio = fc.integer({ min: 0, max: 2_000_000 }).map((ppm) => ppm / 1e6)
/** An amount between 0 and 50,000. */
export const money = fc.integer({ min: 0, max: 5_000_000 }).map((cents) => cents / 100)
const signedMoney = fc.integer({ min: -500_000, max: 5_000_000 }).map((cents) => cents / 100)
const count = fc.nat(6)

/** A missing feature, with any of the reasons why. */
export const missingFact: fc.Arbitrary<Fact> = fc
  .constantFrom('no_data', 'too_short', 'other_currency', 'stale', 'consent_revoked', 'consent_expired')
  .map((missing) => ({ missing }) as const)
const maybe = (value: fc.Arbitrary<number>): fc.Arbitrary<Fact> =>
  fc.oneof({ weight: 6, arbitrary: fc.record({ value, age_days: fc.nat(150) }) }, { weight: 1, arbitrary: missingFact })
const always = (value: fc.Arbitrary<number | string>): fc.Arbitrary<Fact> => fc.record({ value })

/** Any facts that the feature catalogue allows, most of them known. */
export const arbitraryFacts: fc.Arbitrary<Facts> = fc
  .record<FactSet>({
    'identity.verified_strong': maybe(count),
    'identity.failed': maybe(fc.nat(2)),
    'identity.conflicts': maybe(fc.constant(0)),
    'consent.credit_underwriting': always(fc.constantFrom('granted', 'granted', 'none', 'revoked')),
    'consent.identity_data': always(fc.constantFrom('open', 'open', 'open', 'revoked')),
    'cashflow.days_observed': maybe(fc.integer({ min: 30, max: 365 })),
    'cashflow.days_since_last': always(fc.constantFrom(0, 0, 3, 20, 60)),
    'cashflow.monthly_income': maybe(money),
    'cashflow.recurring_income': maybe(money),
    'cashflow.other_income': maybe(money),
    'cashflow.stopped_income': maybe(fc.oneof(fc.constant(0), money)),
    'cashflow.circular_share': maybe(fc.constantFrom(0, 0, 0, 0.3)),
    'cashflow.other_currencies': always(fc.constantFrom(0, 0, 0, 1)),
    'cashflow.debits_in_other_currencies': maybe(fc.constantFrom(0, 0, 0, 0, 0.04)),
    'cashflow.lowest_income_to_outflow': maybe(ratio),
    'cashflow.monthly_spending': maybe(money),
    'cashflow.monthly_debt_service': maybe(fc.constantFrom(0, 0, 150)),
    'cashflow.outflow_to_income': maybe(ratio),
    'cashflow.lowest_balance': maybe(signedMoney),
    'cashflow.reserve': maybe(signedMoney),
    'cashflow.average_balance': maybe(signedMoney),
    'cashflow.balances_reconciled': maybe(fc.constantFrom(1, 1, 1, 0.8)),
    'cashflow.debits_with_balance': maybe(fc.constantFrom(1, 1, 1, 0.5)),
    'cashflow.low_balance_share': maybe(ratio.map((value) => value / 2)),
    'cashflow.overdrawn_days_90': maybe(fc.constantFrom(0, 0, 0, 1, 6)),
    'cashflow.overdrawn_days_365': maybe(fc.constantFrom(0, 0, 0, 1, 4, 15)),
    'cashflow.returned_payments': maybe(fc.constantFrom(0, 0, 0, 2, 5)),
    'graph.negative_exposure': maybe(fc.constantFrom(0, 0, 0, 0.12, 0.6)),
    'history.repaid': always(count),
    'history.late': always(fc.nat(2)),
    'history.settled': always(fc.constantFrom(0, 0, 0, 1)),
    'history.outstanding': always(fc.oneof(fc.constant(0), money)),
    'history.days_since_default': always(fc.constantFrom(3650, 3650, 3650, 900, 40)),
    'history.requests_7_days': always(fc.constantFrom(0, 0, 1, 3, 12)),
    'history.open_in_other_currency': always(fc.constantFrom(0, 0, 0, 1)),
    'offers.open_amount': always(fc.oneof(fc.constant(0), fc.constant(0), money)),
    'offers.open_in_other_currency': always(fc.constantFrom(0, 0, 0, 0, 1)),
    'history.defaults': always(fc.constantFrom(0, 0, 0, 0, 1)),
    'history.abuse': always(fc.constantFrom(0, 0, 0, 0, 1)),
    'request.product': always(fc.constantFrom('default', 'personal_loan', 'something_else')),
    'request.amount': fc.oneof(always(money), fc.constant<Fact>({ missing: 'not_requested' })),
    'request.currency': always(fc.constantFrom('EUR', 'JPY', 'XAU')),
  })
  .map((features) => ({ format: 1, features }))

/** The features of an applicant without any adverse fact. */
export const GOOD = {
  'identity.verified_strong': 2,
  'identity.failed': 0,
  'identity.conflicts': 0,
  'consent.credit_underwriting': 'granted',
  'cashflow.days_observed': 360,
  'cashflow.days_since_last': 2,
  'cashflow.monthly_income': 4200,
  'cashflow.recurring_income': 4200,
  'cashflow.other_income': 0,
  'cashflow.stopped_income': 0,
  'cashflow.circular_share': 0,
  'cashflow.other_currencies': 0,
  'cashflow.debits_in_other_currencies': 0,
  'cashflow.lowest_income_to_outflow': 1.95,
  'cashflow.monthly_spending': 2050,
  'cashflow.monthly_debt_service': 0,
  'cashflow.outflow_to_income': 0.49,
  'cashflow.lowest_balance': 8600,
  'cashflow.reserve': 9000,
  'cashflow.average_balance': 15_000,
  'cashflow.balances_reconciled': 1,
  'cashflow.debits_with_balance': 1,
  'cashflow.low_balance_share': 0,
  'cashflow.overdrawn_days_90': 0,
  'cashflow.overdrawn_days_365': 0,
  'cashflow.returned_payments': 0,
  'graph.negative_exposure': 0,
  'request.amount': 6000,
  'request.currency': 'EUR',
} as const
