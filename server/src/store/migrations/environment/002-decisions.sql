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
CREATE INDEX policies_by_checksum ON policies (org_id, checksum);
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
  entity_id    text NOT NULL,
  neighbour_id text COLLATE "C" NOT NULL,
  type         text COLLATE "C" NOT NULL,
  verified     boolean NOT NULL,
  base_ppm     integer NOT NULL,
  since        integer NOT NULL, -- days since 1970
  expires      integer NOT NULL, -- the first day on which it carries nothing any more
  to_adverse   boolean NOT NULL, -- the neighbour has had bad outcomes: such links are never crowded out
  PRIMARY KEY (org_id, entity_id, neighbour_id, type)
);
-- In the order in which links are followed.
CREATE INDEX graph_links_ranked ON graph_links (org_id, entity_id, (NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type);
CREATE INDEX graph_links_adverse ON graph_links (org_id, entity_id, (NOT verified), (type = 'payment'), base_ppm DESC, since, neighbour_id, type) WHERE to_adverse;

CREATE TABLE graph_evidence ( -- entities with outcomes, weighed by period
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

-- What still has to follow from a change. Written with the change, taken away when done.
CREATE TABLE consequences (
  org_id    text NOT NULL,
  kind      text NOT NULL CHECK (kind IN ('exposure', 'spread', 'reevaluation')),
  entity_id text NOT NULL,
  mark      text NOT NULL, -- changes with every new cause, so that one that came meanwhile is not taken away
  PRIMARY KEY (org_id, kind, entity_id)
);
CREATE INDEX consequences_by_kind ON consequences (kind, mark);
