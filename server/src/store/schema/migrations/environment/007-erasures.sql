-- The erasures of entities that two people approved, on the log as `entity.erased`. A row holds no personal data: its entity
-- does not exist any more, and its id leads to nothing.
CREATE TABLE erasures (
  org_id      text NOT NULL,
  entity_id   text NOT NULL,
  entry_id    text NOT NULL, -- the audit entry that approved it
  approved_at timestamptz NOT NULL, -- from here on the entity is unknown to every request
  done_at     timestamptz, -- when all that was stored of it was gone but what its decisions were made from; NULL until then
  decisions_done_at timestamptz, -- when that was gone too, after the statutory period
  PRIMARY KEY (org_id, entity_id)
);
CREATE INDEX erasures_pending ON erasures (approved_at, org_id, entity_id) WHERE done_at IS NULL;
CREATE INDEX erasures_by_approval ON erasures (approved_at);
CREATE INDEX erasures_with_decisions ON erasures (approved_at, org_id, entity_id) WHERE decisions_done_at IS NULL;

-- The entity whose erasure an audit entry approves, once the entry has its leaf below a signed head; NULL if it approves none. Who
-- may insert any row can forge all of this: only the service, which has the keys, tells a forged entry (docs/threat-model.md).
CREATE FUNCTION erased_entity(of_org text, erasure text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT entry.subject_id FROM audit_entries AS entry
  JOIN erasures AS approved ON approved.org_id = entry.org_id AND approved.entity_id = entry.subject_id AND approved.entry_id = entry.id
  JOIN audit_flushes AS sealed ON sealed.org_id = entry.org_id AND sealed.flush = entry.flush
  WHERE entry.org_id = of_org AND entry.id = erasure AND entry.type = 'entity.erased'
    -- The list names the entry at its place, by the 26 characters after `aud_`.
    AND entry.place BETWEEN 0 AND length(sealed.entry_ids) / 26 - 1
    AND 'aud_' || substr(sealed.entry_ids, entry.place * 26 + 1, 26) = entry.id
    AND EXISTS (SELECT FROM audit_heads AS head WHERE head.org_id = entry.org_id AND head.tree_size > sealed.first_leaf + entry.place)
$$;

-- The one way to change rows of append-only tables: runs a statement with the organization ($1), the entity ($2) and `given` ($3)
-- that may change rows about an entity, if the audit entry `erasure` approves that it is erased. Returns how many rows it changed.
CREATE FUNCTION erase_records(of_org text, erasure text, change text, given jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  changed bigint;
BEGIN
  IF erased_entity(of_org, erasure) IS NULL THEN
    RAISE EXCEPTION 'no sealed entry % approves an erasure', erasure USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM set_config('verdigraph.erasure', erasure, true);
  EXECUTE change USING of_org, erased_entity(of_org, erasure), given;
  GET DIAGNOSTICS changed = ROW_COUNT;
  PERFORM set_config('verdigraph.erasure', '', true);
  RETURN changed;
END $$;

-- The steps by which two operators erase an entity, hold it against erasure, and lift the hold. Which of them stand is read from
-- their entries on the log; the rows have the reasons, which may name a person. An approved erasure has no row: it is in `erasures`.
CREATE TABLE entity_steps (
  org_id     text NOT NULL,
  id         text NOT NULL,
  entity_id  text NOT NULL,
  effect     text NOT NULL CHECK (effect IN ('erased', 'held', 'lifted')),
  step       text NOT NULL CHECK (step IN ('proposed', 'approved', 'withdrawn')),
  reason     text NOT NULL,
  actor_type text NOT NULL,
  actor_id   text NOT NULL,
  taken_at   timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
SELECT make_append_only('entity_steps', 'entity_id');
CREATE INDEX entity_steps_of_entity ON entity_steps (org_id, entity_id);

-- Where this database was when a node compared it last with the erasures that it knows outside of it: a dump, a copy of older files
-- or a point in time that is restored is elsewhere. One row.
CREATE TABLE erasures_compared (
  is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  place       text NOT NULL, -- the server, its timeline and the table `erasures`
  compared_at timestamptz NOT NULL
);
