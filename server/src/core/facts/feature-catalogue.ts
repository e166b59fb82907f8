import { CROWD_MAX } from '../graph/link.ts'
import type { DataCategory, FeatureType } from '../vocabularies.ts'
import type { MissingBecause } from './facts.ts'
import { DEFAULT_DAYS_MAX } from './history-facts.ts'
import { REQUESTS_COUNTED_MAX } from './velocity-facts.ts'

/** The definition of a feature, which policies are checked against. */
export interface FeatureDefinition {
  type: FeatureType
  label: string
  unit: string
  source: string
  /** Days after which half of a value's information is lost; null if values do not age. */
  half_life_days: number | null
  /** The data category whose consent covers the feature; if that is revoked or expired, the feature is missing. */
  data_category: DataCategory | null
  /** Every reason for which it can be missing; on top of them, a policy may find the value stale. */
  missing_because: readonly MissingBecause[]
}

type Shared = Omit<FeatureDefinition, 'type' | 'label' | 'unit'>

const WITHHELD: readonly MissingBecause[] = ['consent_revoked', 'consent_expired']

const IDENTITY: Shared = {
  source: 'identity links with an identifier',
  half_life_days: 1095,
  data_category: 'identity',
  missing_because: ['no_data', ...WITHHELD],
}
const CONSENT: Shared = {
  source: 'consents',
  half_life_days: null,
  data_category: null,
  missing_because: [],
}
const CASHFLOW: Shared = {
  source: 'transactions in the currency of the request',
  half_life_days: 90,
  data_category: 'transactions',
  missing_because: ['no_data', 'other_currency', 'not_requested', ...WITHHELD],
}
const FLOW: Shared = {
  ...CASHFLOW,
  missing_because: ['no_data', 'too_short', 'other_currency', 'not_requested', ...WITHHELD],
}
/** Counted from the moment of the decision, so it never ages. */
const CASHFLOW_NOW: Shared = { ...CASHFLOW, half_life_days: null }
const FLOW_NOW: Shared = { ...FLOW, half_life_days: null }
const CONDUCT: Shared = {
  ...CASHFLOW,
  source: 'transactions in any currency',
  missing_because: ['no_data', 'not_requested', ...WITHHELD],
}
const CONDUCT_NOW: Shared = { ...CONDUCT, half_life_days: null }
const GRAPH: Shared = {
  source: 'the trust graph',
  half_life_days: null,
  data_category: 'graph',
  missing_because: WITHHELD,
}
const DEVICES: Shared = {
  ...GRAPH,
  source: 'identity links with a device',
  missing_because: ['no_data', ...WITHHELD],
}
const HISTORY: Shared = {
  source: 'outcomes of earlier decisions',
  half_life_days: null,
  data_category: null,
  missing_because: [],
}
const OPEN_CREDIT: Shared = { ...HISTORY, missing_because: ['not_requested'] }
const OFFERS: Shared = { ...HISTORY, source: 'earlier approvals that were not taken up yet' }
const OPEN_OFFERS: Shared = { ...OFFERS, missing_because: ['not_requested'] }

const REQUESTS: Shared = { ...HISTORY, source: 'earlier decisions' }

const ENTITY: Shared = {
  source: 'the entity',
  half_life_days: null,
  data_category: null,
  missing_because: ['no_data'],
}
const REQUEST: Shared = {
  source: 'the request',
  half_life_days: null,
  data_category: null,
  missing_because: ['not_requested'],
}
const PRODUCT: Shared = { ...REQUEST, missing_because: [] }
const MEASURED_REQUEST: Shared = {
  ...CASHFLOW,
  source: "the request under the policy's terms, against transactions",
  missing_because: ['not_requested'],
}
/** A feature measured against another one is also missing whenever that one is. */
const measuredAgainst = ({ missing_because }: Shared): Shared => ({
  ...MEASURED_REQUEST,
  missing_because,
})

const number = (shared: Shared, label: string, unit: string): FeatureDefinition => ({
  type: 'number',
  label,
  unit,
  ...shared,
})
const text = (shared: Shared, label: string, unit: string): FeatureDefinition => ({
  type: 'string',
  label,
  unit,
  ...shared,
})

const CONSENT_STATUS = 'granted, revoked, expired or none'

