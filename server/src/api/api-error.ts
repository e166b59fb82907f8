import type { BodyFault } from '../http/json-body.ts'
import { VIOLATIONS_MAX, type Violation } from '../http/violation.ts'

/** Every error of the API by its code: status, type, and the message unless an endpoint gives a more specific one. */
export const API_ERRORS = {
  malformed_json: { status: 400, type: 'invalid_request', message: 'The body is not valid JSON.' },
  malformed_request: {
    status: 400,
    type: 'invalid_request',
    message:
      'The request is not valid HTTP, so it could not be read. Use the HTTP client of your language or framework.',
  },
  validation_failed: {
    status: 400,
    type: 'invalid_request',
    message: 'The request has invalid fields. Correct the fields that `details` lists, then retry.',
  },
  idempotency_key_missing: {
    status: 400,
    type: 'invalid_request',
    message:
      'The Idempotency-Key header is missing. Send 1 to 255 printable ASCII characters that are unique to this operation, and the same again with each retry.',
  },
  idempotency_key_invalid: {
    status: 400,
    type: 'invalid_request',
    message: 'The Idempotency-Key header is not valid. Send 1 to 255 printable ASCII characters.',
  },
  api_key_missing: {
    status: 401,
    type: 'authentication',
    message: 'The API key is missing. Send it in the header `Authorization: Bearer sk_…`.',
  },
  api_key_invalid: {
    status: 401,
    type: 'authentication',
    message: 'This API key does not exist. Check that it was copied completely.',
  },
  api_key_revoked: {
    status: 401,
    type: 'authentication',
    message: 'This API key was revoked. Use another key, or ask an operator for a new one.',
  },
  api_key_expired: {
    status: 401,
    type: 'authentication',
    message: 'This API key has expired. Use another key, or ask an operator for a new one.',
  },
  wrong_environment: {
    status: 401,
    type: 'authentication',
    message: 'This API key belongs to the other environment. Use a key of this one, or the base URL of the other one.',
  },
  insufficient_scope: {
    status: 403,
    type: 'permission',
    message: 'This API key lacks the scope that this request needs. Use a key that has it.',
  },
  approval_limit_exceeded: {
    status: 403,
    type: 'permission',
    message:
      'This API key may not approve this amount. Decide it in the review queue of the console, or ask an owner for a higher approval limit of the key.',
  },
  live_underwriting_not_enabled: {
    status: 403,
    type: 'permission',
    message:
      'Live underwriting is not enabled for this organization. Two operators have to approve it first, on the page Live gate of the console or with `npm run cli -- gate approve`.',
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
    message: 'There is no endpoint at this path. GET /openapi.json lists every path.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request',
    message: 'This path does not support this method. Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request',
    message:
      'The request did not arrive completely within 30 seconds. Retry it, with the same Idempotency-Key if it has one.',
  },
  entity_type_conflict: {
    status: 409,
    type: 'conflict',
    message: 'This entity has another type, and the type of an entity cannot change. Omit `type`.',
  },
  body_too_large: {
    status: 413,
    type: 'invalid_request',
    message: 'The body is larger than 1 MiB. Split it into smaller requests.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request',
    message: 'The Content-Type is not supported. Send JSON with the header `Content-Type: application/json`.',
  },
  idempotency_key_reused: {
    status: 422,
    type: 'idempotency',
    message:
      'This Idempotency-Key was used before, for a different request. Nothing was written. Use a new key for a new operation.',
  },
  no_active_policy: {
    status: 422,
    type: 'invalid_request',
    message:
      'This organization has no active policy in this environment. An operator has to activate one first, with `npm run cli -- policy activate`.',
  },
  unknown_product: {
    status: 422,
    type: 'invalid_request',
    message: 'The active policy does not list this product. Send one that it lists.',
  },
  amount_required: {
    status: 422,
    type: 'invalid_request',
    message:
      'The active policy declares this product as credit, so it needs `requested_amount` and `currency`. For access without credit, send a product that the policy declares as access.',
  },
  amount_not_allowed: {
    status: 422,
    type: 'invalid_request',
    message:
      'The active policy declares this product as access, so it has no `requested_amount` and no `currency`. For credit, send a product that the policy declares as credit.',
  },
  term_not_allowed: {
    status: 422,
    type: 'invalid_request',
    message:
      'The active policy does not let the applicant choose this term for this product. Send one that it offers, or leave out `term_months`.',
  },
  too_many_open_offers: {
    status: 422,
    type: 'invalid_request',
    message:
      'This entity has 100 open offers, and can have no more. Report which were funded or closed, or send the `reference` of the request that this one replaces.',
  },
  outcome_mismatch: {
    status: 422,
    type: 'invalid_request',
    message:
      'This outcome cannot belong to this decision; `details` says why. Correct it, or send `"override": true` with a `note` that says why it is right.',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit',
    message: 'Too many requests. Wait for the number of seconds in Retry-After, then retry.',
  },
  headers_too_large: {
    status: 431,
    type: 'invalid_request',
    message: 'The headers of the request are larger than 16 KiB. Send fewer or shorter ones, such as cookies.',
  },
  internal_error: {
    status: 500,
    type: 'api',
    message:
      'The server failed unexpectedly and logged the cause under this request_id. Retry it, with the same Idempotency-Key if it has one; if it fails again, give the request_id to an operator.',
  },
  effect_unknown: {
    status: 503,
    type: 'api',
    message:
      'It is not known whether this request was recorded: the answer of the database was lost. With the same Idempotency-Key it is safe to retry. Without one, first check whether it was recorded.',
  },
  overloaded: {
    status: 503,
    type: 'api',
    message:
      'The service is overloaded or cannot reach its database. Nothing was recorded. Wait for the number of seconds in Retry-After, then retry.',
  },
} as const

