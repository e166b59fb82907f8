-- People who sign in to the console. An account is a person; its operators, one for each organization, hold the roles.

CREATE TABLE accounts (
  id            text PRIMARY KEY,
  email         text NOT NULL UNIQUE, -- lower case
  name          text NOT NULL,
  password_hash text, -- Argon2id; null for an account that signs in by passkey or single sign-on only
  two_factor_since timestamptz, -- while it is set, signing in with the password asks for a code
  created_at    timestamptz NOT NULL,
  entry_id      text NOT NULL,
  mac           text NOT NULL
);

-- What a person chose on their account page. No right depends on it.
CREATE TABLE account_preferences (
  account_id      text PRIMARY KEY,
  number_notation text -- null: by the locale of the browser
);

-- The secret of an account's authenticator app: the second step of signing in with a password.
CREATE TABLE account_codes (
  account_id   text PRIMARY KEY,
  secret       text NOT NULL,   -- encrypted
  last_step    bigint NOT NULL, -- the 30-second step of the last accepted code: neither it nor an older one is accepted again
  confirmed_at timestamptz,     -- null until the first right code: only then signing in asks for codes
  entry_id     text,            -- null until then
  mac          text
);

-- Codes that stand in for a lost authenticator app, each once.
CREATE TABLE recovery_codes (
  account_id text NOT NULL,
  code_hash  text NOT NULL,
  entry_id   text NOT NULL,
  mac        text NOT NULL,
  PRIMARY KEY (account_id, code_hash)
);

CREATE TABLE passkeys (
  id            text PRIMARY KEY,
  account_id    text NOT NULL,
  credential_id text NOT NULL UNIQUE, -- base64url, as the authenticator names it
  public_key    text NOT NULL,        -- COSE key in base64url
  sign_count    bigint NOT NULL,      -- of the last sign-in; a smaller one shows a copied authenticator
  transports    text NOT NULL,        -- separated by spaces
  name          text NOT NULL,
  created_at    timestamptz NOT NULL,
  last_used_at  timestamptz,
  after_entry_id text,
  entry_id      text NOT NULL,
  mac           text NOT NULL
);
CREATE INDEX passkeys_of_account ON passkeys (account_id, id);

-- A browser that is signed in. Ended sessions are deleted.
CREATE TABLE sessions (
  token_hash   text PRIMARY KEY, -- HMAC of the cookie
  id           text NOT NULL UNIQUE,
  account_id   text NOT NULL,
  method       text NOT NULL,
  address      text NOT NULL,
  user_agent   text NOT NULL,
  created_at   timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL, -- to the minute
  expires_at   timestamptz NOT NULL,
  after_entry_id text,
  entry_id     text NOT NULL,
  mac          text NOT NULL
);
CREATE INDEX sessions_of_account ON sessions (account_id, id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- The idempotency keys of acts in the console that write to this database, written with the act; the answer follows, encrypted.
CREATE TABLE act_keys (
  account_id  text NOT NULL,
  key         text NOT NULL,
  fingerprint text NOT NULL, -- a keyed hash of the operation and its input
  status      integer NOT NULL,
  body        text NOT NULL,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (account_id, key)
);
CREATE INDEX act_keys_by_age ON act_keys (created_at);

-- The open half of an exchange in two steps that an account began: password then code, or a new passkey.
CREATE TABLE sign_in_challenges (
  token_hash text PRIMARY KEY, -- HMAC of what the page sends back, or what the passkey signs
  purpose    text NOT NULL,
  account_id text NOT NULL,
  expires_at timestamptz NOT NULL,
  mac        text NOT NULL -- HMAC of all this and the version of the account: neither moved nor used after a new password
);
CREATE INDEX sign_in_challenges_by_expiry ON sign_in_challenges (expires_at);

-- Challenges by which a passkey signed a person in, and states of sign-ins through the identity provider that came back, so
-- that each works once. Until then they are signed or encrypted and not stored: callers without a session ask for them.
CREATE TABLE used_challenges (
  token_hash text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at);

-- Failed attempts to prove who one is, by e-mail (hashed), address, known device, session. Attempts count before they are checked.
CREATE TABLE sign_in_failures (
  subject      text PRIMARY KEY,
  failures     integer NOT NULL, -- since the last success, or since the last hour without any
  locked_until timestamptz,
  last_at      timestamptz NOT NULL
);
CREATE INDEX sign_in_failures_by_age ON sign_in_failures (last_at);

-- Links by which operators get an account, or bind the one they have.
CREATE TABLE invitations (
  org_id       text NOT NULL,
  id           text NOT NULL,
  operator_id  text NOT NULL,
  token_hash   text NOT NULL UNIQUE, -- HMAC of what the link holds
  created_at   timestamptz NOT NULL,
  expires_at   timestamptz NOT NULL,
  accepted_at  timestamptz,
  withdrawn_at timestamptz,
  entry_id     text NOT NULL,
  mac          text NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX invitations_of_operator ON invitations (org_id, operator_id, id);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);
-- One link of an operator at most can be accepted, also if two are made at the same moment.
CREATE UNIQUE INDEX invitations_open ON invitations (org_id, operator_id) WHERE accepted_at IS NULL AND withdrawn_at IS NULL;

-- The link that makes the first owner. Deleted with its use.
CREATE TABLE first_link (
  id         boolean PRIMARY KEY DEFAULT true CHECK (id), -- one row at most
  token_hash text NOT NULL,
  expires_at timestamptz NOT NULL,
  entry_id   text NOT NULL,
  mac        text NOT NULL
);
