-- The erasures of entities that two people approved, on the log as `entity.erased`. A row holds no personal data: its entity
-- does not exist any more, and its id leads to nothing.
CREATE TABLE erasures (
  org_id      text NOT NULL,
  entity_id   text NOT NULL,
  entry_id    text NOT NULL, -- the audit entry that approved it
  approved_at timestamptz NOT NULL, -- from here on the entity is unknown to every request
  done_at     timestamptz, -- when all that was stored of it was gone; NULL while it is being erased
  PRIMARY KEY (org_id, entity_id)
);
CREATE INDEX erasures_pending ON erasures (approved_at) WHERE done_at IS NULL;
