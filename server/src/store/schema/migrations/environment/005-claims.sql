-- The optimistic-lock version of each claim: an identifier (by its hash), or a relationship between two entities. Every
-- assertion writes the next version, so the second of two concurrent assertions fails and is retried on the first's result.
-- The counts are of the entities that have ever asserted an identifier other than by a failed check, or verified it; they
-- weaken its links.
CREATE TABLE graph_claims (
  org_id           text NOT NULL,
  claim            text NOT NULL,
  version          bigint NOT NULL,
  holders          integer NOT NULL DEFAULT 0,
  verified_holders integer NOT NULL DEFAULT 0,
  PRIMARY KEY (org_id, claim)
);
