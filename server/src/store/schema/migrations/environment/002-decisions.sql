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
  evidence   text NOT NULL, -- the results of the policy's own tests, as shown to the person
  reason     text NOT NULL,
  actor_type text NOT NULL,
  actor_id   text NOT NULL,
  taken_at   timestamptz NOT NULL,
  PRIMARY KEY (org_id, policy_id, number)
);
SELECT make_append_only('policy_steps');

CREATE TABLE active_policies ( -- one row for each organization, so that activation is atomic
  org_id       text PRIMARY KEY,
  policy_id    text NOT NULL,
  checksum     text NOT NULL,
  activated_at timestamptz NOT NULL
);

CREATE TABLE decisions (
  org_id          text NOT NULL,
  id              text NOT NULL,
  entity_id       text NOT NULL,
  product         text NOT NULL,
  verdict         text NOT NULL,
  risk_tier       text NOT NULL,
  policy_version  text NOT NULL,
  policy_checksum text NOT NULL,
  body            text NOT NULL, -- the decision as returned to the caller
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX decisions_of_entity ON decisions (org_id, entity_id, id);
SELECT make_append_only('decisions');

CREATE TABLE decision_evidence (
  org_id         text NOT NULL,
  decision_id    text NOT NULL,
  facts          text NOT NULL, -- all inputs of the decision
  trace          text NOT NULL, -- every rule and score on the way to the verdict
  graph          text NOT NULL, -- the paths that explain its exposure
  audit_entry_id text NOT NULL,
  PRIMARY KEY (org_id, decision_id)
);
SELECT make_append_only('decision_evidence');

-- The latest decision of each entity, and the verdict announced last. A changed verdict is announced once. The latest
-- decision is the one on the newest version of the entity, and of several the one that was committed last.
CREATE TABLE latest_decisions (
  org_id            text NOT NULL,
  entity_id         text NOT NULL,
  decision_id       text NOT NULL,
  entity_version    bigint NOT NULL,
  request           text NOT NULL,
  verdict           text NOT NULL,
  announced_verdict text NOT NULL, -- the decision's verdict, until a re-evaluation announces another
  PRIMARY KEY (org_id, entity_id)
) WITH (fillfactor = 70);

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
SELECT make_append_only('reviews');

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
SELECT make_append_only('outcomes');

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
  PRIMARY KEY (org_id, entity_id, neighbour_id, type)
);
CREATE INDEX graph_links_by_expiry ON graph_links (expires);
-- The rank of links; queries/graph.ts orders by the same expressions.
CREATE INDEX graph_links_ranked ON graph_links (org_id, entity_id, (NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type);
CREATE INDEX graph_links_adverse ON graph_links (org_id, entity_id, (NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type) WHERE to_adverse;

-- The holders of each identifier, with the instant of the latest assertion of each status; one row for each holder.
CREATE TABLE identifier_holders (
  org_id          text NOT NULL,
  identifier_hash text NOT NULL,
  entity_id       text COLLATE "C" NOT NULL,
  type            text NOT NULL,
  verified_at     timestamptz,
  failed_at       timestamptz,
  unverified_at      timestamptz,
  first_at        timestamptz NOT NULL,
  is_adverse      boolean NOT NULL, -- the holder has bad outcomes; such holders have their own index, so a crowd cannot hide them
  -- The latest check decides; of two at the same instant, the failed one. Without a check the standing is unverified.
  standing        text NOT NULL GENERATED ALWAYS AS (CASE
    WHEN failed_at IS NOT NULL AND (verified_at IS NULL OR failed_at >= verified_at) THEN 'failed'
    WHEN verified_at IS NOT NULL THEN 'verified'
    ELSE 'unverified' END) STORED,
  PRIMARY KEY (org_id, identifier_hash, entity_id)
);
-- Verified holders first, then the oldest.
CREATE INDEX identifier_holders_ranked ON identifier_holders (org_id, identifier_hash, (standing <> 'verified'), first_at, entity_id) WHERE standing <> 'failed';
CREATE INDEX identifier_holders_adverse ON identifier_holders (org_id, identifier_hash, (standing <> 'verified'), first_at, entity_id) WHERE standing <> 'failed' AND is_adverse;
CREATE INDEX identifier_holders_of_entity ON identifier_holders (org_id, entity_id, type, identifier_hash);

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
CREATE INDEX consequences_due ON consequences (kind, org_id, due_at);
