/** The one table of everything that can go wrong: code → status, type, and what to tell the caller when nothing more is known. */
export const API_ERRORS = {
  malformed_json: { status: 400, type: 'invalid_request', message: 'The body is not valid JSON.' },
  validation_failed: {
    status: 400,
    type: 'invalid_request',
    message: 'The request has fields that cannot be accepted; `details` lists each of them.',
  },
  idempotency_key_missing: {
    status: 400,
    type: 'invalid_request',
    message:
      'This request needs an Idempotency-Key header: any text of 1 to 255 printable ASCII characters that you use for this one operation and its retries.',
  },
  idempotency_key_invalid: {
    status: 400,
    type: 'invalid_request',
    message: 'The Idempotency-Key header must be 1 to 255 printable ASCII characters.',
  },
  api_key_missing: {
    status: 401,
    type: 'authentication',
    message: 'Send your secret key in the header `Authorization: Bearer sk_…`.',
  },
  api_key_invalid: {
    status: 401,
    type: 'authentication',
    message: 'This API key is not known. Check that it was copied whole.',
  },
  api_key_revoked: {
    status: 401,
    type: 'authentication',
    message: 'This API key was revoked. Use another key, or ask an administrator for a new one.',
  },
  api_key_expired: {
    status: 401,
    type: 'authentication',
    message: 'This API key has expired. Use another key, or ask an administrator for a new one.',
  },
  wrong_environment: { status: 401, type: 'authentication', message: 'This API key belongs to the other environment.' },
  insufficient_scope: {
    status: 403,
    type: 'permission',
    message: 'This API key lacks the scope that this request needs.',
  },
  live_underwriting_not_enabled: {
    status: 403,
    type: 'permission',
    message:
      'Live underwriting is not enabled for this organization: two operators have to open the live gate in the console first.',
  },
  entity_not_found: {
    status: 404,
    type: 'not_found',
    message: 'There is no entity with this id. Create it with POST /v1/entities, or check the id and the environment.',
  },
  decision_not_found: {
    status: 404,
    type: 'not_found',
    message: 'There is no decision with this id. Check the id and the environment.',
  },
  route_not_found: {
    status: 404,
    type: 'not_found',
    message: 'There is nothing at this path. GET /openapi.json lists every path.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request',
    message: 'This path does not answer this method; the Allow header lists those it does.',
  },
  entity_type_conflict: {
    status: 409,
    type: 'conflict',
    message: 'This entity is known with another type, and the type of an entity cannot change.',
  },
  body_too_large: {
    status: 413,
    type: 'invalid_request',
    message: 'The body is larger than 1 MiB. Send it in smaller parts.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request',
    message: 'Send the body as JSON with the header `Content-Type: application/json`.',
  },
  idempotency_key_reused: {
    status: 422,
    type: 'idempotency',
    message:
      'This Idempotency-Key was used for a request with other content. Nothing was written; use a new key for a new operation.',
  },
  no_active_policy: {
    status: 422,
    type: 'invalid_request',
    message: 'This organization has no active policy in this environment. Activate one, then ask again.',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit',
    message: 'Too many requests. Wait for as long as Retry-After says, then go on.',
  },
  internal_error: {
    status: 500,
    type: 'api',
    message:
      'Something failed on our side, and it has been noted under this request_id. The request may be tried again.',
  },
  overloaded: {
    status: 503,
    type: 'api',
    message: 'The service cannot take this request right now. Wait for as long as Retry-After says, then try again.',
  },
} as const

/** The code of an error, stable for programs to act on. */
export type ErrorCode = keyof typeof API_ERRORS

/** One thing that is wrong with a request; `param` is a JSON pointer into the body, or the name of a parameter. */
export interface Violation {
  param: string
  message: string
}

/** What may be said beyond the code. */
export interface FailureDetails {
  message?: string
  param?: string
  details?: Violation[]
  headers?: Record<string, string>
}

/** A refusal as data: endpoints return it, and only the codes they declare type-check. */
export class Failure<C extends ErrorCode = ErrorCode> {
  readonly code: C
  readonly details: FailureDetails

  constructor(code: C, details: FailureDetails = {}) {
    this.code = code
    this.details = details
  }

  get status(): number {
    return API_ERRORS[this.code].status
  }

  /** The body of the answer. */
  envelope(requestId: string) {
    const { type, message } = API_ERRORS[this.code]
    return {
      error: {
        type,
        code: this.code,
        message: this.details.message ?? message,
        ...(this.details.param !== undefined && { param: this.details.param }),
        ...(this.details.details && { details: this.details.details }),
        request_id: requestId,
      },
    }
  }
}

/** Refuses a request with a code of the table. */
export function fail<C extends ErrorCode>(code: C, details?: FailureDetails): Failure<C> {
  return new Failure(code, details)
}

/** Refuses a request for what is wrong with its fields. */
export function failValidation(violations: Violation[]): Failure<'validation_failed'> {
  const [first] = violations
  return new Failure('validation_failed', {
    ...(first && {
      param: first.param,
      message: violations.length === 1 ? first.message : `${first.message} (and ${violations.length - 1} more)`,
    }),
    details: violations,
  })
}
