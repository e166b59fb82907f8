/**
 * The columns of a table that hold text or bytes, by what they may hold. Numbers and times are not classed: they tell of
 * a person only while their row leads to one.
 */
export interface TextColumns {
  /** Personal: what callers sent about an entity, and what was derived from it. A keyed hash is still about a person. */
  ofEntities?: readonly string[]
  /** Personal: who operators, reviewers and users of the operating system are, and what they sign in with and from. */
  ofOperators?: readonly string[]
  /** Personal: free text of operators and reviewers, and answers of other systems, which may name any person. */
  words?: readonly string[]
  /**
   * Not personal: what the service made, such as ids, hashes, MACs and messages. The id of an entity or an operator leads
   * to a person only while the row with this id does.
   */
  made?: readonly string[]
  /** Not personal: kinds, states, units, months, and codes that the service, a policy or a caller gives to many rows. */
  kinds?: readonly string[]
  /** Not personal: how the installation is set up, such as names of organizations, secrets, and addresses of receivers. */
  settings?: readonly string[]
}

/** The classes whose columns may hold personal data: an erasure has to know all of them. */
export const PERSONAL_CLASSES = ['ofEntities', 'ofOperators', 'words'] as const satisfies (keyof TextColumns)[]

type ClassedTables = Readonly<Record<string, TextColumns>>

const schema_migrations: TextColumns = { made: ['name', 'sha256'] }
const node_heartbeats: TextColumns = { made: ['node'] }

