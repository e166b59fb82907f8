-- The tables of one environment. Every primary key starts with org_id and no row refers to another organization's, so
-- organizations can be spread over several PostgreSQL databases. Immutable documents are text, not jsonb: parsing costs
-- more than the insert.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  erasure text := current_setting('verdigraph.erasure', true);
  stack   text;
BEGIN
  -- `erase_records` (007-erasures.sql) makes the setting for one statement; the call stack tells it from any other statement that
  -- makes it. The arguments of the trigger are the columns that name the entities which a row is about; a table without them
  -- never gives way. An update leaves them as they are, and the keys too.
  IF erasure <> '' AND TG_LEVEL = 'ROW' AND erased_entity(OLD.org_id, erasure) IN (
    SELECT unnest(string_to_array(to_jsonb(OLD) ->> about.name, ' ')) FROM unnest(TG_ARGV) AS about (name)
  ) THEN
    GET DIAGNOSTICS stack = PG_CONTEXT;
    IF stack ~ '(?n)^PL/pgSQL function (\S+\.)?erase_records\(' THEN
      IF TG_OP = 'DELETE' THEN
        RETURN OLD;
      ELSIF NOT EXISTS (
        SELECT FROM unnest(TG_ARGV || '{org_id,id}'::text[]) AS kept (name)
        WHERE to_jsonb(NEW) -> kept.name IS DISTINCT FROM to_jsonb(OLD) -> kept.name
      ) THEN
        RETURN NEW;
      END IF;
    END IF;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

