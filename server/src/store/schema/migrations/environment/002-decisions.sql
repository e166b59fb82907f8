-- Policies, decisions, the trust graph, and the queue of follow-up work.

-- A proposed policy is immutable; its approvals and activations are rows of policy_steps.
CREATE TABLE policies (
  org_id        text NOT NULL,
  id            text NOT NULL,
  version       text NOT NULL,
  model_version text NOT NULL,
  checksum      text NOT NULL, -- SHA-256 of `document`
  document      text NOT NULL, -- canonical JSON; decisions are made with this
  source        text NOT NULL, -- the author's text, including comments
  author_type   text NOT NULL,
  author_id     text NOT NULL,
  created_at    timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, version)
);
SELECT make_append_only('policies');

CREATE TABLE policy_steps (
  org_id     text NOT NULL,
  policy_id  text NOT NULL,
  number     integer NOT NULL, -- 1, 2, 3 …: the primary key stops two people from taking the same step
  step       text NOT NULL CHECK (step IN ('proposed', 'approved', 'rejected', 'activated', 'retired')),
  checksum   text NOT NULL, -- of the policy that the person saw
  evidence   text NOT NULL, -- the results of the policy's own tests, and the backtest, as shown to the person
  reason     text NOT NULL,
  actor_type text NOT NULL,
  actor_id   text NOT NULL,
  taken_at   timestamptz NOT NULL,
  PRIMARY KEY (org_id, policy_id, number)
);
SELECT make_append_only('policy_steps');

