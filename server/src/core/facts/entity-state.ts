import type { ExposureSummary } from '../graph/describe-trust.ts'
import { addToCashflow, type CashflowFacts } from './cashflow/add-to-cashflow.ts'
import type { CashflowState } from './cashflow/cashflow-state.ts'
import type { TransactionFact } from './cashflow/transaction-fact.ts'
import { addConsent, type ConsentFact, type ConsentState } from './consent-state.ts'
import { addOutcome, type HistoryState, type OutcomeFact, removeOutcome } from './history-state.ts'
import { addIdentityLink, type IdentityLinkFact, type IdentityState } from './identity-state.ts'
import { addFeatureSnapshot, type FeatureSnapshotFact, type SnapshotState } from './snapshot-state.ts'

export type { CashflowFacts } from './cashflow/add-to-cashflow.ts'
export { ACCOUNT_DAYS_MAX, countAccountDays } from './cashflow/cashflow-state.ts'
export type { TransactionFact } from './cashflow/transaction-fact.ts'
export type { ConsentFact } from './consent-state.ts'
export type { OutcomeFact } from './history-state.ts'
export type { IdentityLinkFact } from './identity-state.ts'
export { countFeatures, FEATURES_MAX, type FeatureSnapshotFact } from './snapshot-state.ts'

/**
 * Everything that is kept of one entity's facts, as plain JSON of bounded size.
 *
 * INVARIANT: the state depends on which facts were ingested, not on their order or on how they were batched. The
 * exceptions: the one sent later wins of two outcomes of a decision, or two values of a feature, at the same instant, of two
 * balances of a statement, and of what was said of an account.
 */
export interface EntityState {
  format: 1
  identity: IdentityState
  consents: ConsentState
  cashflow: CashflowState
  snapshot: SnapshotState
  history: HistoryState
  graph: ExposureSummary
}

/** The state of an entity without any facts. */
export function emptyState(): EntityState {
  return {
    format: 1,
    identity: {},
    consents: {},
    cashflow: { newestDay: null, accounts: {}, currencies: {} },
    snapshot: {},
    history: { outcomes: {}, openCredits: {}, worstDaysPastDue: 0 },
    graph: {
      negativeExposure: 0,
      negativeExposureWithoutPayments: 0,
      positiveSupport: 0,
      evidenceCount: 0,
      paths: [],
    },
  }
}

/** Adds transactions to the entity's cash flow. */
export function applyTransactions(state: EntityState, transactions: readonly TransactionFact[]): EntityState {
  return applyCashflow(state, { transactions })
}

/** Adds transactions, statement balances, and what is known of accounts. */
export function applyCashflow(state: EntityState, facts: CashflowFacts): EntityState {
  return { ...state, cashflow: addToCashflow(state.cashflow, facts) }
}

/** Adds a grant or a revocation to the entity's consents. */
export function applyConsent(state: EntityState, consent: ConsentFact): EntityState {
  return { ...state, consents: addConsent(state.consents, consent) }
}

/**
 * Adds an outcome to the entity's history; `earlier` are all earlier reports about the same decision, `allOthers` about all,
 * which are needed only if it undoes a repayment (`undoesRepayment`).
 */
export function applyOutcome(
  state: EntityState,
  outcome: OutcomeFact,
  reports: { earlier: readonly OutcomeFact[]; allOthers?: readonly OutcomeFact[] } = { earlier: [] },
): EntityState {
  return { ...state, history: addOutcome(state.history, outcome, reports) }
}

/** Takes an outcome out of the entity's history; `others` are the other reports about its decision, `allOthers` about all. */
export function applyRetraction(
  state: EntityState,
  outcome: OutcomeFact,
  reports: { others: readonly OutcomeFact[]; allOthers: readonly OutcomeFact[] },
): EntityState {
  return { ...state, history: removeOutcome(state.history, outcome, reports) }
}

/** Adds an identity link to the entity's identity summary. */
export function applyIdentityLink(state: EntityState, link: IdentityLinkFact): EntityState {
  return { ...state, identity: addIdentityLink(state.identity, link) }
}

/** Adds a feature snapshot to the entity's features. */
export function applyFeatureSnapshot(state: EntityState, snapshot: FeatureSnapshotFact): EntityState {
  return { ...state, snapshot: addFeatureSnapshot(state.snapshot, snapshot) }
}
