import type { Environment } from '../../config.ts'
import { SCOPES } from '../../security/scopes.ts'
import { API_ERRORS, docsOf, type ErrorCode } from '../api-error.ts'
import type { AnyEndpoint } from '../define-endpoint.ts'
import { routes } from '../routes.ts'
import { ErrorBody } from '../schemas/fields.ts'
import { WEBHOOK_EVENTS } from '../schemas/webhook-event.ts'
import { API_EXAMPLES } from './api-examples.ts'
import { API_GUIDE } from './api-guide.ts'
import { exampleOf } from './example-of.ts'

type Json = Record<string, unknown>

/** Codes that every endpoint can answer with. */
const ALWAYS: readonly ErrorCode[] = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_revoked',
  'api_key_expired',
  'wrong_environment',
  'insufficient_scope',
  'validation_failed',
  'rate_limited',
  'internal_error',
  'overloaded',
]
/** Codes that every POST endpoint can answer with as well. */
const WITH_BODY: readonly ErrorCode[] = [
  'malformed_json',
  'body_too_large',
  'unsupported_media_type',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'effect_unknown',
]

const TAGS = [
  { name: 'Entities', description: 'People, businesses and institutions, and the facts recorded about them.' },
  { name: 'Decisions', description: 'Verdicts with their reasons, and the reviews and outcomes recorded afterwards.' },
  { name: 'Usage', description: 'How much an organization has used.' },
  { name: 'Webhooks', description: 'Signed events that are sent to the webhook endpoints of an organization.' },
  { name: 'Description', description: 'This document.' },
]

/** Describes the API in OpenAPI 3.1, from the same schemas that validate requests and serialize replies. */
export function describeApi({
  version,
  servers,
}: {
  version: string
  servers: Partial<Record<Environment, string>>
}): Json {
  const components = new Components()
  const paths: Record<string, Json> = {}
  for (const endpoint of routes) {
    const operation = { [endpoint.method.toLowerCase()]: describeOperation(endpoint, components) }
    paths[endpoint.path] = { ...paths[endpoint.path], ...operation }
  }
  paths['/openapi.json'] = { get: describeItself() }
  components.name(ErrorBody)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Verdigraph API',
      version,
      summary: 'Who should get credit or access, and why.',
      description: API_GUIDE,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The operators of this installation' },
    },
    servers: Object.entries(servers).map(([environment, url]) => ({ url, description: environment })),
    security: [{ apiKey: [] }],
    tags: TAGS,
    paths,
    webhooks: Object.fromEntries(
      WEBHOOK_EVENTS.map((event) => [event.type, { post: describeEvent(event, components) }]),
    ),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `A secret key, \`sk_sandbox_…\` or \`sk_production_…\`, with one or more of the scopes ${SCOPES.join(', ')}.`,
        },
      },
      headers: HEADERS,
      examples: Object.fromEntries(describedCodes().map((code) => [code, { value: errorExample(code) }])),
      schemas: components.schemas,
    },
  }
}

const HEADERS = {
  RequestId: { description: 'Identifies this request in logs and errors.', schema: { type: 'string' } },
  RateLimitPolicy: {
    description: 'The rate limit: `q` requests in `w` seconds.',
    schema: { type: 'string' },
    example: '"default";q=10000;w=2',
  },
  RateLimit: {
    description: 'The rest of the rate limit: `r` requests now, and all of them again in `t` seconds.',
    schema: { type: 'string' },
    example: '"default";r=9999;t=1',
  },
  IdempotentReplayed: {
    description: '`true` if this repeats the answer to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  RetryAfter: { description: 'Seconds to wait before a retry.', schema: { type: 'integer' } },
  WwwAuthenticate: { description: 'How to authenticate.', schema: { type: 'string', enum: ['Bearer'] } },
}

function describeOperation(endpoint: AnyEndpoint, components: Components): Json {
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    description: [endpoint.description, `Scope: \`${endpoint.scope}\`.`].filter(Boolean).join('\n\n'),
    tags: [endpoint.tag],
    parameters: describeParameters(endpoint, components),
    ...(endpoint.body && {
      requestBody: {
        required: true,
        content: jsonContent(components.name(endpoint.body), ...requestExamples(endpoint)),
      },
    }),
    responses: { ...describeSuccesses(endpoint, components), ...describeErrors(codesOf(endpoint)) },
  }
}