/** The code of an error. Codes are stable, so that programs can rely on them. */
export type ErrorCode = keyof typeof API_ERRORS

/** The page about an error, in this repository. */
export function docsOf(code: ErrorCode): string {
  return `docs/reference/error-codes.md#${code}`
}

/** What a failure carries beyond its code: a more specific message, the fields at fault, headers. */
export interface FailureDetails {
  message?: string
  param?: string
  details?: Violation[]
  headers?: Record<string, string>
}

/** A refused request as data. Endpoints return it, and only the codes that they declare type-check. */
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

  /** The body of the response. */
  envelope(requestId: string) {
    const { type, message } = API_ERRORS[this.code]
    return {
      error: {
        type,
        code: this.code,
        message: this.details.message ?? message,
        ...(this.details.param !== undefined && { param: this.details.param }),
        ...(this.details.details && { details: this.details.details }),
        docs: docsOf(this.code),
        request_id: requestId,
      },
    }
  }
}

/** Creates a failure with one of the codes above. */
export function fail<C extends ErrorCode>(code: C, details?: FailureDetails): Failure<C> {
  return new Failure(code, details)
}

/** Creates a failure with violations; its message is that of the first, and says how many more there are. */
export function failWith<C extends ErrorCode>(code: C, violations: readonly Violation[]): Failure<C> {
  const [first] = violations
  const suffix = violations.length > 1 ? ` (and ${violations.length - 1} more)` : ''
  return new Failure(code, {
    ...(first && { param: first.param, message: first.message + suffix }),
    details: violations.slice(0, VIOLATIONS_MAX),
  })
}

/** Creates the failure for invalid fields. */
export function failValidation(violations: readonly Violation[]): Failure<'validation_failed'> {
  return failWith('validation_failed', violations)
}

/** Creates the failure for what a caller reports about a decision whose entity was erased: nothing more is recorded of it. */
export function failErased(decisionId: string): Failure<'decision_not_found'> {
  return new Failure('decision_not_found', {
    message: `The entity of ${decisionId} was erased, so nothing more is recorded about this decision.`,
  })
}

/** Creates the failure for a body that cannot be read. */
export function failBody({ code, message, violation }: BodyFault): Failure<BodyFault['code']> {
  return new Failure(code, { message, ...violation, ...(violation && { details: [violation] }) })
}
