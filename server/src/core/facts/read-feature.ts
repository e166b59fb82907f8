import type { Fact, FactSet } from './facts.ts'
import { type FeatureName, findFeature } from './feature-catalogue.ts'

/** Finds one feature among facts. */
export type ReadFeature = (features: FactSet) => Fact | undefined

/**
 * One function for each name, with the name written in it: engines remember where in an object a name was found, per place
 * in the code, and look for names that come in a variable again and again. It makes reading a policy's inputs twice as fast.
 */
const READERS: Record<FeatureName, ReadFeature> = {
  'identity.verified_strong': (features) => features['identity.verified_strong'],
  'identity.verified_weak': (features) => features['identity.verified_weak'],
  'identity.failed': (features) => features['identity.failed'],
  'identity.conflicts': (features) => features['identity.conflicts'],
  'consent.credit_underwriting': (features) => features['consent.credit_underwriting'],
  'consent.identity_verification': (features) => features['consent.identity_verification'],
  'consent.transaction_analysis': (features) => features['consent.transaction_analysis'],
  'consent.data_sharing': (features) => features['consent.data_sharing'],
  'consent.identity_data': (features) => features['consent.identity_data'],
  'cashflow.months_observed': (features) => features['cashflow.months_observed'],
  'cashflow.median_inflow': (features) => features['cashflow.median_inflow'],
  'cashflow.inflow_variation': (features) => features['cashflow.inflow_variation'],
  'cashflow.lowest_inflow_to_outflow': (features) => features['cashflow.lowest_inflow_to_outflow'],
  'cashflow.mean_spending': (features) => features['cashflow.mean_spending'],
  'cashflow.mean_debt_service': (features) => features['cashflow.mean_debt_service'],
  'cashflow.outflow_to_inflow': (features) => features['cashflow.outflow_to_inflow'],
  'cashflow.lowest_balance': (features) => features['cashflow.lowest_balance'],
  'cashflow.average_balance': (features) => features['cashflow.average_balance'],
  'cashflow.balance_variation': (features) => features['cashflow.balance_variation'],
  'cashflow.low_balance_share': (features) => features['cashflow.low_balance_share'],
  'cashflow.negative_days': (features) => features['cashflow.negative_days'],
  'cashflow.returned_payments': (features) => features['cashflow.returned_payments'],
  'cashflow.last_balance': (features) => features['cashflow.last_balance'],
  'graph.negative_exposure': (features) => features['graph.negative_exposure'],
  'graph.negative_exposure_without_payments': (features) => features['graph.negative_exposure_without_payments'],
  'graph.positive_support': (features) => features['graph.positive_support'],
  'graph.evidence_count': (features) => features['graph.evidence_count'],
  'history.repaid': (features) => features['history.repaid'],
  'history.late': (features) => features['history.late'],
  'history.settled': (features) => features['history.settled'],
  'history.defaults': (features) => features['history.defaults'],
  'history.abuse': (features) => features['history.abuse'],
  'history.worst_days_past_due': (features) => features['history.worst_days_past_due'],
  'history.outstanding': (features) => features['history.outstanding'],
  'history.open_in_other_currency': (features) => features['history.open_in_other_currency'],
  'entity.type': (features) => features['entity.type'],
  'entity.country': (features) => features['entity.country'],
  'request.product': (features) => features['request.product'],
  'request.currency': (features) => features['request.currency'],
  'request.amount': (features) => features['request.amount'],
  'request.instalment': (features) => features['request.instalment'],
  'request.instalment_to_inflow': (features) => features['request.instalment_to_inflow'],
  'request.lowest_balance_to_instalment': (features) => features['request.lowest_balance_to_instalment'],
}

/** The function that finds a feature; those of callers' snapshots have names that nobody knows beforehand. */
export function readerOf(name: string): ReadFeature {
  // Every feature name has a dot in it, and nothing an object inherits does.
  return findFeature(name) ? READERS[name as FeatureName] : (features) => features[name]
}
