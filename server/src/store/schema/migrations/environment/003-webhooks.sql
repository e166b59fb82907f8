-- Webhooks: where events go, each event on its way there, and every try.

CREATE TABLE webhook_endpoints (
  org_id                text NOT NULL,
  id                    text NOT NULL,
  url                   text NOT NULL,
  description           text NOT NULL,
  event_types           text NOT NULL, -- separated by spaces; '*' is all of them, those to come included
  state                 text NOT NULL CHECK (state IN ('enabled', 'disabled')),
  secret                text NOT NULL, -- encrypted
  previous_secret       text,          -- encrypted; signs as well until previous_secret_until
  previous_secret_until timestamptz,
  created_at            timestamptz NOT NULL,
  disabled_at           timestamptz,
  disabled_why          text,
  failing_since         timestamptz,     -- the first failure after the last success or a long silence; nothing while it is well
  failed_at             timestamptz,     -- the latest failure, to the minute; nothing while it is well
  version               bigint NOT NULL, -- counts what people changed, so that two do not overwrite each other
  PRIMARY KEY (org_id, id),
  CHECK ((state = 'disabled') = (disabled_at IS NOT NULL)),
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
);

-- One event on its way to one endpoint: written by the statement that writes the event, so one is there if and only if the other is.
CREATE TABLE webhook_deliveries (
  org_id         text NOT NULL,
  endpoint_id    text NOT NULL,
  event_id       text NOT NULL,
  state          text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts       integer NOT NULL, -- made and recorded, since ever
  schedule_step  integer NOT NULL, -- attempts of the current schedule; a redelivery starts a new one
  round          integer NOT NULL DEFAULT 0, -- schedules begun before this one; an answer decides only its own
  due_at         timestamptz NOT NULL, -- of one that is over: when that was
  leased_until   timestamptz NOT NULL, -- past: whoever comes next may take it; the end of time: it is over
  PRIMARY KEY (org_id, endpoint_id, event_id)
) WITH (fillfactor = 70); -- leases come and go on the same page
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (org_id, endpoint_id, due_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (due_at) WHERE state <> 'pending';

-- Kept as long as its delivery, and no longer: what receivers answer is not ours to keep for good.
CREATE TABLE webhook_attempts (
  org_id      text NOT NULL,
  endpoint_id text NOT NULL,
  event_id    text NOT NULL,
  number      integer NOT NULL,
  started_at  timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  status      integer, -- of the answer; nothing when there was none
  error       text,    -- why there was none
  response    text,    -- how the answer's body began
  PRIMARY KEY (org_id, endpoint_id, event_id, number)
);
