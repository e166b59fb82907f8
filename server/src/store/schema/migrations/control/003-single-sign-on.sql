-- The person at an identity provider as whom an account signs in. Only the pair of issuer and subject names a person for
-- good: an e-mail may be given to another person later.
CREATE TABLE account_identities (
  issuer     text NOT NULL,
  subject    text NOT NULL,
  account_id text NOT NULL,
  created_at timestamptz NOT NULL,
  after_entry_id text,
  entry_id   text NOT NULL,
  mac        text NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX account_identities_of_account ON account_identities (account_id);