/** The text columns of every table of an environment, classed. */
export const environmentColumns: ClassedTables = {
  api_keys: {
    words: ['name'],
    made: ['org_id', 'id', 'key_hash', 'last_four', 'replaces', 'entry_id', 'mac'],
    kinds: ['scopes'],
  },
  // The key is chosen by the caller, and its hash is not keyed.
  idempotency_keys: { ofEntities: ['key_hash', 'fingerprint', 'body'], made: ['org_id', 'decision_id'] },
  entities: {
    ofEntities: ['external_id', 'display_name', 'country', 'metadata', 'state'],
    made: ['org_id', 'id'],
    kinds: ['type'],
  },
  identity_links: {
    ofEntities: [
      ...['identifier_hash', 'identifier_masked', 'identifier_issuer'],
      ...['verification_method', 'verification_provider', 'verification_reference', 'provided_by'],
    ],
    made: ['org_id', 'id', 'entity_id', 'related_entity_id'],
    kinds: ['identifier_type', 'relationship', 'verification_status'],
  },
  entity_merges: {
    words: ['reason'],
    made: ['org_id', 'id', 'entity_id', 'subject_id', 'members', 'actor_id'],
    kinds: ['effect', 'step', 'actor_type'],
  },
  entity_steps: {
    words: ['reason'],
    made: ['org_id', 'id', 'entity_id', 'actor_id'],
    kinds: ['effect', 'step', 'actor_type'],
  },
  consents: {
    ofEntities: ['evidence_method', 'evidence_reference', 'evidence_document_sha256'],
    made: ['org_id', 'id', 'entity_id'],
    kinds: ['purpose', 'status', 'data_categories'],
  },
  // The id is a hash of the source, which may be the applicant.
  data_sources: {
    ofEntities: ['id', 'name', 'address', 'phone'],
    made: ['org_id', 'entity_id'],
    kinds: ['provides', 'kind'],
  },
  bank_accounts: { ofEntities: ['account', 'masked'], made: ['org_id', 'entity_id'], kinds: ['kind'] },
  transactions: {
    // Callers may send any text as a category.
    ofEntities: ['account', 'external_id', 'category', 'description', 'counterparty_name', 'provided_by'],
    made: ['org_id', 'entity_id', 'batch_id', 'counterparty_entity_id', 'void_batch_id'],
    kinds: ['currency', 'direction'],
  },
  transaction_corrections: { ofEntities: ['replaced'], made: ['org_id', 'id', 'entity_id'] },
  statement_balances: {
    ofEntities: ['account', 'provided_by'],
    made: ['org_id', 'entity_id', 'batch_id'],
    kinds: ['currency', 'kind'],
  },
  // The hash is of the features alone and not keyed: few features can be guessed from it.
  feature_snapshots: {
    ofEntities: ['source', 'features', 'sha256', 'provided_by'],
    made: ['org_id', 'id', 'entity_id'],
  },
  events: { made: ['org_id', 'id', 'data'], kinds: ['type'] },
  audit_entries: {
    // Among them may be the keyed hash of a request's reference.
    ofEntities: ['hashes'],
    // The actor may be a user of the operating system; the subject may be the hash of a person at an identity provider.
    ofOperators: ['trail_id', 'actor_id', 'subject_id'],
    // Reasons of operators, users of the operating system, names of API keys, hashes of feature snapshots.
    words: ['data'],
    made: ['org_id', 'id', 'request_id', 'mac'],
    kinds: ['type', 'actor_type', 'subject_type'],
  },
  audit_flushes: { made: ['org_id', 'entry_ids', 'leaf_hashes', 'mac'] },
  audit_pending: { made: ['org_id', 'entry_ids', 'leaf_hashes', 'mac'] },
  audit_nodes: { made: ['org_id', 'hash'] },
  audit_heads: { made: ['org_id', 'root_hash', 'key_id', 'signature'] },
  audit_announced: { made: ['org_id'] },
  // The problems in a result name subjects of entries.
  audit_verifications: {
    ofOperators: ['result'],
    made: ['org_id', 'run_id', 'started_by', 'failure', 'result_by'],
  },
  usage_by_day: { made: ['org_id', 'node'], kinds: ['counter'] },
  usage_by_key: { made: ['org_id', 'node', 'key_id'] },
  decision_latencies: { made: ['org_id', 'node'] },
  leases: { made: ['name', 'holder'] },
  node_heartbeats,
  schema_migrations,

  policies: {
    ofOperators: ['author_id'],
    words: ['document', 'source'],
    made: ['org_id', 'id', 'checksum'],
    kinds: ['version', 'model_version', 'author_type'],
  },
  policy_steps: {
    ofOperators: ['actor_id'],
    words: ['evidence', 'reason'],
    made: ['org_id', 'policy_id', 'checksum'],
    kinds: ['step', 'actor_type'],
  },
  policy_backtests: {
    ofOperators: ['actor_id'],
    made: ['org_id', 'id', 'policy_id', 'checksum', 'result'],
    kinds: ['engine_version', 'actor_type'],
  },
  backtest_runs: { ofOperators: ['started_by'], made: ['org_id', 'run_id', 'policy_id', 'failure'] },
  policy_comments: { words: ['body'], made: ['org_id', 'id', 'policy_id', 'actor_id'], kinds: ['actor_type'] },
  active_policies: { made: ['org_id', 'policy_id', 'checksum'] },

  decisions: {
    ofEntities: ['reference'],
    made: ['org_id', 'id', 'entity_id'],
    kinds: ['product', 'verdict', 'risk_tier', 'policy_version', 'currency', 'reason_codes'],
  },
  document_segments: { ofEntities: ['content'], made: ['org_id', 'decision_ids'] },
  turned_verdicts: { made: ['org_id', 'decision_id'], kinds: ['verdict', 'previous'] },
  reviews: {
    ofOperators: ['reviewer_id'],
    words: ['body'],
    made: ['org_id', 'id', 'decision_id', 'entity_id'],
    kinds: ['verdict'],
  },
  cases: { made: ['org_id', 'id', 'entity_id', 'assignee_id', 'review_id', 'signature_id', 'signer_id'] },
  case_signatures: { words: ['body'], made: ['org_id', 'id', 'case_id', 'entity_id', 'signer_id'] },
  waiting_reviews: { made: ['org_id', 'decision_id', 'case_id'] },
  case_notes: { words: ['text'], made: ['org_id', 'id', 'case_id', 'entity_id', 'author_id'] },
  outcomes: { ofEntities: ['body'], made: ['org_id', 'id', 'decision_id', 'entity_id'], kinds: ['type'] },
  outcome_retractions: {
    words: ['reason'],
    made: ['org_id', 'id', 'outcome_id', 'entity_id', 'actor_id'],
    kinds: ['step', 'actor_type'],
  },
  open_offers: { ofEntities: ['offers'], made: ['org_id', 'entity_id'] },
  playground_scenarios: { words: ['name', 'request'], made: ['org_id', 'id', 'saved_by'] },

  // A claim is the keyed hash of an identifier, or a relationship between two entities.
  graph_links: { ofEntities: ['claim'], made: ['org_id', 'entity_id', 'neighbour_id'], kinds: ['type'] },
  graph_claims: { ofEntities: ['claim'], made: ['org_id'] },
  identifier_holders: { ofEntities: ['identifier_hash'], made: ['org_id', 'entity_id'] },
  graph_track_records: { ofEntities: ['tallies'], made: ['org_id', 'entity_id'] },
  graph_exposures: { ofEntities: ['summary', 'trust'], made: ['org_id', 'entity_id'] },
  trust_history: { made: ['org_id', 'entity_id'] },
  payment_flows: { made: ['org_id', 'entity_id', 'counterparty_id'], kinds: ['currency', 'month'] },
  consequences: { made: ['org_id', 'entity_id', 'mark', 'failed_mark'], kinds: ['kind'] },
  unchecked_decisions: { made: ['org_id', 'made_on'] },
  erasures: { made: ['org_id', 'entity_id', 'entry_id'] },
  erasures_compared: { made: ['place'] },

  webhook_endpoints: {
    words: ['description', 'disabled_why'],
    made: ['org_id', 'id'],
    kinds: ['event_types', 'state'],
    settings: ['url', 'shown_url', 'secret', 'previous_secret'],
  },
  webhook_deliveries: {
    made: ['org_id', 'endpoint_id', 'event_id'],
    kinds: ['event_type', 'state', 'last_answer'],
  },
  webhook_attempts: {
    words: ['response'],
    made: ['org_id', 'endpoint_id', 'event_id', 'error', 'signature', 'user_agent'],
  },
  webhook_attempts_by_hour: { made: ['org_id', 'endpoint_id', 'node'] },
}

