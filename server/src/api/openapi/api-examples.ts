/**
 * The examples of the API document: one applicant from the first request to the outcome, written by hand. A test sends every
 * request to a real service, in this order, and compares the answers.
 */

import { EVIDENCE_EXAMPLE } from './evidence-example.ts'

/** One example of an operation: its request, and what it is answered. */
export interface ApiExample {
  operationId: string
  /** Set if the operation shows several examples: what this one shows. */
  title?: string
  query?: Record<string, string>
  request?: unknown
  /** The request was answered more than a day before. */
  isLateRetry?: true
  status: number
  reply: Record<string, unknown>
}

const ENTITY = 'ent_06fk3v8tz9y7q2m4n6p8r0s1t3'
const DECISION = 'dec_06fk3v8tz9y7q2m4n6p8r0s1t3'
const REQUEST = 'req_06fk3v8tz9y7q2m4n6p8r0s1t3'
const NOW = '2026-11-16T09:30:00.000Z'
const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

const entity = {
  id: ENTITY,
  object: 'entity',
  environment: 'sandbox',
  external_id: 'customer-1042',
  type: 'business',
  display_name: 'Nordwind Bakery',
  country: 'DE',
  metadata: { crm_id: '8841' },
  trust: { score: 0.5, negative_exposure: 0, positive_support: 0, evidence_count: 0, as_of: NOW },
  created_at: NOW,
  updated_at: NOW,
}

const decision = {
  id: DECISION,
  object: 'underwriting_decision',
  environment: 'sandbox',
  verdict: 'manual_review',
  repayment_probability: 0.8172,
  risk_tier: 'C-',
  confidence: 0.5247,
  reason_codes: [
    { code: 'short_history', label: 'Fewer than 75 days of transactions', impact: 'negative' },
    {
      code: 'transactions_missing',
      label: 'Bank transactions to assess income and spending are missing, too few or too old',
      impact: 'negative',
    },
    {
      code: 'solid_reserves',
      label: 'Every payment, over up to 180 days, left two or more monthly instalments in the account',
      impact: 'positive',
    },
  ],
  model_version: 'sandbox-policy-v1',
  policy_version: 'sandbox-policy-v1',
  policy_checksum: SHA256,
  request_id: REQUEST,
  created_at: NOW,
}

const identification = {
  identifier: { type: 'tax_id', value: '12-3456789', issuer: 'DE' },
  verification: { status: 'verified', method: 'registry', verified_at: '2026-11-10T08:00:00.000Z' },
}

const consent = {
  purpose: 'credit_underwriting',
  data_categories: ['identity', 'transactions', 'features', 'graph'],
  granted_at: '2026-11-15T18:00:00.000Z',
  expires_at: '2027-11-15T18:00:00.000Z',
  evidence: { method: 'in_app', reference: 'consent-77' },
}

const snapshot = {
  source: 'bureau',
  as_of: '2026-11-14T00:00:00.000Z',
  features: { 'bureau.open_loans': 2, years_in_business: 7 },
  provided_by: { kind: 'credit_bureau', name: 'Auskunft AG' },
}

const application = { entity_id: ENTITY, product: 'business_credit_line', requested_amount: 5000, currency: 'EUR' }

const review = {
  verdict: 'approve_with_conditions',
  reviewer: { id: 'u-17', name: 'Jo Doe' },
  reason: 'Annual accounts seen.',
  conditions: [{ code: 'guarantee', label: 'The owner guarantees the loan' }],
  recommended_limit: 3000,
  currency: 'EUR',
}

const outcome = { type: 'funded', occurred_at: NOW, amount: 3000, currency: 'EUR' }

const log = { environment: 'sandbox', organization_id: 'org_6fk3v8tz9y' }
const checkpoint = {
  tree_size: 12,
  root_hash: SHA256,
  signed_at: NOW,
  key_id: '79de381fdebf3c0b',
  signature: SHA256 + SHA256,
}

const transactionBatch = {
  id: 'txb_06fk3v8tz9y7q2m4n6p8r0s1t3',
  object: 'transaction_batch',
  entity_id: ENTITY,
  received: 0,
  accepted: 0,
  duplicates: 0,
  conflicts: 0,
  corrected: 0,
  voided: 0,
  conflicting_ids: [],
  balances: 0,
  unrecognized_categories: 0,
  created_at: NOW,
}

