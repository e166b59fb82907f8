-- Webhooks: endpoints, the delivery of each event to each endpoint, and every attempt.

CREATE TABLE webhook_endpoints (
  org_id                text NOT NULL,
  id                    text NOT NULL,
  url                   text NOT NULL, -- encrypted, because paths and queries often hold a token
  shown_url             text NOT NULL, -- scheme and host, with a masked rest
  description           text NOT NULL,
  event_types           text NOT NULL, -- separated by spaces; '*' is all types, including future ones
  state                 text NOT NULL CHECK (state IN ('enabled', 'disabled', 'removed')), -- removed: kept while it has deliveries
  secret                text NOT NULL, -- encrypted; erased, like the URL, when the webhook endpoint is removed
  secret_since          timestamptz NOT NULL,
  previous_secret       text,          -- encrypted; also signs until previous_secret_until
  previous_secret_until timestamptz,
  created_at            timestamptz NOT NULL,
  disabled_at           timestamptz,
  disabled_why          text,
  removed_at            timestamptz,
  failing_since         timestamptz,     -- the first failure since the last success or a long silence; NULL while deliveries succeed
  failed_at             timestamptz,     -- the latest failure, to the minute; NULL while deliveries succeed
  version               bigint NOT NULL, -- the optimistic lock for changes by operators
  PRIMARY KEY (org_id, id),
  CHECK ((state = 'disabled') = (disabled_at IS NOT NULL)),
  CHECK ((state = 'removed') = (removed_at IS NOT NULL)),
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
);

-- The delivery of one event to one webhook endpoint, written by the statement that writes the event: both or neither exist.
CREATE TABLE webhook_deliveries (
  org_id         text NOT NULL,
  endpoint_id    text NOT NULL,
  event_id       text NOT NULL,
  event_type     text NOT NULL, -- of the event, for the list of deliveries
  state          text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts       integer NOT NULL, -- recorded attempts in all
  schedule_step  integer NOT NULL, -- attempts in the current retry schedule; a redelivery starts a new schedule
  cycle          integer NOT NULL DEFAULT 0, -- number of earlier schedules; a response counts only for the schedule of its attempt
  due_at         timestamptz NOT NULL, -- of a finished delivery: when it finished
  by_hand        boolean NOT NULL DEFAULT false, -- an operator queued it: its next attempt says nothing about the endpoint's health
  last_answer    text, -- of the last attempt: the class of its status, such as 5xx, or none; NULL before the first
  leased_until   timestamptz NOT NULL, -- in the past: any node may lease it; year 9999: finished
  PRIMARY KEY (org_id, endpoint_id, event_id)
) WITH (fillfactor = 70); -- room for lease updates on the same page (HOT updates)
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (org_id, endpoint_id, due_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (due_at) WHERE state <> 'pending';
-- For the list of deliveries, which reads one webhook endpoint after another. Most deliveries succeed at once and are in the
-- first of these only.
CREATE INDEX webhook_deliveries_of_type ON webhook_deliveries (org_id, endpoint_id, event_type, event_id);
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (org_id, endpoint_id, event_id) WHERE state = 'failed';
CREATE INDEX webhook_deliveries_refused ON webhook_deliveries (org_id, endpoint_id, last_answer, event_id) WHERE last_answer <> '2xx';

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
  signature   text,    -- the header webhook-signature; NULL if no request was sent
  user_agent  text,
  PRIMARY KEY (org_id, endpoint_id, event_id, number)
);

-- Attempts of each hour, counted per node so that nodes do not contend for one row lock. The chart of a webhook endpoint
-- reads a row for each hour instead of every attempt.
CREATE TABLE webhook_attempts_by_hour (
  org_id            text NOT NULL,
  endpoint_id       text NOT NULL,
  hour              timestamptz NOT NULL,
  node              text NOT NULL,
  delivered         bigint NOT NULL,
  failed            bigint NOT NULL,
  last_delivered_at timestamptz,
  PRIMARY KEY (org_id, endpoint_id, hour, node)
);
CREATE INDEX webhook_attempts_by_hour_by_age ON webhook_attempts_by_hour (hour);
