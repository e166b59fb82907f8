import type { DataCategory, FeatureType } from '../vocabularies.ts'
import type { MissingBecause } from './facts.ts'

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
  /** Whether it can be missing for another reason than `not_requested`. */
  can_be_missing: boolean
  /** Every reason for which it can be missing; on top of them, a policy may find the value stale. */
  missing_because: readonly MissingBecause[]
}

type Shared = Omit<FeatureDefinition, 'type' | 'label' | 'unit'>

const WITHHELD: readonly MissingBecause[] = ['consent_revoked', 'consent_expired']

const IDENTITY: Shared = {
  source: 'identity links with an identifier',
  half_life_days: 1095,
  data_category: 'identity',
  can_be_missing: true,
  missing_because: ['no_data', ...WITHHELD],
}
const CONSENT: Shared = {
  source: 'consents',
  half_life_days: null,
  data_category: null,
  can_be_missing: false,
  missing_because: [],
}
const CASHFLOW: Shared = {
  source: 'transactions in the currency of the request',
  half_life_days: 90,
  data_category: 'transactions',
  can_be_missing: true,
  missing_because: ['no_data', 'other_currency', ...WITHHELD],
}
const FLOW: Shared = { ...CASHFLOW, missing_because: ['no_data', 'too_short', 'other_currency', ...WITHHELD] }
const CONDUCT: Shared = {
  ...CASHFLOW,
  source: 'transactions in any currency',
  missing_because: ['no_data', ...WITHHELD],
}
const GRAPH: Shared = {
  source: 'the trust graph',
  half_life_days: null,
  data_category: 'graph',
  can_be_missing: true,
  missing_because: WITHHELD,
}
const HISTORY: Shared = {
  source: 'outcomes of earlier decisions',
  half_life_days: null,
  data_category: null,
  can_be_missing: false,
  missing_because: [],
}
const OPEN_CREDIT: Shared = { ...HISTORY, missing_because: ['not_requested'] }

const ENTITY: Shared = {
  source: 'the entity',
  half_life_days: null,
  data_category: null,
  can_be_missing: true,
  missing_because: ['no_data'],
}
const REQUEST: Shared = {
  source: 'the request',
  half_life_days: null,
  data_category: null,
  can_be_missing: true,
  missing_because: ['not_requested'],
}
const PRODUCT: Shared = { ...REQUEST, can_be_missing: false, missing_because: [] }
const MEASURED_REQUEST: Shared = {
  ...CASHFLOW,
  source: "the request under the policy's terms, against transactions",
  missing_because: ['not_requested'],
}
/** A feature measured against another one is also missing whenever that one is. */
const measuredAgainst = ({ missing_because }: Shared): Shared => ({
  ...MEASURED_REQUEST,
  missing_because: ['not_requested', ...missing_because],
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

  'cashflow.months_observed': number(CASHFLOW, 'Full months of transactions, twelve at most', 'months'),
  'cashflow.median_inflow': number(FLOW, 'Median monthly income over six months', 'money'),
  'cashflow.inflow_variation': number(FLOW, 'How much monthly income varies, over six months', 'ratio'),
  'cashflow.lowest_inflow_to_outflow': number(
    FLOW,
    'Income of the leanest of six months ÷ what leaves the account in an average one',
    'ratio',
  ),
  'cashflow.mean_spending': number(FLOW, 'Mean monthly spending without loan repayments, over six months', 'money'),
  'cashflow.mean_debt_service': number(FLOW, 'Mean monthly repayment of existing loans, over six months', 'money'),
  'cashflow.outflow_to_inflow': number(FLOW, 'Spending ÷ income, over twelve months', 'ratio'),
  'cashflow.lowest_balance': number(CASHFLOW, 'Lowest balance over six months', 'money'),
  'cashflow.average_balance': number(CASHFLOW, 'Average balance over six months', 'money'),
  'cashflow.balance_variation': number(CASHFLOW, 'How much the balance varies, over six months', 'ratio'),
  'cashflow.low_balance_share': number(CASHFLOW, 'Share of debits that left little behind, over six months', 'ratio'),
  'cashflow.negative_days': number(
    CONDUCT,
    'Days on which a payment left the balance below zero, over twelve months',
    'days',
  ),
  'cashflow.returned_payments': number(CONDUCT, 'Returned payments, over twelve months', 'payments'),
  'cashflow.last_balance': number(CASHFLOW, 'Balance after the latest transaction', 'money'),

  'graph.negative_exposure': number(GRAPH, 'Exposure to bad outcomes of linked entities', 'share'),
  'graph.negative_exposure_without_payments': number(GRAPH, 'The same, without links that are only payments', 'share'),
  'graph.positive_support': number(GRAPH, 'Support by good outcomes of linked entities', 'share'),
  'graph.evidence_count': number(GRAPH, 'Linked entities with outcomes', 'entities'),

  'history.repaid': number(HISTORY, 'Earlier credits repaid', 'decisions'),
  'history.late': number(HISTORY, 'Credits last reported as paid late', 'decisions'),
  'history.settled': number(HISTORY, 'Earlier credits settled for less than was owed', 'decisions'),
  'history.defaults': number(HISTORY, 'Defaults and charge-offs that were not made good', 'decisions'),
  'history.abuse': number(HISTORY, 'Confirmed fraud and abuse of access', 'decisions'),
  'history.worst_days_past_due': number(HISTORY, 'Longest delay of a payment', 'days'),
  'history.outstanding': number(
    OPEN_CREDIT,
    'Own credits paid out and not ended, in the currency of the request',
    'money',
  ),
  'history.open_in_other_currency': number(OPEN_CREDIT, 'Own credits not ended, in other currencies', 'credits'),

  'entity.type': text(ENTITY, 'Person, business or institution', 'person, business or institution'),
  'entity.country': text(ENTITY, 'Country', 'ISO 3166-1 alpha-2'),

  'request.product': text(PRODUCT, 'Product', 'code'),
  'request.currency': text(REQUEST, 'Currency of the request', 'ISO 4217'),
  'request.amount': number(REQUEST, 'Requested amount', 'money'),
  'request.instalment': number(
    MEASURED_REQUEST,
    "Monthly instalment of the requested amount at the product's terms",
    'money',
  ),
  'request.instalment_to_inflow': number(measuredAgainst(FLOW), 'Instalment ÷ median monthly income', 'ratio'),
  'request.lowest_balance_to_instalment': number(measuredAgainst(CASHFLOW), 'Lowest balance ÷ instalment', 'ratio'),
} as const satisfies Record<string, FeatureDefinition>

/** The name of a feature of the catalogue. */
export type FeatureName = keyof typeof FEATURE_CATALOGUE

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