CREATE TABLE policy_backtests ( -- results of deciding recorded decisions again under a policy
  org_id         text NOT NULL,
  id             text NOT NULL,
  policy_id      text NOT NULL,
  checksum       text NOT NULL, -- of the policy that decided
  engine_version text NOT NULL,
  decided        integer NOT NULL,
  changed        integer NOT NULL, -- of these, with another verdict than the recorded one
  result         text NOT NULL, -- canonical JSON
  actor_type     text NOT NULL,
  actor_id       text NOT NULL,
  started_at     timestamptz NOT NULL,
  finished_at    timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX policy_backtests_of_policy ON policy_backtests (org_id, policy_id, id);
-- Upkeep deletes old ones that no approval names; the log has their figures and that they were deleted.
CREATE TRIGGER never_changed BEFORE UPDATE ON policy_backtests FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON policy_backtests FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The backtest of each organization that an operator asked for last: its progress, or how it ended.
CREATE TABLE backtest_runs (
  org_id     text PRIMARY KEY,
  run_id     text NOT NULL, -- the id of its result, once it has one
  policy_id  text NOT NULL,
  started_by text NOT NULL,
  started_at timestamptz NOT NULL,
  beat_at    timestamptz, -- NULL: it has ended; long past: its node died
  decided    integer NOT NULL,
  total      integer NOT NULL,
  failure    text -- why it ended without a result
);

CREATE TABLE policy_comments (
  org_id     text NOT NULL,
  id         text NOT NULL,
  policy_id  text NOT NULL,
  body       text NOT NULL,
  actor_type text NOT NULL,
  actor_id   text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX policy_comments_of_policy ON policy_comments (org_id, policy_id, id);
SELECT make_append_only('policy_comments');

CREATE TABLE active_policies ( -- one row for each organization, so that activation is atomic
  org_id       text PRIMARY KEY,
  policy_id    text NOT NULL,
  checksum     text NOT NULL,
  activated_at timestamptz NOT NULL
);

CREATE TABLE decisions (
  flush             bigint NOT NULL, -- the statement that wrote it: finds its documents
  created_at        timestamptz NOT NULL,
  entity_version    bigint NOT NULL, -- of the facts that it was made on
  -- A hash of what lists filter by: in an index it takes 8 bytes, and the four texts 50.
  kind              bigint NOT NULL GENERATED ALWAYS AS
    (hashtextextended(verdict || ' ' || risk_tier || ' ' || policy_version || ' ' || product, 0)) STORED,
  requested_amount  double precision, -- NULL for a decision about access
  recommended_limit double precision,
  score             integer,
  score_cutoff      integer,
  term_months       integer, -- that the applicant chose; NULL for the term of the product
  org_id            text NOT NULL,
  id                text NOT NULL,
  entity_id         text NOT NULL,
  product           text NOT NULL,
  verdict           text NOT NULL,
  risk_tier         text NOT NULL,
  policy_version    text NOT NULL,
  currency          text,
  reason_codes      text NOT NULL, -- separated by spaces
  reference         text, -- the caller's own name for the request, if it has one
  PRIMARY KEY (org_id, id)
);
CREATE INDEX decisions_of_entity ON decisions (entity_id, id); -- ids of entities are those of one organization alone
-- For the list of decisions, which merges the newest of each kind that matches its filter.
CREATE INDEX decisions_by_kind ON decisions (org_id, kind, id);
SELECT make_append_only('decisions', 'entity_id');

-- The documents of decisions (what was answered, the facts, the trace, the graph), compressed together: those of one
-- organization are nearly alike. The statement that writes decisions writes their segments; upkeep packs small segments
-- together later. The audit log has the hash of each document, so a segment may be written anew.
CREATE TABLE document_segments (
  org_id       text NOT NULL,
  is_packed    boolean NOT NULL, -- made of small segments by upkeep
  flush        bigint NOT NULL,  -- the statement that wrote the decisions; of a packed segment the last one
  part         integer NOT NULL, -- 0, 1, 2 … of one statement
  first_flush  bigint NOT NULL,  -- packed segments cover ranges of statements that do not overlap
  decision_ids text[] NOT NULL,
  content      bytea NOT NULL,   -- see store/documents/segment.ts
  PRIMARY KEY (org_id, is_packed, flush, part)
);
ALTER TABLE document_segments ALTER COLUMN content SET STORAGE EXTERNAL; -- compressed already
CREATE INDEX document_segments_small ON document_segments (org_id, flush, part)
  WHERE NOT is_packed AND cardinality(decision_ids) <= 8;

-- The verdicts that re-evaluations announced of decisions: a changed verdict is announced once.
CREATE TABLE turned_verdicts (
  org_id      text NOT NULL,
  decision_id text NOT NULL,
  verdict     text NOT NULL, -- announced last
  previous    text NOT NULL, -- announced before: the decision's own at first
  PRIMARY KEY (org_id, decision_id)
);

CREATE TABLE reviews (
  org_id            text NOT NULL,
  id                text NOT NULL,
  decision_id       text NOT NULL,
  entity_id         text NOT NULL,
  verdict           text NOT NULL,
  overrides         boolean NOT NULL,
  reviewer_id       text NOT NULL,
  body              text NOT NULL, -- the review as returned to the caller
  created_at        timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX reviews_of_decision ON reviews (org_id, decision_id);
CREATE INDEX reviews_of_entity ON reviews (org_id, entity_id, id);
SELECT make_append_only('reviews', 'entity_id');

-- Cases of the review queue: a decision with the verdict manual_review opens one, further ones about the entity join the open
-- case, and the review of the last decision that waits closes it. Triggers keep cases and waiting_reviews, so that the statement
-- of a batch is the same for all verdicts, reviews of the API close cases too, and decisions with another verdict cost nothing.
CREATE TABLE cases (
  org_id      text NOT NULL,
  id          text NOT NULL, -- made of the id of the decision that opened it, so that ids sort by time
  entity_id   text NOT NULL,
  opened_at   timestamptz NOT NULL,
  waiting     integer NOT NULL, -- the decisions of the case that wait for a review
  assignee_id text, -- the operator who works on it
  assigned_at timestamptz,
  review_id   text, -- the review that closed it; NULL while it is open
  signature_id text, -- the first of two signatures, while the second is due; of a closed case, the one that it was closed under
  signer_id   text, -- the operator who gave it
  PRIMARY KEY (org_id, id),
  CHECK ((assignee_id IS NULL) = (assigned_at IS NULL)),
  CHECK ((signature_id IS NULL) = (signer_id IS NULL)),
  CHECK ((waiting = 0) = (review_id IS NOT NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX cases_open ON cases (org_id, entity_id) WHERE review_id IS NULL;
CREATE INDEX cases_by_age ON cases (org_id, id) WHERE review_id IS NULL;
CREATE INDEX cases_by_assignee ON cases (org_id, assignee_id, id) WHERE review_id IS NULL;
CREATE INDEX cases_to_sign ON cases (org_id, id) WHERE review_id IS NULL AND signature_id IS NOT NULL;
CREATE INDEX cases_by_review ON cases (org_id, review_id) WHERE review_id IS NOT NULL;
CREATE INDEX cases_by_reviewer ON cases (org_id, assignee_id, review_id) WHERE review_id IS NOT NULL;

-- The decisions that wait for a person: every one with the verdict manual_review, until its first review.
CREATE TABLE waiting_reviews (
  org_id      text NOT NULL,
  decision_id text NOT NULL,
  case_id     text NOT NULL,
  since       timestamptz NOT NULL,
  PRIMARY KEY (org_id, decision_id)
);
CREATE INDEX waiting_reviews_of_case ON waiting_reviews (org_id, case_id, decision_id);

CREATE FUNCTION await_review() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  opened_or_joined text;
BEGIN
  -- Locks the open case, so that a review of its last decision on another node cannot close it meanwhile.
  INSERT INTO cases (org_id, id, entity_id, opened_at, waiting)
  VALUES (NEW.org_id, 'cas_' || substr(NEW.id, 5), NEW.entity_id, NEW.created_at, 1)
  ON CONFLICT (org_id, entity_id) WHERE review_id IS NULL DO UPDATE
    -- The first signature is not for the request that joins.
    SET waiting = cases.waiting + 1, signature_id = NULL, signer_id = NULL
  RETURNING id INTO opened_or_joined;
  INSERT INTO waiting_reviews (org_id, decision_id, case_id, since)
  VALUES (NEW.org_id, NEW.id, opened_or_joined, NEW.created_at);
  RETURN NULL;
END $$;
CREATE TRIGGER awaits_review AFTER INSERT ON decisions
  FOR EACH ROW WHEN (NEW.verdict = 'manual_review') EXECUTE FUNCTION await_review();

CREATE FUNCTION end_review_wait() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  reviewed_case text;
BEGIN
  DELETE FROM waiting_reviews WHERE org_id = NEW.org_id AND decision_id = NEW.decision_id RETURNING case_id INTO reviewed_case;
  IF reviewed_case IS NOT NULL THEN
    UPDATE cases SET waiting = waiting - 1, review_id = CASE WHEN waiting = 1 THEN NEW.id END,
      signature_id = CASE WHEN waiting = 1 THEN signature_id END, signer_id = CASE WHEN waiting = 1 THEN signer_id END
    WHERE org_id = NEW.org_id AND id = reviewed_case;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER ends_review_wait AFTER INSERT ON reviews FOR EACH ROW EXECUTE FUNCTION end_review_wait();

-- What a first person decided about a case that needs two, as the second one is shown it.
CREATE TABLE case_signatures (
  org_id     text NOT NULL,
  id         text NOT NULL,
  case_id    text NOT NULL,
  entity_id  text NOT NULL,
  body       text NOT NULL, -- the verdicts and the reason
  signer_id  text NOT NULL, -- an operator
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX case_signatures_of_entity ON case_signatures (org_id, entity_id);
SELECT make_append_only('case_signatures', 'entity_id');

CREATE TABLE case_notes (
  org_id     text NOT NULL,
  id         text NOT NULL,
  case_id    text NOT NULL,
  entity_id  text NOT NULL,
  text       text NOT NULL,
  author_id  text NOT NULL, -- an operator
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX case_notes_of_case ON case_notes (org_id, case_id, id);
SELECT make_append_only('case_notes', 'entity_id');

CREATE TABLE outcomes (
  org_id      text NOT NULL,
  id          text NOT NULL,
  decision_id text NOT NULL,
  entity_id   text NOT NULL,
  type        text NOT NULL,
  occurred_at timestamptz NOT NULL,
  body        text NOT NULL, -- the outcome as returned to the caller
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX outcomes_of_decision ON outcomes (org_id, decision_id);
CREATE INDEX outcomes_by_type ON outcomes (org_id, type, decision_id); -- for the list of decisions
SELECT make_append_only('outcomes', 'entity_id');
CREATE INDEX outcomes_of_entity ON outcomes (org_id, entity_id);

CREATE TABLE outcome_retractions ( -- an outcome that has both steps, of two operators, does not count any more
  org_id     text NOT NULL,
  id         text NOT NULL,
  outcome_id text NOT NULL,
  entity_id  text NOT NULL,
  step       text NOT NULL CHECK (step IN ('proposed', 'approved')),
  reason     text NOT NULL,
  actor_type text NOT NULL,
  actor_id   text NOT NULL,
  taken_at   timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
SELECT make_append_only('outcome_retractions', 'entity_id');
-- A proposal whose operator left is void, so there may be several; the newest counts.
CREATE INDEX outcome_retractions_of_outcome ON outcome_retractions (org_id, outcome_id, step, id);
CREATE UNIQUE INDEX outcome_retractions_once ON outcome_retractions (org_id, outcome_id) WHERE step = 'approved';

-- The approvals of credit of each entity that were not taken up yet. A decision that grants credit writes the next version, so that
-- of two that read the same one only the first is written. Rows are never deleted before their entity: a version must not come
-- again. Without another index and with room in its page, a row is updated in place.
CREATE TABLE open_offers (
  version   bigint NOT NULL,
  org_id    text NOT NULL,
  entity_id text NOT NULL,
  offers    text NOT NULL, -- see store/environment/stored-offers.ts; expired ones stay until the next version
  PRIMARY KEY (org_id, entity_id)
) WITH (fillfactor = 70);

-- The trust graph. Each link is stored from both ends, so that one index read finds an entity's first links.
CREATE TABLE graph_links (
  org_id       text NOT NULL,
  entity_id    text COLLATE "C" NOT NULL, -- the same collation as neighbour_id, or joins between the two could not use the index
  neighbour_id text COLLATE "C" NOT NULL,
  type         text COLLATE "C" NOT NULL,
  verified     boolean NOT NULL,
  base_ppm     integer NOT NULL,
  since        integer NOT NULL, -- days since 1970
  expires      integer NOT NULL, -- the first day on which it is too weak to be followed
  to_adverse   boolean NOT NULL, -- the neighbour has bad outcomes; such links have their own index, so others cannot crowd them out
  claim        text COLLATE "C" NOT NULL DEFAULT '', -- the hash of the identifier that both ends have; '' for relationships and payments
  PRIMARY KEY (org_id, entity_id, neighbour_id, type, claim)
);
CREATE INDEX graph_links_by_expiry ON graph_links (expires);
-- The rank of links; queries/graph.ts orders by the same expressions.
CREATE INDEX graph_links_ranked ON graph_links (org_id, entity_id, (NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type, claim);
CREATE INDEX graph_links_adverse ON graph_links (org_id, entity_id, (NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type, claim) WHERE to_adverse;

-- The holders of each identifier, with the instant of the latest assertion of each status; one row for each holder.
CREATE TABLE identifier_holders (
  org_id          text NOT NULL,
  identifier_hash text NOT NULL,
  entity_id       text COLLATE "C" NOT NULL,
  is_device       boolean NOT NULL,
  verified_at     timestamptz,
  failed_at       timestamptz,
  unverified_at   timestamptz,
  PRIMARY KEY (org_id, identifier_hash, entity_id)
);
CREATE INDEX identifier_holders_counted ON identifier_holders (org_id, identifier_hash, entity_id) WHERE verified_at IS NOT NULL OR unverified_at IS NOT NULL;
CREATE INDEX identifier_holders_verified ON identifier_holders (org_id, identifier_hash, entity_id) WHERE verified_at IS NOT NULL;
-- For decisions: the devices of an entity that it has asserted other than by a failed check.
CREATE INDEX identifier_holders_devices ON identifier_holders (org_id, entity_id, identifier_hash)
  WHERE is_device AND (verified_at IS NOT NULL OR unverified_at IS NOT NULL);

-- Finds the latest assertion of each status about a relationship with one index read.
CREATE INDEX identity_links_between ON identity_links (org_id, entity_id, related_entity_id, relationship, verification_status, (coalesce(verified_at, created_at)) DESC) WHERE related_entity_id IS NOT NULL;

CREATE TABLE graph_track_records ( -- the tallies of an entity's outcomes, by 30-day period
  org_id     text NOT NULL,
  entity_id  text NOT NULL,
  tallies    text NOT NULL,
  is_adverse boolean NOT NULL,
  version    bigint NOT NULL,
  PRIMARY KEY (org_id, entity_id)
);

CREATE TABLE graph_exposures ( -- the computed exposure and trust of each entity
  org_id    text NOT NULL,
  entity_id text NOT NULL,
  summary   text NOT NULL, -- used by decisions
  trust     text NOT NULL, -- returned to callers
  as_of     timestamptz NOT NULL,
  read_number bigint NOT NULL, -- of two refreshes, the one that began to read later wins, whatever the nodes' clocks say
  PRIMARY KEY (org_id, entity_id)
);
CREATE SEQUENCE exposure_reads;
CREATE INDEX graph_exposures_by_age ON graph_exposures (as_of);

-- The trust score of an entity on each day on which it changed.
CREATE TABLE trust_history (
  org_id    text NOT NULL,
  entity_id text NOT NULL,
  day       date NOT NULL,
  score     double precision NOT NULL,
  PRIMARY KEY (org_id, entity_id, day)
);

CREATE TABLE payment_flows ( -- monthly payments between two entities, from which the share of a payment link is computed
  org_id          text NOT NULL,
  entity_id       text NOT NULL,
  counterparty_id text NOT NULL,
  currency        text NOT NULL,
  month           text NOT NULL,
  amount          numeric(24, 4) NOT NULL,
  PRIMARY KEY (org_id, entity_id, counterparty_id, currency, month)
);
CREATE INDEX payment_flows_reversed ON payment_flows (org_id, counterparty_id, entity_id);
-- The largest flows of a month first, from either end.
CREATE INDEX payment_flows_largest_from ON payment_flows (org_id, currency, month, entity_id, amount DESC, counterparty_id);
CREATE INDEX payment_flows_largest_to ON payment_flows (org_id, currency, month, counterparty_id, amount DESC, entity_id);
-- The newest payment between two entities. Both ends are one expression, so that the planner does not prefer another index.
CREATE INDEX transactions_between ON transactions (org_id, (entity_id || ' ' || counterparty_entity_id), occurred_at) WHERE counterparty_entity_id IS NOT NULL;

-- The decisions that one statement wrote for one organization, until a worker has seen whether a fact was recorded while they
-- were made. One row for all of them: with a row for each, this queue was a seventh of the write-ahead log.
CREATE TABLE unchecked_decisions (
  flush   bigint NOT NULL,
  org_id  text NOT NULL,
  made_on text NOT NULL, -- 'entity:version:exposure' of each decision, separated by spaces, see madeOn in underwriting/facts-of.ts
  PRIMARY KEY (org_id, flush)
);

-- The queue of follow-up work. Each row is a cause, written in the statement of its change and deleted when done.
CREATE TABLE consequences (
  org_id      text NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('exposure', 'spread', 'reevaluation')),
  entity_id   text NOT NULL,
  mark        text NOT NULL, -- changes with every new cause, so that finishing the old one does not delete the new one
  attempts    integer NOT NULL DEFAULT 0, -- failed attempts at the cause with failed_mark
  failed_mark text,
  retry_at    timestamptz,
  -- Only a failed cause waits for its backoff. A new mark makes the row due at once; its writer need not reset anything.
  due_at      timestamptz NOT NULL GENERATED ALWAYS AS (CASE WHEN mark = failed_mark THEN retry_at ELSE timestamptz 'epoch' END) STORED,
  PRIMARY KEY (org_id, kind, entity_id)
);