/** The text columns of every table of the control database, classed. */
export const controlColumns: ClassedTables = {
  installation: {
    made: ['first_organization_id'],
    settings: ['master_key_check', 'retired_master_keys', 'next_master_key_check'],
  },
  organizations: { made: ['id'], settings: ['name'] },
  operators: {
    ofOperators: ['email', 'name'],
    made: ['org_id', 'id', 'account_id', 'entry_id', 'mac'],
    kinds: ['role'],
  },
  operator_codes: { ofOperators: ['secret'], made: ['org_id', 'operator_id', 'entry_id', 'mac'] },
  live_gate_approvals: { words: ['reason'], made: ['org_id', 'operator_id', 'entry_id', 'mac'] },
  entries_to_record: { words: ['entry'], made: ['org_id'] },
  node_heartbeats,
  schema_migrations,

  accounts: { ofOperators: ['email', 'name', 'password_hash'], made: ['id', 'entry_id', 'mac'] },
  account_preferences: { made: ['account_id'], kinds: ['number_notation'] },
  account_codes: { ofOperators: ['secret'], made: ['account_id', 'entry_id', 'mac'] },
  recovery_codes: { ofOperators: ['code_hash'], made: ['account_id', 'entry_id', 'mac'] },
  passkeys: {
    ofOperators: ['credential_id', 'public_key', 'name'],
    made: ['id', 'account_id', 'after_entry_id', 'entry_id', 'mac'],
    kinds: ['transports'],
  },
  sessions: {
    ofOperators: ['address', 'user_agent'],
    made: ['token_hash', 'id', 'account_id', 'after_entry_id', 'entry_id', 'mac'],
    kinds: ['method'],
  },
  // The page makes the key; the fingerprint is a keyed hash of what a person typed, and the body the encrypted answer.
  act_keys: { words: ['fingerprint', 'body'], made: ['account_id', 'key'] },
  sign_in_challenges: { made: ['token_hash', 'account_id', 'mac'], kinds: ['purpose'] },
  used_challenges: { made: ['token_hash'] },
  // The hash of an e-mail, the address of a network, a device or a session.
  sign_in_failures: { ofOperators: ['subject'] },
  invitations: { made: ['org_id', 'id', 'operator_id', 'token_hash', 'entry_id', 'mac'] },
  first_link: { made: ['token_hash', 'entry_id', 'mac'] },
  account_identities: {
    ofOperators: ['subject'],
    made: ['account_id', 'after_entry_id', 'entry_id', 'mac'],
    settings: ['issuer'],
  },
}
