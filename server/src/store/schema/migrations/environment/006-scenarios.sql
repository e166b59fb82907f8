-- The named scenarios of the playground: requests that operators keep, compare and remove. They are drafts, not records.
CREATE TABLE playground_scenarios (
  org_id   text NOT NULL,
  id       text NOT NULL,
  name     text NOT NULL,
  request  text NOT NULL, -- the input of a dry run, as JSON
  saved_by text NOT NULL, -- the id of the operator who saved it last
  saved_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX playground_scenarios_by_name ON playground_scenarios (org_id, name);
