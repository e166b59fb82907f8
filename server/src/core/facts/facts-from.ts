import { type Fact, type Facts, type FactValue, known, missing } from './facts.ts'
import { FEATURE_CATALOGUE } from './feature-catalogue.ts'

/** What the features that are never missing say about an entity of which nothing is known. */
const NOTHING_KNOWN: Record<string, FactValue> = {
  'consent.credit_underwriting': 'none',
  'consent.identity_verification': 'none',
  'consent.transaction_analysis': 'none',
  'consent.data_sharing': 'none',
  'history.repaid': 0,
  'history.late': 0,
  'history.defaults': 0,
  'history.abuse': 0,
  'history.worst_days_past_due': 0,
  'request.product': 'default',
}

/** Facts written down by hand, for tests and for trying things out: the given features are known, all others missing. */
export function factsFrom(values: Readonly<Record<string, FactValue>>): Facts {
  const facts: [string, Fact][] = Object.keys(FEATURE_CATALOGUE).map((name) => [name, missing(absence(name))])
  const given = Object.entries({ ...NOTHING_KNOWN, ...values }).map(([name, value]): [string, Fact] => [
    name,
    known(value),
  ])
  return { format: 1, features: Object.fromEntries([...facts, ...given]) }
}

function absence(feature: string): 'not_requested' | 'no_data' {
  return feature.startsWith('request.') ? 'not_requested' : 'no_data'
}