/** Every feature that the engine derives; `snapshot.*` features are typed by the policy that uses them. */
export const FEATURE_CATALOGUE = {
  'identity.verified_strong': number(IDENTITY, 'Verified government, tax, registration or bank identifiers', 'types'),
  'identity.verified_weak': number(IDENTITY, 'Verified email, phone, device or address', 'types'),
  'identity.failed': number(IDENTITY, 'Identifiers whose latest verification failed', 'identifiers'),
  'identity.conflicts': number(IDENTITY, 'Types of which two identifiers of one issuer are verified', 'types'),

  'consent.credit_underwriting': text(CONSENT, 'Consent to underwriting', CONSENT_STATUS),
  'consent.identity_verification': text(CONSENT, 'Consent to identity verification', CONSENT_STATUS),
  'consent.transaction_analysis': text(CONSENT, 'Consent to the analysis of transactions', CONSENT_STATUS),
  'consent.data_sharing': text(CONSENT, 'Consent to the sharing of data', CONSENT_STATUS),
  'consent.identity_data': text(CONSENT, 'Whether identity data may be looked at', 'open, revoked or expired'),

  'cashflow.days_observed': number(CASHFLOW, 'Days over which the account was observed, within the last 365', 'days'),
  'cashflow.days_since_last': number(CASHFLOW_NOW, 'Days since the account was last observed', 'days'),
  'cashflow.monthly_income': number(FLOW, 'Monthly income now: what recurs, and the mean of all other income', 'money'),
  'cashflow.recurring_income': number(FLOW, 'Monthly income from payers that pay regularly and still do', 'money'),
  'cashflow.other_income': number(FLOW, 'Mean monthly income that does not recur, over 365 days', 'money'),
  'cashflow.stopped_income': number(FLOW, 'Monthly income that recurred and stopped, within 365 days', 'money'),
  'cashflow.days_since_recurring': number(
    FLOW_NOW,
    'Days since the largest recurring income, running or stopped, was last paid',
    'days',
  ),
  'cashflow.circular_share': number(
    CASHFLOW,
    'Share of incoming money that left again within days in the same total, over 365 days',
    'share',
  ),
  'cashflow.lowest_income_to_outflow': number(
    FLOW,
    'Income of the leanest five weeks of 180 days ÷ what leaves the account in an average month',
    'ratio',
  ),
  'cashflow.monthly_spending': number(FLOW, 'Mean monthly spending without loan repayments, over 365 days', 'money'),
  'cashflow.monthly_debt_service': number(
    FLOW,
    'Monthly repayment of existing loans, over 88 or 365 days, whichever is more',
    'money',
  ),
  'cashflow.outflow_to_income': number(
    FLOW,
    'Monthly mean of what left the account ÷ that of income, over 365 days',
    'ratio',
  ),
  'cashflow.lowest_balance': number(
    CASHFLOW,
    'Lowest balance that a debit left in all accounts, over the 180 days before the decision',
    'money',
  ),
  'cashflow.reserve': number(
    CASHFLOW,
    'Balance that debits left in all accounts on nine in ten calendar days, over 180 days',
    'money',
  ),
  'cashflow.average_balance': number(
    CASHFLOW,
    'Average balance that debits left in all accounts, over 180 days',
    'money',
  ),
  'cashflow.balance_variation': number(CASHFLOW, 'How much the balance varies, over 180 days', 'ratio'),
  'cashflow.low_balance_share': number(
    CASHFLOW,
    'Share of the days with debits on which they left less than one and a half times their sum, over 180 days',
    'share',
  ),
  'cashflow.last_balance': number(CASHFLOW, 'Balance that is known last, of all accounts', 'money'),
  'cashflow.balances_reconciled': number(
    CASHFLOW,
    'Share of the balances that follow from the balance before, over 365 days',
    'share',
  ),
  'cashflow.debits_with_balance': number(CASHFLOW, 'Share of the debits that report a balance, over 365 days', 'share'),
  'cashflow.applicant_share': number(
    CASHFLOW,
    'Share of the transactions that the applicant provided, over 365 days',
    'share',
  ),
  'cashflow.independent_share': number(
    CASHFLOW,
    'Share of the transactions that a bank, an aggregator, a credit bureau or own records provided, over 365 days',
    'share',
  ),
  'cashflow.deepest_overdraft': number(
    CASHFLOW,
    'How far below zero the balance of an account was, within 365 days',
    'money',
  ),
  'cashflow.owed': number(CASHFLOW, 'Owed on the cards and loans on file, by their last balances', 'money'),
  'cashflow.overdrawn_days_30': number(CONDUCT, 'Days on which a payment left the balance below zero, of 30', 'days'),
  'cashflow.overdrawn_days_90': number(CONDUCT, 'Days on which a payment left the balance below zero, of 90', 'days'),
  'cashflow.overdrawn_days_365': number(CONDUCT, 'Days on which a payment left the balance below zero, of 365', 'days'),
  'cashflow.other_currencies': number(
    CONDUCT_NOW,
    'Other currencies with income on three or more of 365 days',
    'currencies',
  ),
  'cashflow.debits_in_other_currencies': number(
    CONDUCT_NOW,
    'Share of the debits, by number, that are in other currencies than the request, over 365 days',
    'share',
  ),
  'cashflow.returned_payments': number(CONDUCT, 'Returned payments, over 365 days', 'payments'),

  'graph.negative_exposure': number(GRAPH, 'Exposure to bad outcomes of linked entities', 'share'),
  'graph.negative_exposure_without_payments': number(GRAPH, 'The same, without links that are only payments', 'share'),
  'graph.positive_support': number(GRAPH, 'Support by good outcomes of linked entities', 'share'),
  'graph.device_holders': number(
    DEVICES,
    `Entities that have the same device, itself among them; ${CROWD_MAX + 1} stands for all beyond ${CROWD_MAX}`,
    'entities',
  ),
  'graph.evidence_count': number(GRAPH, 'Linked entities with outcomes', 'entities'),

  'history.requests_7_days': number(
    REQUESTS,
    `Requests in the 7 days before this one, at most ${REQUESTS_COUNTED_MAX}`,
    'requests',
  ),
  'history.requests_30_days': number(
    REQUESTS,
    `Requests in the 30 days before this one, at most ${REQUESTS_COUNTED_MAX}`,
    'requests',
  ),
  'history.repaid': number(HISTORY, 'Earlier credits repaid without a default', 'decisions'),
  'history.late': number(HISTORY, 'Credits last reported as paid late', 'decisions'),
  'history.settled': number(HISTORY, 'Earlier credits settled for less than was owed', 'decisions'),
  'history.defaults': number(HISTORY, 'Defaults and charge-offs that were not made good', 'decisions'),
  'history.abuse': number(HISTORY, 'Confirmed fraud and abuse of access', 'decisions'),
  'history.worst_days_past_due': number(HISTORY, 'Longest delay of a payment', 'days'),
  'history.days_since_default': number(
    HISTORY,
    `Days since the latest default or charge-off, even one made good; ${DEFAULT_DAYS_MAX} at most, and if there was none`,
    'days',
  ),
  'history.largest_repaid': number(
    OPEN_CREDIT,
    'Largest own credit repaid in full, in the currency of the request',
    'money',
  ),
  'history.outstanding': number(
    OPEN_CREDIT,
    'Own credits paid out and not ended, in the currency of the request',
    'money',
  ),
  'history.open_in_other_currency': number(OPEN_CREDIT, 'Own credits not ended, in other currencies', 'credits'),

  'offers.open_count': number(OFFERS, 'Open offers: approvals of credit that may still be taken up', 'offers'),
  'offers.open_amount': number(OPEN_OFFERS, 'Amount of the open offers in the currency of the request', 'money'),
  'offers.open_in_other_currency': number(OPEN_OFFERS, 'Open offers in other currencies', 'offers'),

  'entity.type': text(ENTITY, 'Person, business or institution', 'person, business or institution'),
  'entity.country': text(ENTITY, 'Country', 'ISO 3166-1 alpha-2'),

  'request.product': text(PRODUCT, 'Product', 'code'),
  'request.date': text(PRODUCT, 'Day of the decision in UTC', 'YYYY-MM-DD'),
  'request.hash': number(PRODUCT, 'A stable number of the entity and the product, for samples and pilots', '0 to 9999'),
  'request.currency': text(REQUEST, 'Currency of the request', 'ISO 4217'),
  'request.amount': number(REQUEST, 'Requested amount', 'money'),
  'request.term_months': number(REQUEST, 'Term that the applicant chose', 'months'),
  'request.instalment': number(
    MEASURED_REQUEST,
    "Monthly instalment of the requested amount at the product's terms",
    'money',
  ),
  'request.instalment_to_income': number(measuredAgainst(FLOW), 'Instalment ÷ monthly income', 'ratio'),
  'request.lowest_balance_to_instalment': number(measuredAgainst(CASHFLOW), 'Lowest balance ÷ instalment', 'ratio'),
  'request.reserve_to_instalment': number(measuredAgainst(CASHFLOW), 'Reserve ÷ instalment', 'ratio'),
} as const satisfies Record<string, FeatureDefinition>

/** The name of a feature of the catalogue. */
export type FeatureName = keyof typeof FEATURE_CATALOGUE

/**
 * Whether a characteristic can have to give a reason for the absence of a feature. A value that is missing as `not_requested`
 * needs none: its characteristic does not apply, and scores its reference.
 */
export function needsMissingReason({ missing_because }: FeatureDefinition): boolean {
  return missing_because.some((because) => because !== 'not_requested')
}

/** The catalogue's names that start with `prefix`, such as `cashflow.`. */
export function featureNames(prefix: string): FeatureName[] {
  return (Object.keys(FEATURE_CATALOGUE) as FeatureName[]).filter((name) => name.startsWith(prefix))
}

/** Whether `measureRequest` computes the feature from the policy's terms. */
export function isMeasured(name: string): boolean {
  return findFeature(name)?.source === MEASURED_REQUEST.source
}

/** Finds a feature by name; `snapshot.*` features are not in the catalogue, because callers name them. */
export function findFeature(name: string): FeatureDefinition | undefined {
  return Object.hasOwn(FEATURE_CATALOGUE, name) ? FEATURE_CATALOGUE[name as FeatureName] : undefined
}
