-- Data shared by both environments: the installation, organizations, operators, and the live gate.
-- A row with `entry_id` and `mac` grants power: `mac` covers its contents and the audit entry that made it so, and the row is
-- refused unless that entry is the newest of its subject (store/power/power-tables.ts). `after_entry_id` is the newest entry
-- that ended all such rows of the account when the row was made; null if there was none.

CREATE TABLE installation (
  id                    boolean PRIMARY KEY DEFAULT true CHECK (id), -- one row at most
  master_key_check      text NOT NULL, -- a node with another master key refuses to start
  retired_master_keys   text, -- all of them, encrypted with the current master key
  next_master_key_check text, -- while a rotation is under way
  first_organization_id text NOT NULL, -- under this id, an interrupted first start is completed
  created_at            timestamptz NOT NULL
);

CREATE TABLE organizations (
  id         text PRIMARY KEY,
  name       text NOT NULL,
  created_at timestamptz NOT NULL
);
-- A person would take one organization for the other if their names differed only in capitals.
CREATE UNIQUE INDEX organizations_by_name ON organizations (lower(name));

CREATE TABLE operators (
  org_id      text NOT NULL,
  id          text NOT NULL,
  email       text NOT NULL,
  name        text NOT NULL,
  role        text NOT NULL CHECK (role IN ('owner', 'admin', 'policy_author', 'policy_approver', 'reviewer', 'developer', 'viewer')),
  created_at  timestamptz NOT NULL,
  disabled_at timestamptz,
  account_id  text, -- the account that signs in to the console as this operator; null until an invitation is accepted
  entry_id    text NOT NULL,
  mac         text NOT NULL,
  PRIMARY KEY (org_id, id)
);
-- A person who was removed may be added again, as another operator: approvals of the removed one stay invalid.
CREATE UNIQUE INDEX operators_by_email ON operators (org_id, email) WHERE disabled_at IS NULL;
CREATE UNIQUE INDEX operators_by_account ON operators (org_id, account_id) WHERE disabled_at IS NULL;
CREATE INDEX operators_of_account ON operators (account_id, org_id);

-- The secret of an operator's authenticator app. One-time codes prove who acts, where two people have to.
CREATE TABLE operator_codes (
  org_id       text NOT NULL,
  operator_id  text NOT NULL,
  secret       text NOT NULL,   -- encrypted
  last_step    bigint NOT NULL, -- the 30-second step of the last accepted code: neither it nor an older one is accepted again
  failures     integer NOT NULL, -- wrong codes since the last accepted one
  locked_until timestamptz,
  enrolled_at  timestamptz NOT NULL,
  entry_id     text NOT NULL,
  mac          text NOT NULL,
  PRIMARY KEY (org_id, operator_id)
);

-- The live gate of an organization is open while approvals of two different operators are not withdrawn.
CREATE TABLE live_gate_approvals (
  org_id       text NOT NULL,
  operator_id  text NOT NULL,
  reason       text NOT NULL,
  approved_at  timestamptz NOT NULL,
  withdrawn_at timestamptz,
  entry_id     text NOT NULL,
  mac          text NOT NULL,
  PRIMARY KEY (org_id, operator_id, approved_at)
);

-- Audit entries of changes to rows that grant power, written with the change and taken from here to production's logs.
CREATE TABLE entries_to_record (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- the order of the changes
  org_id   text NOT NULL,
  entry    text NOT NULL -- JSON, with the MAC of the entry
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
