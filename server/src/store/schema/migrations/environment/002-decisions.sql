-- Policies, decisions and what follows from them, and the trust graph.

-- A proposed policy never changes; what happens to it is in policy_steps.
CREATE TABLE policies (
  org_id        text NOT NULL,
  id            text NOT NULL,
  version       text NOT NULL,
  model_version text NOT NULL,
  checksum      text NOT NULL, -- SHA-256 of `document`
  document      text NOT NULL, -- canonical JSON: what is decided by
  source        text NOT NULL, -- as its author wrote it, comments included
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
  number     integer NOT NULL, -- 1, 2, 3 …: two people cannot take the same step
  step       text NOT NULL CHECK (step IN ('proposed', 'approved', 'rejected', 'activated', 'retired')),
  checksum   text NOT NULL, -- what the person saw
  evidence   text NOT NULL, -- what they were shown: the results of the policy's own tests
  reason     text NOT NULL,
  actor_type text NOT NULL,
  actor_id   text NOT NULL,
  taken_at   timestamptz NOT NULL,
  PRIMARY KEY (org_id, policy_id, number)
);
SELECT make_append_only('policy_steps');

CREATE TABLE active_policies ( -- one row for each organization, so that a switch is atomic
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
  body            text NOT NULL, -- the decision as it was answered
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX decisions_of_entity ON decisions (org_id, entity_id, id);
SELECT make_append_only('decisions');

CREATE TABLE decision_evidence (
  org_id         text NOT NULL,
  decision_id    text NOT NULL,
  facts          text NOT NULL, -- everything the decision looked at
  trace          text NOT NULL, -- everything that led to it
  graph          text NOT NULL, -- the paths behind its exposure
  audit_entry_id text NOT NULL,
  PRIMARY KEY (org_id, decision_id)
);
SELECT make_append_only('decision_evidence');

-- What an entity was last told, and what its facts say now. Facts that would turn the verdict are announced once.
CREATE TABLE latest_decisions (
  org_id            text NOT NULL,
  entity_id         text NOT NULL,
  decision_id       text NOT NULL,
  request           text NOT NULL,
  verdict           text NOT NULL,
  announced_verdict text NOT NULL, -- the decision's own, until a turn is announced
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
  body              text NOT NULL, -- the review as it was answered
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
  body        text NOT NULL, -- the outcome as it was answered
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX outcomes_of_decision ON outcomes (org_id, decision_id);
SELECT make_append_only('outcomes');

-- The trust graph: each link from both its ends, so that one index read finds the first of them.
CREATE TABLE graph_links (
  org_id       text NOT NULL,
  entity_id    text COLLATE "C" NOT NULL, -- as of its neighbours: an index helps only where both sides compare alike
  neighbour_id text COLLATE "C" NOT NULL,
  type         text COLLATE "C" NOT NULL,
  verified     boolean NOT NULL,
  base_ppm     integer NOT NULL,
  since        integer NOT NULL, -- days since 1970
  expires      integer NOT NULL, -- the first day on which it carries nothing any more
  to_adverse   boolean NOT NULL, -- the neighbour has had bad outcomes: such links are never crowded out
  PRIMARY KEY (org_id, entity_id, neighbour_id, type)
);
CREATE INDEX graph_links_by_expiry ON graph_links (expires);
-- In the order in which links are followed.
CREATE INDEX graph_links_ranked ON graph_links (org_id, entity_id, (NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type);
CREATE INDEX graph_links_adverse ON graph_links (org_id, entity_id, (NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type) WHERE to_adverse;

-- Who has which identifier, and what was last said of it: one row for each, however often it was stated.
CREATE TABLE identifier_holders (
  org_id          text NOT NULL,
  identifier_hash text NOT NULL,
  entity_id       text COLLATE "C" NOT NULL,
  type            text NOT NULL,
  verified_at     timestamptz,
  failed_at       timestamptz,
  claimed_at      timestamptz,
  first_at        timestamptz NOT NULL,
  is_adverse      boolean NOT NULL, -- the holder has had bad outcomes: no crowd can hide it
  -- The latest verdict; a failure of the same instant takes a success back, and a claim counts where there is neither.
  standing        text NOT NULL GENERATED ALWAYS AS (CASE
    WHEN failed_at IS NOT NULL AND (verified_at IS NULL OR failed_at >= verified_at) THEN 'failed'
    WHEN verified_at IS NOT NULL THEN 'verified'
    ELSE 'unverified' END) STORED,
  PRIMARY KEY (org_id, identifier_hash, entity_id)
);
-- Those who verified it first, then the oldest.
CREATE INDEX identifier_holders_ranked ON identifier_holders (org_id, identifier_hash, (standing <> 'verified'), first_at, entity_id) WHERE standing <> 'failed';
CREATE INDEX identifier_holders_adverse ON identifier_holders (org_id, identifier_hash, (standing <> 'verified'), first_at, entity_id) WHERE standing <> 'failed' AND is_adverse;
CREATE INDEX identifier_holders_of_entity ON identifier_holders (org_id, entity_id, type, identifier_hash);

-- The latest statement of each kind about a relationship is one step away.
CREATE INDEX identity_links_between ON identity_links (org_id, entity_id, related_entity_id, relationship, verification_status, (coalesce(verified_at, created_at)) DESC) WHERE related_entity_id IS NOT NULL;

CREATE TABLE graph_track_records ( -- the tallies of an entity's outcomes, by 30-day period
  org_id     text NOT NULL,
  entity_id  text NOT NULL,
  tallies    text NOT NULL,
  is_adverse boolean NOT NULL,
  version    bigint NOT NULL,
  PRIMARY KEY (org_id, entity_id)
);

CREATE TABLE graph_exposures ( -- how the outcomes of others, and an entity's own, bear on it
  org_id    text NOT NULL,
  entity_id text NOT NULL,
  summary   text NOT NULL, -- what decisions see
  trust     text NOT NULL, -- what callers see
  as_of     timestamptz NOT NULL,
  PRIMARY KEY (org_id, entity_id)
);
CREATE INDEX graph_exposures_by_age ON graph_exposures (as_of);

CREATE TABLE payment_flows ( -- what went between two entities, so that a payment link knows its share
  org_id          text NOT NULL,
  entity_id       text NOT NULL,
  counterparty_id text NOT NULL,
  currency        text NOT NULL,
  month           text NOT NULL,
  amount          numeric(24, 4) NOT NULL,
  PRIMARY KEY (org_id, entity_id, counterparty_id, currency, month)
);
CREATE INDEX payment_flows_reversed ON payment_flows (org_id, counterparty_id, entity_id);
-- The largest of a month first, as either end sees them.
CREATE INDEX payment_flows_largest_from ON payment_flows (org_id, currency, month, entity_id, amount DESC, counterparty_id);
CREATE INDEX payment_flows_largest_to ON payment_flows (org_id, currency, month, counterparty_id, amount DESC, entity_id);
-- The newest payment between two; both ends are one key, so that no other index of the table looks as good to the planner.
CREATE INDEX transactions_between ON transactions (org_id, (entity_id || ' ' || counterparty_entity_id), occurred_at) WHERE counterparty_entity_id IS NOT NULL;

-- What still has to follow from a change. Written with the change, taken away when done.
CREATE TABLE consequences (
  org_id      text NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('exposure', 'spread', 'reevaluation')),
  entity_id   text NOT NULL,
  mark        text NOT NULL, -- changes with every new cause, so that one that came meanwhile is not taken away
  attempts    integer NOT NULL DEFAULT 0, -- how often the cause of failed_mark could not be followed
  failed_mark text,
  retry_at    timestamptz,
  -- Only a cause that has failed waits: a new one is followed at once, and those who write it need not know of any of this.
  due_at      timestamptz NOT NULL GENERATED ALWAYS AS (CASE WHEN mark = failed_mark THEN retry_at ELSE timestamptz 'epoch' END) STORED,
  PRIMARY KEY (org_id, kind, entity_id)
);
CREATE INDEX consequences_due ON consequences (kind, org_id, due_at);
