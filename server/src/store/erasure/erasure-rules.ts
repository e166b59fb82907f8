import { NOT_RETRACTED } from '../environment/outcomes.ts'
import { isAboutDecisionOf } from '../write-path/erasure-statements.ts'

/**
 * What an erasure does with the rows of a table. Conditions and statements are SQL with the organization as `$1` and the entity
 * as `$2`; of a condition, the row is `stored`.
 */
export type ErasureRule =
  /** The approval itself does it, in the statement that writes the erasure. */
  | { at: 'approval' }
  /** Deletes the rows that meet a condition; `givesWay` is set for append-only tables, which need the entry of the erasure. */
  | { deletes: string; givesWay?: true }
  /**
   * Deletes at most `limit` rows with a statement of its own, which returns a row for each. `locks` locks rows before, so that the
   * statement sees what others wrote to them.
   */
  | { runs: (limit: number) => string; locks?: string }
  /** Takes texts out of rows that stay, each with an entry on the log (`redactions.ts`). */
  | { redacts: true; deletes?: string; givesWay?: true }
  /** Leaves the rows as they are. */
  | { keeps: string }

const OF_ENTITY = 'stored.entity_id = $2'
const ITS_RECORD: ErasureRule = { deletes: OF_ENTITY, givesWay: true }
const DERIVED: ErasureRule = { deletes: OF_ENTITY }
const OF_POLICIES: ErasureRule = { keeps: 'Operators write it about policies, not about entities.' }
const OF_OPERATORS: ErasureRule = { keeps: 'It is about operators.' }

/**
 * Whether a confirmed fraud of the entity counts. Then its identifiers stay, as the keyed hashes that they are, with the links that
 * they make and the track record of the fraud, so that an erasure does not wash it.
 */
export const HAS_CONFIRMED_FRAUD = `EXISTS (SELECT FROM outcomes WHERE outcomes.org_id = $1 AND outcomes.entity_id = $2
  AND outcomes.type = 'fraud_confirmed' AND ${NOT_RETRACTED})`

/** The events about the entity, but not the one that it was erased. */
const OF_ITS_EVENT = `(stored.event_id IN (SELECT 'evt_' || substr(entry.id, 5) FROM audit_entries AS entry
    WHERE entry.org_id = $1 AND entry.trail_id = $2 AND entry.type <> 'entity.erased')
  OR stored.event_id IN (SELECT event.id FROM events AS event
    WHERE event.org_id = $1 AND event.type <> 'entity.erased' AND strpos(event.data, $2) > 0))`

/** Deletes links from both ends, and has the exposure of the other ends computed anew. */
const deleteLinks = (limit: number) => `WITH own AS (
    SELECT ctid, org_id, entity_id, neighbour_id, type, claim FROM graph_links
    WHERE org_id = $1 AND entity_id = $2 AND NOT (claim <> '' AND ${HAS_CONFIRMED_FRAUD}) LIMIT ${limit}
  ), back AS (
    DELETE FROM graph_links AS link USING own WHERE link.org_id = own.org_id AND link.entity_id = own.neighbour_id
      AND link.neighbour_id = own.entity_id AND link.type = own.type AND link.claim = own.claim
  ), gone AS (
    DELETE FROM graph_links AS link USING own WHERE link.ctid = own.ctid RETURNING link.neighbour_id
  ), told AS (
    INSERT INTO consequences (org_id, kind, entity_id, mark)
    SELECT DISTINCT $1::text, 'exposure', neighbour_id, 'erased ' || $2::text FROM gone ORDER BY neighbour_id
    ON CONFLICT (org_id, kind, entity_id) DO UPDATE SET mark = excluded.mark
  ) SELECT 1 FROM gone`

/** Deletes what is known of holders of identifiers, and counts those of each identifier anew. */
const deleteHolders = (limit: number) => `WITH gone AS (
    DELETE FROM identifier_holders AS holder WHERE holder.ctid = ANY (ARRAY(
      SELECT ctid FROM identifier_holders WHERE org_id = $1 AND entity_id = $2
        AND NOT ((verified_at IS NOT NULL OR unverified_at IS NOT NULL) AND ${HAS_CONFIRMED_FRAUD})
      LIMIT ${limit}))
    RETURNING holder.identifier_hash
  ), others AS (
    SELECT gone.identifier_hash, count(other.entity_id) AS known,
      count(*) FILTER (WHERE other.verified_at IS NOT NULL OR other.unverified_at IS NOT NULL) AS holders,
      count(*) FILTER (WHERE other.verified_at IS NOT NULL) AS verified
    FROM gone LEFT JOIN identifier_holders AS other
      ON other.org_id = $1 AND other.identifier_hash = gone.identifier_hash AND other.entity_id <> $2
    GROUP BY gone.identifier_hash
  ), unclaimed AS (
    DELETE FROM graph_claims AS claim USING others
    WHERE claim.org_id = $1 AND claim.claim = others.identifier_hash AND others.known = 0
  ), counted AS (
    UPDATE graph_claims AS claim SET version = claim.version + 1, holders = others.holders, verified_holders = others.verified
    FROM others WHERE claim.org_id = $1 AND claim.claim = others.identifier_hash AND others.known > 0
  ) SELECT 1 FROM gone`

