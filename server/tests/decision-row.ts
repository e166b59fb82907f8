import type { NewDecision } from '../src/store/write-path/change.ts'

/** A decision that was approved without any facts, for tests that write one without deciding. */
export function decisionRow(given: Pick<NewDecision, 'id' | 'entity_id'> & Partial<NewDecision>): NewDecision {
  return {
    entity_version: 1,
    product: 'credit_line',
    verdict: 'approve',
    risk_tier: 'A',
    policy_version: 'sandbox-policy-v1',
    requested_amount: null,
    currency: null,
    recommended_limit: null,
    score: null,
    score_cutoff: null,
    term_months: null,
    reason_codes: '',
    reference: null,
    created_at: '2026-11-16T09:30:00.000Z',
    // No entity has this, so nothing is decided again.
    madeOn: '',
    documents: { body: '{}', facts: '{}', trace: '{}', graph: '{}' },
    ...given,
  }
}