function describeParameters(endpoint: AnyEndpoint, components: Components): Json[] {
  const named = (schema: { properties?: unknown } | undefined, place: 'path' | 'query'): Json[] =>
    Object.entries((schema?.properties ?? {}) as Record<string, Json>).map(([name, { description, ...property }]) => ({
      name,
      in: place,
      required: place === 'path',
      ...(description !== undefined && { description }),
      schema: components.inline(property),
    }))
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: endpoint.idempotency === 'required',
    description:
      'Any text that is unique to this operation. A retry with the same key gets the same answer, for at least 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: 'order-1042-attempt',
  }
  return [
    ...named(endpoint.params, 'path'),
    ...named(endpoint.query, 'query'),
    ...(endpoint.method === 'POST' ? [key] : []),
  ]
}

function describeSuccesses(endpoint: AnyEndpoint, components: Components): Record<string, Json> {
  const headers: Json = {
    'Request-Id': ref('headers', 'RequestId'),
    'RateLimit-Policy': ref('headers', 'RateLimitPolicy'),
    RateLimit: ref('headers', 'RateLimit'),
  }
  if (endpoint.method === 'POST') headers['Idempotent-Replayed'] = ref('headers', 'IdempotentReplayed')
  const entries = Object.entries(endpoint.succeeds).map(([status, schema]) => [
    status,
    {
      description: status === '201' ? 'Created.' : status === '202' ? 'Accepted.' : 'Found.',
      headers,
      content: jsonContent(components.name(schema as object), ...replyExamples(endpoint, Number(status))),
    },
  ])
  return Object.fromEntries(entries)
}

/** The first example of an operation shows its whole request; others are shown if they have a title. */
function requestExamples({ operationId }: AnyEndpoint): ShownExample[] {
  const [first, ...others] = API_EXAMPLES.filter((example) => example.operationId === operationId)
  return [first, ...others.filter(({ title }) => title)].map((example) => ({ ...example, value: example?.request }))
}

function replyExamples({ operationId }: AnyEndpoint, status: number): ShownExample[] {
  const [first, ...others] = API_EXAMPLES.filter(
    (example) => example.operationId === operationId && example.status === status,
  )
  return [first, ...others.filter(({ title }) => title)].map((example) => ({ ...example, value: example?.reply }))
}

function describeErrors(codes: readonly ErrorCode[]): Record<string, Json> {
  const byStatus = Map.groupBy([...codes].sort(), (code) => API_ERRORS[code].status)
  const entries = [...byStatus].map(([status, group]) => [
    String(status),
    {
      description: group.map((code) => `\`${code}\`: ${API_ERRORS[code].message}`).join('\n\n'),
      headers: {
        'Request-Id': ref('headers', 'RequestId'),
        ...(status === 401 && { 'WWW-Authenticate': ref('headers', 'WwwAuthenticate') }),
        ...((status === 429 || status === 503) && { 'Retry-After': ref('headers', 'RetryAfter') }),
      },
      content: {
        'application/json': {
          schema: ref('schemas', 'Error'),
          examples: Object.fromEntries(group.map((code) => [code, ref('examples', code)])),
        },
      },
    },
  ])
  return Object.fromEntries(entries)
}

/** Every code that some endpoint can answer with. */
function describedCodes(): ErrorCode[] {
  return [...new Set<ErrorCode>([...routes.flatMap(codesOf), 'method_not_allowed'])].sort()
}

