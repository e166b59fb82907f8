import { type Fact, type Facts, type FactValue, known, type MissingBecause, missing } from './facts.ts'
import { FEATURE_CATALOGUE, findFeature } from './feature-catalogue.ts'

/** The features that are never missing, with their values for an entity without any facts. */
const NEVER_MISSING: Record<string, FactValue> = {
  'consent.credit_underwriting': 'none',
  'consent.identity_verification': 'none',
  'consent.transaction_analysis': 'none',
  'consent.data_sharing': 'none',
  'consent.identity_data': 'open',
  'history.repaid': 0,
  'history.late': 0,
  'history.settled': 0,
  'history.defaults': 0,
  'history.abuse': 0,
  'history.worst_days_past_due': 0,
  'history.days_since_default': 3650,
  'history.largest_repaid': 0,
  'history.requests_7_days': 0,
  'history.requests_30_days': 0,
  'history.outstanding': 0,
  'history.open_in_other_currency': 0,
  'offers.open_count': 0,
  'offers.open_amount': 0,
  'offers.open_in_other_currency': 0,
  'request.date': '2026-01-15',
  'request.hash': 5000,
  'request.product': 'default',
}

/**
 * Builds facts from plain values, for tests: the given features are known and all others are missing, for the cause in
 * `causes` where there is one. Features that can age are `ageDays` old.
 */
export function factsFrom(
  values: Readonly<Record<string, FactValue>>,
  ageDays?: number,
  causes: Readonly<Record<string, MissingBecause>> = {},
): Facts {
  const isAccess = values['request.amount'] === undefined
  const facts: [string, Fact][] = Object.keys(FEATURE_CATALOGUE).map((name) => [name, missing(absence(name, isAccess))])
  const given = Object.entries({ ...NEVER_MISSING, ...values }).map(([name, value]): [string, Fact] => [
    name,
    known(value, canAge(name) ? ageDays : undefined),
  ])
  const absent = Object.entries(causes).map(([name, because]): [string, Fact] => [name, missing(because)])
  return { format: 1, features: Object.fromEntries([...facts, ...given, ...absent]) }
}

function canAge(feature: string): boolean {
  return findFeature(feature)?.half_life_days !== null
}

/** As in `deriveFacts`, access without credit is decided without bank data. */
function absence(feature: string, isAccess: boolean): 'not_requested' | 'no_data' {
  return feature.startsWith('request.') || (isAccess && feature.startsWith('cashflow.')) ? 'not_requested' : 'no_data'
}
