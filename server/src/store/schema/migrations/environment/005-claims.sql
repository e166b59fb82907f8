-- What two may speak of at the same moment: an identifier by its hash, or a relationship between two entities. Each
-- statement takes the next version, so that nobody overlooks what another says meanwhile.
CREATE TABLE graph_claims (
  org_id  text NOT NULL,
  claim   text NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (org_id, claim)
);