const savings = { id: 'DE89 3704 0044 0532 0130 00', kind: 'savings', holders: 2 }

const decisionEntry = {
  id: 'aud_06fk3v8tz9y7q2m4n6p8r0s1t3',
  object: 'audit_entry',
  seq: 6,
  trail_id: ENTITY,
  type: 'decision.created',
  occurred_at: NOW,
  actor: { type: 'api_key', id: 'key_06fk3v8tz9y7q2m4n6p8r0s1t3' },
  request_id: REQUEST,
  subject: { type: 'decision', id: DECISION },
  data: {
    entity_id: ENTITY,
    decision_id: DECISION,
    product: 'business_credit_line',
    verdict: 'manual_review',
    policy_version: 'sandbox-policy-v1',
    policy_checksum: SHA256,
    decision_sha256: SHA256,
    facts_sha256: SHA256,
    trace_sha256: SHA256,
    graph_sha256: SHA256,
  },
  leaf_hash: SHA256,
  leaf_index: 9,
}

const counts = {
  requests: 12,
  errors: 0,
  decisions: 1,
  entities: 1,
  transactions: 2,
  webhook_deliveries: 0,
}

/** Every operation of the API, in the order in which a caller would use them. */
export const API_EXAMPLES: readonly ApiExample[] = [
  {
    operationId: 'createEntity',
    request: {
      external_id: 'customer-1042',
      type: 'business',
      display_name: 'Nordwind Bakery',
      country: 'DE',
      metadata: { crm_id: '8841' },
    },
    status: 201,
    reply: entity,
  },
  { operationId: 'createEntity', request: { external_id: 'customer-1042' }, status: 200, reply: entity },
  { operationId: 'retrieveEntity', status: 200, reply: entity },
  {
    operationId: 'createIdentityLink',
    request: identification,
    status: 201,
    reply: {
      id: 'idl_06fk3v8tz9y7q2m4n6p8r0s1t3',
      object: 'identity_link',
      entity_id: ENTITY,
      identifier: { ...identification.identifier, value: '****789' },
      verification: identification.verification,
      created_at: NOW,
    },
  },
  {
    operationId: 'recordConsent',
    request: consent,
    status: 201,
    reply: {
      id: 'con_06fk3v8tz9y7q2m4n6p8r0s1t3',
      object: 'consent',
      entity_id: ENTITY,
      status: 'granted',
      ...consent,
      created_at: NOW,
    },
  },
  {
    operationId: 'ingestTransactions',
    title: 'Transactions with the balance after each',
    request: {
      transactions: [
        {
          external_id: 't-1',
          occurred_at: '2026-10-30T08:00:00.000Z',
          amount: 2400.5,
          currency: 'EUR',
          direction: 'credit',
          balance_after: 5120.75,
          category: 'sales',
        },
        {
          external_id: 't-2',
          occurred_at: '2026-11-02T08:00:00.000Z',
          amount: 310,
          currency: 'EUR',
          direction: 'debit',
          balance_after: 4810.75,
          category: 'loan_repayment',
          description: 'Loan 4711',
          counterparty: { name: 'Stadtbank' },
        },
      ],
    },
    status: 201,
    reply: { ...transactionBatch, received: 2, accepted: 2 },
  },
  {
    operationId: 'submitFeatureSnapshot',
    request: snapshot,
    status: 201,
    reply: {
      id: 'fsn_06fk3v8tz9y7q2m4n6p8r0s1t3',
      object: 'feature_snapshot',
      entity_id: ENTITY,
      ...snapshot,
      sha256: 'd308d9b99df18a89888c9f5a18c7a3da01a78eb736fdb61e9f764d09f1df3d34',
      created_at: NOW,
    },
  },
  { operationId: 'underwrite', request: application, status: 201, reply: decision },
  { operationId: 'underwrite', request: application, status: 200, isLateRetry: true, reply: decision },
  { operationId: 'retrieveDecision', status: 200, reply: decision },
  {
    operationId: 'replayDecision',
    status: 200,
    reply: {
      object: 'decision_replay',
      decision_id: DECISION,
      matches: true,
      differences: [],
      decision,
      replayed: decision,
      evidence: EVIDENCE_EXAMPLE,
      reviews: [],
      outcomes: [],
      audit: {
        entry_id: decisionEntry.id,
        entry: decisionEntry,
        log,
        leaf_index: 9,
        inclusion_proof: [SHA256],
        checkpoint,
      },
      replayed_at: NOW,
    },
  },
  {
    operationId: 'submitReview',
    request: review,
    status: 201,
    reply: {
      id: 'rev_06fk3v8tz9y7q2m4n6p8r0s1t3',
      object: 'review',
      decision_id: DECISION,
      entity_id: ENTITY,
      overrides: false,
      ...review,
      created_at: NOW,
    },
  },
  {
    operationId: 'recordOutcome',
    request: outcome,
    status: 201,
    reply: {
      id: 'out_06fk3v8tz9y7q2m4n6p8r0s1t3',
      object: 'outcome',
      decision_id: DECISION,
      entity_id: ENTITY,
      ...outcome,
      created_at: NOW,
    },
  },
  {
    operationId: 'listAuditTrail',
    query: { limit: '3' },
    status: 200,
    reply: {
      object: 'list',
      data: [decisionEntry],
      has_more: true,
      next_cursor: 'djE6NjplbnRfMDZmazN2OHR6OXk3cTJtNG42cDhyMHMxdDM',
      log,
      checkpoint,
    },
  },
  {
    operationId: 'retrieveUsage',
    query: { from: '2026-11-01', to: '2026-11-16' },
    status: 200,
    reply: {
      object: 'usage_summary',
      environment: 'sandbox',
      period: { start: '2026-11-01', end: '2026-11-16' },
      totals: counts,
      decisions_by_verdict: { approve: 0, approve_with_conditions: 0, manual_review: 1, decline: 0 },
      by_day: [{ date: '2026-11-16', ...counts }],
      limits: {
        requests_per_second: 5000,
        request_burst: 10000,
        body_bytes_max: 1048576,
        transactions_per_batch_max: 1000,
      },
    },
  },
  {
    operationId: 'sendWebhookTest',
    status: 202,
    reply: {
      object: 'webhook_test',
      event_id: 'evt_06fk3v8tz9y7q2m4n6p8r0s1t3',
      endpoints: [{ id: 'whe_06fk3v8tz9y7q2m4n6p8r0s1t3', url: 'https://example.com/****', status: 'queued' }],
    },
  },
  {
    operationId: 'ingestTransactions',
    title: 'A statement of a joint account with its opening and closing balance',
    request: {
      transactions: [
        {
          external_id: 's-1',
          account: savings,
          occurred_at: '2026-10-15T00:00:00.000Z',
          amount: 12.5,
          currency: 'EUR',
          direction: 'credit',
          category: 'interest',
        },
      ],
      balances: [
        { account: savings, as_of: '2026-10-01', kind: 'opening', amount: 8000, currency: 'EUR' },
        { account: savings, as_of: '2026-10-31', kind: 'closing', amount: 8012.5, currency: 'EUR' },
      ],
      provided_by: { kind: 'bank', name: 'Stadtbank', address: 'Markt 1, 20095 Hamburg', phone: '+49 40 5550 0100' },
    },
    status: 201,
    reply: { ...transactionBatch, received: 1, accepted: 1, balances: 2 },
  },
  {
    operationId: 'ingestTransactions',
    title: 'A correction, a void, and a transaction that conflicts with the recorded one',
    request: {
      transactions: [
        {
          external_id: 't-1',
          corrects: true,
          occurred_at: '2026-10-30T08:00:00.000Z',
          amount: 2400.05,
          currency: 'EUR',
          direction: 'credit',
          balance_after: 5120.3,
          category: 'sales',
        },
        { external_id: 't-2', voided: true },
        {
          external_id: 's-1',
          account: savings,
          occurred_at: '2026-10-15T00:00:00.000Z',
          amount: 15.2,
          currency: 'EUR',
          direction: 'credit',
          category: 'interest',
        },
      ],
    },
    status: 201,
    reply: { ...transactionBatch, received: 3, corrected: 1, voided: 1, conflicts: 1, conflicting_ids: ['s-1'] },
  },
]