/** Every code that an endpoint can answer with. */
export function codesOf(endpoint: AnyEndpoint): ErrorCode[] {
  const key: ErrorCode[] = endpoint.idempotency === 'required' ? ['idempotency_key_missing'] : []
  return [...new Set([...ALWAYS, ...endpoint.fails, ...(endpoint.method === 'POST' ? WITH_BODY : []), ...key])]
}

function errorExample(code: ErrorCode): Json {
  const { type, message } = API_ERRORS[code]
  return { error: { type, code, message, docs: docsOf(code), request_id: 'req_06fk3v8tz9y7q2m4n6p8r0s1t3' } }
}

function describeItself(): Json {
  return {
    operationId: 'retrieveOpenapi',
    summary: 'Machine-readable API description',
    description: 'Needs no key.',
    tags: ['Description'],
    security: [],
    responses: {
      200: {
        description: 'This document.',
        content: { 'application/json': { schema: { type: 'object' }, example: { openapi: '3.1.0' } } },
      },
      ...describeErrors(['method_not_allowed']),
    },
  }
}

const SIGNATURE_HEADERS = {
  'webhook-id': 'The id of the event, the same on every attempt. Use it to recognize a repeated delivery.',
  'webhook-timestamp':
    'When this attempt was made, in seconds since 1970. Refuse a request that is older than five minutes.',
  'webhook-signature':
    '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` under the secret of the webhook endpoint. While a secret is being replaced there are two signatures, separated by a space. See https://www.standardwebhooks.com.',
}

/** Describes the request that a receiver gets for an event: a signed POST, acknowledged by any 2xx answer. */
function describeEvent({ type, summary, body }: (typeof WEBHOOK_EVENTS)[number], components: Components): Json {
  return {
    operationId: `receive${String((body as { title?: string }).title)}`,
    summary,
    description: `The event \`${type}\`, signed as Standard Webhooks defines. Delivered at least once; the order of events is not guaranteed.`,
    tags: ['Webhooks'],
    security: [],
    parameters: Object.entries(SIGNATURE_HEADERS).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: jsonContent(components.name(body), { value: exampleOf(body as unknown as Json) }),
    },
    responses: {
      '2XX': {
        description: 'Received. Any other answer, or none within 15 seconds, is retried, up to ten attempts in all.',
      },
      410: { description: 'Gone: the webhook endpoint is disabled and gets no more events.' },
    },
  }
}

/** An example in the document; several of one operation have titles. */
interface ShownExample {
  title?: string
  value: unknown
}

function jsonContent(schema: Json, ...shown: readonly ShownExample[]): Json {
  const [first] = shown
  if (shown.length < 2)
    return { 'application/json': { schema, ...(first?.value !== undefined && { example: first.value }) } }
  const examples = Object.fromEntries(
    shown.map(({ title, value }, index) => [`example_${index + 1}`, { summary: title!, value }]),
  )
  return { 'application/json': { schema, examples } }
}

function ref(kind: 'schemas' | 'headers' | 'examples', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` }
}

/** Schemas with a title become components of that name; all others are written in place. */
class Components {
  readonly schemas: Record<string, Json> = {}

  /** A reference to a schema with a title, or any other schema in place. */
  name(schema: object): Json {
    const { title } = schema as Json
    if (typeof title !== 'string') return this.inline(schema)
    this.schemas[title] ??= this.inline(schema)
    return ref('schemas', title)
  }

  /** The schema as plain JSON, with the titled schemas inside it replaced by references. */
  inline(schema: object): Json {
    const shown = Object.entries(schema).filter(([key]) => key !== 'if' && key !== 'else')
    return Object.fromEntries(shown.map(([key, value]) => [key, this.#walk(key, value)]))
  }

  #walk(key: string, value: unknown): unknown {
    if (key === 'examples' || key === 'enum' || key === 'default' || value === null || typeof value !== 'object')
      return value
    if (Array.isArray(value)) return value.map((item) => (isSchema(item) ? this.name(item) : item))
    if (key === 'properties')
      return Object.fromEntries(Object.entries(value).map(([name, property]) => [name, this.name(property as Json)]))
    return this.name(value as Json)
  }
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}