/** Locks the claims of its identifiers, which every statement writes that adds a holder. */
const LOCK_CLAIMS = `SELECT 1 FROM graph_claims WHERE org_id = $1 AND claim IN (
    SELECT identifier_hash FROM identifier_holders WHERE org_id = $1 AND entity_id = $2)
  ORDER BY claim FOR UPDATE`

/** Deletes the claims of relationships, which name both ends; found by the identity links that state them. */
const deleteRelationshipClaims = (limit: number) => `DELETE FROM graph_claims AS claim
  WHERE claim.org_id = $1 AND claim.claim IN (
    SELECT named.claim FROM (
      SELECT unnest(ARRAY[relationship || ' ' || entity_id || ' ' || related_entity_id,
        relationship || ' ' || related_entity_id || ' ' || entity_id]) AS claim
      FROM identity_links WHERE org_id = $1 AND (entity_id = $2 OR related_entity_id = $2) AND related_entity_id IS NOT NULL
    ) AS named JOIN graph_claims AS known ON known.org_id = $1 AND known.claim = named.claim LIMIT ${limit})
  RETURNING 1`

/** What an erasure does with each table of an environment, in the order in which it does it. */
export const ENVIRONMENT_RULES: Readonly<Record<string, ErasureRule>> = {
  entities: { at: 'approval' },
  // The approval deletes those that name it by its names too; one that was saved meanwhile has its id.
  playground_scenarios: {
    deletes: `(strpos(stored.name || ' ' || stored.request, $2) > 0
      OR ${isAboutDecisionOf('stored', { organization: '$1', entity: '$2' })})`,
  },
  // Keys that made a decision point to it: what they answer is what is left of the decision.
  idempotency_keys: { deletes: 'stored.decision_id IS NULL AND strpos(stored.body, $2) > 0' },

  graph_claims: { runs: deleteRelationshipClaims },
  graph_links: { runs: deleteLinks },
  identifier_holders: { runs: deleteHolders, locks: LOCK_CLAIMS },
  graph_track_records: { deletes: `${OF_ENTITY} AND NOT ${HAS_CONFIRMED_FRAUD}` },
  graph_exposures: DERIVED,
  open_offers: DERIVED,
  trust_history: DERIVED,
  payment_flows: { deletes: `(${OF_ENTITY} OR stored.counterparty_id = $2)` },
  consequences: DERIVED,

  transactions: DERIVED,
  transaction_corrections: ITS_RECORD,
  statement_balances: ITS_RECORD,
  bank_accounts: DERIVED,
  data_sources: ITS_RECORD,
  feature_snapshots: ITS_RECORD,
  consents: ITS_RECORD,
  identity_links: { deletes: `(${OF_ENTITY} OR stored.related_entity_id = $2)`, givesWay: true },
  case_signatures: ITS_RECORD,
  case_notes: ITS_RECORD,

  entity_steps: ITS_RECORD,
  // The steps of entities that it was once merged with stay without their reason.
  entity_merges: { redacts: true, deletes: OF_ENTITY, givesWay: true },
  reviews: { redacts: true },
  outcomes: { redacts: true },
  outcome_retractions: { redacts: true },
  decisions: { redacts: true },
  document_segments: { redacts: true },
  // Open ones cannot be decided any more; of the others, ids and times of what people decided stay.
  waiting_reviews: {
    deletes:
      'stored.decision_id IN (SELECT id FROM decisions WHERE decisions.org_id = $1 AND decisions.entity_id = $2)',
  },
  cases: { deletes: `${OF_ENTITY} AND stored.review_id IS NULL` },
  erasures: { keeps: 'It says that the entity was erased.' },

  webhook_attempts: { deletes: OF_ITS_EVENT },
  webhook_deliveries: { deletes: OF_ITS_EVENT },
  webhook_endpoints: { keeps: 'Operators describe receivers.' },

  audit_entries: { keeps: 'Entries have ids, verdicts and hashes, and are what proves the erasure.' },
  audit_verifications: { keeps: 'Problems name ids of records and operators.' },
  api_keys: { keeps: 'Operators name their keys.' },
  policies: OF_POLICIES,
  policy_steps: OF_POLICIES,
  policy_backtests: OF_POLICIES,
  policy_comments: OF_POLICIES,
  backtest_runs: OF_OPERATORS,
}

/** What an erasure does with each table of the control database, which knows no entity. */
export const CONTROL_RULES: Readonly<Record<string, ErasureRule>> = {
  operators: OF_OPERATORS,
  operator_codes: OF_OPERATORS,
  live_gate_approvals: OF_OPERATORS,
  entries_to_record: OF_OPERATORS,
  accounts: OF_OPERATORS,
  account_codes: OF_OPERATORS,
  recovery_codes: OF_OPERATORS,
  passkeys: OF_OPERATORS,
  sessions: OF_OPERATORS,
  act_keys: { keeps: 'Answers to the console are encrypted, and deleted after a day.' },
  sign_in_failures: OF_OPERATORS,
  account_identities: OF_OPERATORS,
}