-- `about` are the columns that name entities: once two people approved the erasure of one of these, `erase_records` changes the row.
CREATE FUNCTION make_append_only(name regclass, VARIADIC about text[] DEFAULT '{}') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION refuse_change(%s)',
    name, (SELECT string_agg(quote_literal(each.name), ', ') FROM unnest(about) AS each (name)));
  EXECUTE format('CREATE TRIGGER append_only_table BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
END $$;

-- A batch of changes is one statement. This function makes the whole statement fail when a precondition does not hold.
CREATE FUNCTION require_rows(written bigint, expected bigint, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF written <> expected THEN
    RAISE EXCEPTION '% of % rows written: %', written, expected, what USING ERRCODE = 'VG001', CONSTRAINT = what;
  END IF;
END $$;

CREATE TABLE api_keys (
  org_id       text NOT NULL,
  id           text NOT NULL,
  name         text NOT NULL,
  key_hash     text NOT NULL UNIQUE, -- HMAC under a key derived from the master key; the key itself is shown once and never stored
  last_four    text NOT NULL,
  scopes       text NOT NULL, -- separated by spaces
  created_at   timestamptz NOT NULL,
  expires_at   timestamptz,
  replaces     text,        -- the key that it was made for by a rotation
  retires_at   timestamptz, -- when it ends because a rotation replaced it
  disabled_at  timestamptz, -- NULL while it may be used
  revoked_at   timestamptz,
  last_used_at timestamptz,
  entry_id     text NOT NULL, -- the audit entry that made the key so; the key works while it is the newest of its trail
  mac          text NOT NULL, -- over all of this but last_used_at
  PRIMARY KEY (org_id, id)
);

-- An entity. `state` aggregates all its facts and is updated with every ingest; `version` is its optimistic lock.
CREATE TABLE entities (
  org_id       text NOT NULL,
  id           text NOT NULL,
  external_id  text NOT NULL,
  type         text CHECK (type IN ('person', 'business', 'institution')),
  display_name text,
  country      text,
  metadata     text NOT NULL,
  state        text NOT NULL,
  version      bigint NOT NULL,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, external_id)
) WITH (fillfactor = 70); -- room for the next row version on the same page (HOT updates)
-- Finds names by their beginning, in any case. Updates of the state stay HOT, because the name is no part of it.
CREATE INDEX entities_by_name ON entities (org_id, (lower(display_name)) text_pattern_ops) WHERE display_name IS NOT NULL;

CREATE TABLE identity_links (
  org_id                 text NOT NULL,
  id                     text NOT NULL,
  entity_id              text NOT NULL,
  identifier_type        text,
  identifier_hash        text, -- keyed hash; the value itself is never stored
  identifier_masked      text,
  identifier_issuer      text,
  related_entity_id      text,
  relationship           text,
  ownership_share        double precision,
  verification_status    text NOT NULL CHECK (verification_status IN ('verified', 'unverified', 'failed')),
  verification_method    text,
  verification_provider  text,
  verification_reference text,
  verified_at            timestamptz,
  provided_by            text, -- the data source; NULL if the caller named none
  created_at             timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  CHECK ((identifier_hash IS NULL) <> (related_entity_id IS NULL))
);
CREATE INDEX identity_links_of_entity ON identity_links (org_id, entity_id);
CREATE INDEX identity_links_to_entity ON identity_links (org_id, related_entity_id) WHERE related_entity_id IS NOT NULL;
SELECT make_append_only('identity_links', 'entity_id', 'related_entity_id');

CREATE TABLE consents (
  org_id                   text NOT NULL,
  id                       text NOT NULL,
  entity_id                text NOT NULL,
  purpose                  text NOT NULL,
  status                   text NOT NULL CHECK (status IN ('granted', 'revoked')),
  data_categories          text NOT NULL,
  granted_at               timestamptz NOT NULL,
  expires_at               timestamptz,
  revoked_at               timestamptz,
  evidence_method          text,
  evidence_reference       text,
  evidence_document_sha256 text,
  created_at               timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX consents_of_entity ON consents (org_id, entity_id);
SELECT make_append_only('consents', 'entity_id');

-- The steps by which two operators make entities read as one, and tell one of them apart again; no fact moves. Each step has a
-- row for every entity whose reading it changes. The newest approved row of an entity says which entities it is read with.
CREATE TABLE entity_merges (
  org_id     text NOT NULL,
  id         text NOT NULL,
  entity_id  text NOT NULL,
  effect     text NOT NULL CHECK (effect IN ('merged', 'separated')),
  step       text NOT NULL CHECK (step IN ('proposed', 'approved')),
  subject_id text NOT NULL, -- the entity that joins the others, or is told apart from them
  members    text NOT NULL, -- the entities that this one is read with after the step, itself among them: sorted, with spaces
  version    bigint NOT NULL, -- of the entity after the step
  reason     text NOT NULL,
  actor_type text NOT NULL,
  actor_id   text NOT NULL,
  taken_at   timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
SELECT make_append_only('entity_merges', 'entity_id', 'subject_id', 'members');
CREATE UNIQUE INDEX entity_merges_of_entity ON entity_merges (org_id, entity_id, version DESC) WHERE step = 'approved';
CREATE INDEX entity_merges_proposed ON entity_merges (org_id, entity_id, id) WHERE step = 'proposed';

-- Where data about an entity comes from, as callers say. Facts refer to it by its id, which is made of its content.
CREATE TABLE data_sources (
  org_id    text NOT NULL,
  entity_id text NOT NULL,
  provides  text NOT NULL CHECK (provides IN ('identity_links', 'transactions', 'feature_snapshots')),
  id        text NOT NULL,
  kind      text NOT NULL,
  name      text,
  address   text,
  phone     text,
  first_at  timestamptz NOT NULL, -- when it first provided such facts
  PRIMARY KEY (org_id, entity_id, provides, id)
);
SELECT make_append_only('data_sources', 'entity_id');

-- The accounts that transactions and statement balances name, with the last that was said of each.
CREATE TABLE bank_accounts (
  org_id     text NOT NULL,
  entity_id  text NOT NULL,
  account    text NOT NULL, -- keyed hash of the caller's id, which is often an IBAN and never stored
  masked     text NOT NULL,
  kind       text CHECK (kind IN ('current', 'savings', 'card', 'loan')),
  holders    integer,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, entity_id, account)
);

-- A correction changes the row, and keeps what it replaces in transaction_corrections.
CREATE TABLE transactions (
  org_id                 text NOT NULL,
  entity_id              text NOT NULL,
  account                text NOT NULL DEFAULT '', -- '': no account is named. Not NULL, because NULLs are not unique
  external_id            text NOT NULL,
  batch_id               text NOT NULL, -- the batch that recorded it as it is
  occurred_at            timestamptz NOT NULL,
  amount                 numeric(20, 4) NOT NULL CHECK (amount > 0),
  currency               text NOT NULL,
  direction              text NOT NULL CHECK (direction IN ('credit', 'debit')),
  balance_after          numeric(20, 4),
  category               text,
  description            text,
  counterparty_name      text,
  counterparty_entity_id text,
  provided_by            text, -- the data source; NULL if the caller named none
  void_batch_id          text, -- the batch that voided it; NULL while it counts
  PRIMARY KEY (org_id, entity_id, account, external_id)
);
-- A hash of the entity and, in the last 17 bits, the number of the day since 1887: one short key, by which a correction finds the
-- transactions of a day. An index on the columns themselves costs inserts about five times as much (docs/performance-log.md).
CREATE FUNCTION entity_day(entity_id text, day integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (hashtextextended(entity_id, 0) & ~131071::bigint) | ((day + 30000) & 131071)::bigint;
CREATE INDEX transactions_by_day ON transactions
  (entity_day(entity_id, (occurred_at AT TIME ZONE 'UTC')::date - DATE '1970-01-01'));

-- What corrected and voided transactions were before, in the batch that corrected them.
CREATE TABLE transaction_corrections (
  org_id     text NOT NULL,
  id         text NOT NULL, -- of the batch
  entity_id  text NOT NULL,
  replaced   text NOT NULL, -- canonical JSON
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX transaction_corrections_of_entity ON transaction_corrections (org_id, entity_id);
SELECT make_append_only('transaction_corrections', 'entity_id');

-- The balances that statements give. A balance that is sent again with another amount is another row, and the newest counts.
CREATE TABLE statement_balances (
  org_id         text NOT NULL,
  entity_id      text NOT NULL,
  account        text NOT NULL, -- '': no account is named
  currency       text NOT NULL,
  as_of          date NOT NULL,
  kind           text NOT NULL CHECK (kind IN ('opening', 'closing')),
  entity_version bigint NOT NULL, -- of the entity with this balance: orders the balances of one day
  amount         numeric(20, 4) NOT NULL,
  batch_id       text NOT NULL,
  provided_by    text, -- the data source; NULL if the caller named none
  PRIMARY KEY (org_id, entity_id, account, currency, as_of, kind, entity_version)
);
SELECT make_append_only('statement_balances', 'entity_id');

CREATE TABLE feature_snapshots (
  org_id      text NOT NULL,
  id          text NOT NULL,
  entity_id   text NOT NULL,
  source      text NOT NULL,
  as_of       timestamptz NOT NULL,
  features    text NOT NULL, -- canonical JSON
  sha256      text NOT NULL,
  provided_by text, -- the data source; NULL if the caller named none
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX feature_snapshots_of_entity ON feature_snapshots (org_id, entity_id);
SELECT make_append_only('feature_snapshots', 'entity_id');

-- Events that are no audit entries, written in the statement of the change they announce. Most events are audit entries, and
-- stored as such alone (store/write-path/webhook-statements.ts).
CREATE TABLE events (
  org_id     text NOT NULL,
  id         text NOT NULL,
  type       text NOT NULL,
  created_at timestamptz NOT NULL,
  data       text NOT NULL,
  PRIMARY KEY (org_id, id)
);
-- For upkeep, which deletes old events that no delivery refers to; ids sort by time.
CREATE INDEX events_by_age ON events (id);
CREATE TRIGGER never_changed BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Numbers the statements that write. A statement that sees what another has committed has a higher number than that one.
CREATE SEQUENCE flush_numbers;

-- The audit log. Entries are written in the statement of the change they describe; the sealer then adds each as a leaf to
-- the organization's Merkle tree. Here and in other tables with a row for each decision, columns of fixed width come first,
-- because PostgreSQL aligns them: between texts they would be padded.
CREATE TABLE audit_entries (
  seq         bigint NOT NULL, -- 1, 2, 3 … within one trail
  flush       bigint NOT NULL, -- the statement that wrote it
  occurred_at timestamptz NOT NULL,
  place       integer NOT NULL, -- 0, 1, 2 … among the entries of its organization that the statement wrote
  org_id      text NOT NULL,
  id          text NOT NULL,
  trail_id    text NOT NULL, -- the entity that the entry is about; the subject if there is none
  type        text NOT NULL,
  actor_type  text NOT NULL,
  actor_id    text NOT NULL,
  request_id  text,
  subject_type text NOT NULL,
  subject_id  text NOT NULL,
  data        text NOT NULL,
  hashes      bytea, -- members of the data that are hashes, see store/write-path/entry-data.ts; NULL if all are in `data`
  mac         bytea NOT NULL, -- HMAC of the hash of the entry under a key derived from the master key
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, trail_id, seq)
);
-- The entry that records a new object of the API has the id of its subject (under another prefix); this finds the others.
CREATE INDEX audit_entries_of_subject ON audit_entries (org_id, subject_id) WHERE substr(id, 5) <> substr(subject_id, 5);
-- What people and background jobs did, which is rare beside what API keys did: finds it without a scan of the whole log, and
-- costs the entries of API requests nothing.
CREATE INDEX audit_entries_by_actor ON audit_entries (org_id, actor_id, id) WHERE actor_type <> 'api_key';
-- Finds the newest entry of a kind about an operator, an account or a session: their rows count only while it is their own.
CREATE INDEX audit_entries_of_subject_by_type ON audit_entries (org_id, subject_id, type, seq) WHERE actor_type <> 'api_key';
-- Finds for whom an account acts by the log, whatever became of the rows of its operators.
CREATE INDEX audit_entries_of_account ON audit_entries ((data::jsonb ->> 'account_id'))
  WHERE type IN ('operator.joined', 'access.restored');
CREATE INDEX audit_entries_by_type ON audit_entries (org_id, type, id) WHERE actor_type <> 'api_key';
SELECT make_append_only('audit_entries');

-- The entries that one statement wrote on one log, until the sealer gives them leaves and moves the row to audit_flushes. With
-- the first leaf in this row, sealing would write it and the entries of its indexes twice.
CREATE TABLE audit_pending (
  flush       bigint NOT NULL,
  org_id      text NOT NULL,
  entry_ids   text NOT NULL, -- 26 characters for each entry, see store/write-path/entry-list.ts
  leaf_hashes bytea NOT NULL, -- 32 bytes for each entry
  mac         bytea NOT NULL, -- HMAC of ids and hashes under a key derived from the master key; only such rows are sealed
  PRIMARY KEY (org_id, flush)
);
CREATE TRIGGER never_changed BEFORE UPDATE ON audit_pending FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON audit_pending FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The same once they are sealed: they have the leaves from first_leaf on, in their order.
CREATE TABLE audit_flushes (
  flush       bigint NOT NULL,
  first_leaf  bigint NOT NULL CHECK (first_leaf >= 0),
  org_id      text NOT NULL,
  entry_ids   text NOT NULL,
  leaf_hashes bytea NOT NULL,
  mac         bytea NOT NULL,
  PRIMARY KEY (org_id, flush),
  UNIQUE (org_id, first_leaf)
);
SELECT make_append_only('audit_flushes');

CREATE TABLE audit_nodes ( -- complete subtrees of 16, 256, 4096 … leaves, so that a proof reads few rows
  org_id text NOT NULL,
  level  integer NOT NULL, -- 4, 8, 12 …; the levels between are computed from the one below, see core/audit/merkle-tree.ts
  index  bigint NOT NULL,
  hash   bytea NOT NULL,
  PRIMARY KEY (org_id, level, index)
);
SELECT make_append_only('audit_nodes');

CREATE TABLE audit_heads (
  org_id    text NOT NULL,
  tree_size bigint NOT NULL,
  root_hash text NOT NULL,
  signed_at timestamptz NOT NULL,
  key_id    text NOT NULL,
  signature text NOT NULL,
  PRIMARY KEY (org_id, tree_size)
);
SELECT make_append_only('audit_heads');

CREATE TABLE audit_announced ( -- the newest head of each log that was announced as an audit.checkpoint event
  org_id       text PRIMARY KEY,
  tree_size    bigint NOT NULL,
  announced_at timestamptz NOT NULL
);

-- The verification of each log that an operator asked for last: the run in progress, and the newest result.
CREATE TABLE audit_verifications (
  org_id      text PRIMARY KEY,
  run_id      text NOT NULL,
  started_by  text NOT NULL, -- the id of an operator
  started_at  timestamptz NOT NULL,
  beat_at     timestamptz,     -- NULL: no run is in progress; long past: its node died
  leaves_done bigint NOT NULL, -- of the run in progress
  leaves_size bigint NOT NULL,
  failure     text,            -- why the last run ended without a result
  result      text,            -- of the newest run that came to its end, as JSON
  result_by   text,
  result_at   timestamptz
);

-- The idempotency keys that were used, with what answers a retry. A key that made a decision points to it and is kept as long
-- as the decision; any other has the answer itself, and upkeep deletes it after a day.
CREATE TABLE idempotency_keys (
  org_id      text NOT NULL,
  key_hash    bytea NOT NULL, -- of the route and the key, see store/environment/idempotency-keys.ts
  fingerprint bytea NOT NULL, -- of the request: a keyed hash, because bodies contain identifier values
  decision_id text,
  status      smallint,
  body        text,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (org_id, key_hash),
  CHECK (num_nonnulls(status, body) = CASE WHEN decision_id IS NULL THEN 2 ELSE 0 END)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at) WHERE decision_id IS NULL;

-- Counted per node, so that nodes do not contend for one row lock. Upkeep sums past days up under the node 'all'. Verdicts are
-- counted by hour (`verdict.approve@14`) until then.
CREATE TABLE usage_by_day (
  org_id   text NOT NULL,
  day      date NOT NULL,
  node     text NOT NULL,
  counter  text NOT NULL,
  count    bigint NOT NULL,
  PRIMARY KEY (org_id, day, node, counter)
);
CREATE INDEX usage_by_day_of_nodes ON usage_by_day (day) WHERE node <> 'all';

-- What the requests of each API key did. A node counts it in memory and adds it up once a second.
CREATE TABLE usage_by_key (
  org_id       text NOT NULL,
  day          date NOT NULL,
  node         text NOT NULL,
  key_id       text NOT NULL,
  requests     bigint NOT NULL,
  errors       bigint NOT NULL,
  decisions    bigint NOT NULL,
  transactions bigint NOT NULL,
  PRIMARY KEY (org_id, day, node, key_id)
);
CREATE INDEX usage_by_key_of_nodes ON usage_by_key (day) WHERE node <> 'all';

-- How long decisions took, as a histogram (core/latency-histogram.ts). Upkeep sums past days up as the hour 24 of the node 'all'.
CREATE TABLE decision_latencies (
  org_id text NOT NULL,
  day    date NOT NULL,
  node   text NOT NULL,
  hour   integer NOT NULL CHECK (hour BETWEEN 0 AND 24), -- in UTC
  counts bigint[] NOT NULL, -- of each bucket, up to the last that is not empty
  PRIMARY KEY (org_id, day, node, hour)
);
CREATE INDEX decision_latencies_of_nodes ON decision_latencies (day) WHERE node <> 'all';

-- The node that currently runs each job of which only one instance may run.
CREATE TABLE leases (
  name         text PRIMARY KEY,
  holder       text NOT NULL,
  leased_until timestamptz NOT NULL
);

-- The last health check of each running node.
CREATE TABLE node_heartbeats (
  node    text PRIMARY KEY,
  beat_at timestamptz NOT NULL
);

-- Fails unless this server can write: it commits a row, and spills a megabyte to a temporary file, because a full disk
-- still has room for one row. A temporary file leaves nothing to vacuum and writes no WAL.
CREATE FUNCTION check_health(checked_node text) RETURNS void LANGUAGE plpgsql SET work_mem = '64kB' AS $$
DECLARE spilled bigint;
BEGIN
  WITH page AS MATERIALIZED (SELECT repeat('x', 8192) AS filler FROM generate_series(1, 128))
    SELECT sum(length(filler)) INTO spilled FROM page;
  DELETE FROM node_heartbeats WHERE beat_at < now() - interval '1 day';
  INSERT INTO node_heartbeats (node, beat_at) VALUES (checked_node, now())
    ON CONFLICT (node) DO UPDATE SET beat_at = excluded.beat_at;
END $$;
