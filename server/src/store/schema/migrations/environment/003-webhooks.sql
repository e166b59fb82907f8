-- Webhooks: endpoints, the delivery of each event to each endpoint, and every attempt.

CREATE TABLE webhook_endpoints (
  org_id                text NOT NULL,
  id                    text NOT NULL,
  url                   text NOT NULL, -- encrypted, because paths and queries often hold a token
  shown_url             text NOT NULL, -- scheme and host, with a masked rest
  description           text NOT NULL,
  event_types           text NOT NULL, -- separated by spaces; '*' is all types, including future ones
  state                 text NOT NULL CHECK (state IN ('enabled', 'disabled')),
  secret                text NOT NULL, -- encrypted
  previous_secret       text,          -- encrypted; also signs until previous_secret_until
  previous_secret_until timestamptz,
  created_at            timestamptz NOT NULL,
  disabled_at           timestamptz,
  disabled_why          text,
  failing_since         timestamptz,     -- the first failure since the last success or a long silence; NULL while deliveries succeed
  failed_at             timestamptz,     -- the latest failure, to the minute; NULL while deliveries succeed
  version               bigint NOT NULL, -- the optimistic lock for changes by operators
  PRIMARY KEY (org_id, id),
  CHECK ((state = 'disabled') = (disabled_at IS NOT NULL)),
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
);

-- The delivery of one event to one webhook endpoint, written by the statement that writes the event: both or neither exist.
CREATE TABLE webhook_deliveries (
  org_id         text NOT NULL,
  endpoint_id    text NOT NULL,
  event_id       text NOT NULL,
  state          text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts       integer NOT NULL, -- recorded attempts in all
  schedule_step  integer NOT NULL, -- attempts in the current retry schedule; a redelivery starts a new schedule
  cycle          integer NOT NULL DEFAULT 0, -- number of earlier schedules; a response counts only for the schedule of its attempt
  due_at         timestamptz NOT NULL, -- of a finished delivery: when it finished
  leased_until   timestamptz NOT NULL, -- in the past: any node may lease it; year 9999: finished
  PRIMARY KEY (org_id, endpoint_id, event_id)
) WITH (fillfactor = 70); -- room for lease updates on the same page (HOT updates)
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (org_id, endpoint_id, due_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (due_at) WHERE state <> 'pending';

-- Deleted with its delivery, because receivers' responses must not be kept for good.
CREATE TABLE webhook_attempts (
  org_id      text NOT NULL,
  endpoint_id text NOT NULL,
  event_id    text NOT NULL,
  number      integer NOT NULL,
  started_at  timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  status      integer, -- of the response; NULL if there was none
  error       text,    -- why there was no response
  response    text,    -- the beginning of the response body
  PRIMARY KEY (org_id, endpoint_id, event_id, number)
);
