import type { ExposurePath } from '../graph/describe-trust.ts'
import type { CashflowState } from './cashflow-state.ts'
import type { ConsentState } from './consent-state.ts'
import type { HistoryState } from './history-state.ts'
import type { IdentityState } from './identity-state.ts'
import type { SnapshotState } from './snapshot-state.ts'

export { applyTransactions, type TransactionFact } from './cashflow-state.ts'
export { applyConsent, type ConsentFact } from './consent-state.ts'
export { applyOutcome, type OutcomeFact } from './history-state.ts'
export { applyIdentityLink, type IdentityLinkFact } from './identity-state.ts'
export { applyFeatureSnapshot, type FeatureSnapshotFact } from './snapshot-state.ts'

/** What the trust graph says about this entity. */
export interface GraphState {
  negativeExposure: number
  /** What of it rests on links of identity and relationship alone; only this may ever count towards a decline. */
  negativeExposureWithoutPayments: number
  positiveSupport: number
  evidenceCount: number
  asOf?: string
  paths: ExposurePath[]
}

/**
 * All that is kept of one entity's facts, as plain JSON of bounded size.
 *
 * INVARIANT: the state depends on which facts were ingested, never on their order or on how they were batched.
 * Only of two outcomes of a decision, or two values of a feature, of one instant the one sent later is the correction.
 */
export interface EntityState {
  format: 1
  identity: IdentityState
  consents: ConsentState
  cashflow: CashflowState
  snapshot: SnapshotState
  history: HistoryState
  graph: GraphState
}

/** The state of an entity of which nothing is known yet. */
export function emptyState(): EntityState {
  return {
    format: 1,
    identity: {},
    consents: {},
    cashflow: { newestMonth: null, currencies: {} },
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
