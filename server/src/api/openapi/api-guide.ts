import { VIOLATIONS_MAX } from '../../http/violation.ts'

/** The introduction of the API document, in Markdown: what holds for every operation. */
export const API_GUIDE = `Verdigraph answers who should get credit or access, and why. Create an entity, attach what you know about it, and ask for a decision. The decision has its reasons, never changes, and can be replayed to the byte.

Sandbox and production have the same API and share neither keys nor data.

# Authentication

Send a secret key with every request: \`Authorization: Bearer sk_sandbox_…\`. A key belongs to one organization and one environment; a key of the other environment is refused with \`wrong_environment\`. A key has scopes, and each operation names the one that it needs. An operator creates and revokes keys; a revoked key stops working within a second. Keep keys on your servers: everything that a key may read, its holder may read.

# Idempotency

Send an \`Idempotency-Key\` with every POST: any text of 1 to 255 printable ASCII characters that is unique to the operation, such as the number of an application. \`POST /v1/underwrite\` and \`POST /v1/entities/{entity_id}/transactions\` require it.

- A retry with the same key and the same body gets the first answer again, with \`Idempotent-Replayed: true\`. Nothing is written twice.
- The same key with another body is refused with \`idempotency_key_reused\`, and nothing is written.
- Only successes are kept, for at least 24 hours. After an error, retry with the same key.
- A key that made a decision is remembered as long as the decision. A retry after more than 24 hours gets the same body with the status 200; another body is refused as always. If the decision cannot be read any more, the retry gets \`decision_not_found\`, and nothing is decided.
- A key belongs to the organization, not to the API key: a retry after a rotation of keys works.

After a time-out or \`effect_unknown\`, retry with the same key: it is not known whether the request was recorded, and the retry either finds its answer or records it.

# Errors

Every error is \`{"error": {"type", "code", "message", "param", "details", "request_id"}}\`. Programs use \`code\`, which never changes its meaning; people read \`message\`, which says what to do next. \`param\` is a JSON pointer to the first invalid field, \`details\` lists up to ${VIOLATIONS_MAX} of them, and the message says how many more there are. Give the \`request_id\` to an operator if you need help.

Requests refuse unknown fields, because a typo in a credit request must not pass silently. 4xx errors need another request. \`429\` and \`503\` can be retried after the seconds in \`Retry-After\`. Another organization’s object is answered like one that does not exist.

# Times and amounts

Times are ISO 8601 in UTC with milliseconds; any offset is accepted. A time that you report may be up to five minutes ahead of the service’s clock and is then recorded as now. Amounts are JSON numbers in major units with at most four decimals, and are stored exactly.

# Pagination

A list is \`{"object": "list", "data", "has_more", "next_cursor"}\`, newest first. Ask for the next page with \`?cursor=\` and the \`next_cursor\` of the page before, until \`has_more\` is false. \`?limit=\` sets the size of a page. A cursor works for its own list only.

# Events

Operators register webhook endpoints, which get a signed POST for each event (section *webhooks* of this document). Verify the signature as Standard Webhooks defines, answer with 2xx within 15 seconds, and do the work afterwards. Events are delivered at least once and in no guaranteed order: use \`webhook-id\` to recognize a repeated one, and fetch the object by its id for its state. An event carries ids, verdicts and versions, never personal data. \`POST /v1/webhook-test\` sends one.

# Versions

Answers and events may gain fields, event types, reason codes and error codes. Ignore what you do not know. Fields are never removed, renamed or given another type within v1.`
