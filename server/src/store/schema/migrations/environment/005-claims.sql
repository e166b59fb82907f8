-- The optimistic-lock version of each claim: an identifier (by its hash), or a relationship between two entities. Every
-- assertion writes the next version, so the second of two concurrent assertions fails and is retried on the first's result.
CREATE TABLE graph_claims (
  org_id  text NOT NULL,
  claim   text NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (org_id, claim)
);
