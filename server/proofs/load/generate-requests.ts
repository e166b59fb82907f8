/** Requests generated from openapi.json for every operation, valid and broken. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brokenText, brokenValue, type JsonSchema, pick, type Source, validValue } from './generate-values.ts'

interface Operation {
  operationId: string
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: JsonSchema }[]
  requestBody?: { content: { 'application/json': { schema: JsonSchema } } }
}

/** An operation of the API. */
export interface ApiOperation {
  operationId: string
  method: string
  path: string
  operation: Operation
}

/** A request as it is sent. */
export interface GeneratedRequest {
  operationId: string
  kind: 'valid' | 'broken'
  method: string
  /** Path and query. */
  path: string
  headers: Record<string, string>
  body: string | undefined
}

const description = JSON.parse(readFileSync(join(import.meta.dirname, '../../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}

/** Every operation that openapi.json describes. */
export const operations: readonly ApiOperation[] = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    operationId: operation.operationId,
    method: method.toUpperCase(),
    path,
    operation,
  })),
)

/** The schema that a reference of openapi.json names. */
export function resolveReference(ref: string): JsonSchema {
  return description.components.schemas[ref.split('/').at(-1)!]!
}

/** A request that openapi.json allows. */
export function validRequest(
  { operationId, method, path, operation }: ApiOperation,
  source: Source,
  key: string,
): GeneratedRequest {
  const parameters = operation.parameters ?? []
  const query = new URLSearchParams()
  for (const { name, schema } of parameters.filter(
    (parameter) => parameter.in === 'query' && parameter.name !== 'cursor',
  ))
    if (source.random() < 0.5) query.set(name, String(validValue(schema, source)))
  const idOf = (name: string) => source.existingId(name.startsWith('entity') ? 'ent' : 'dec') ?? 'unknown'
  const schema = operation.requestBody?.content['application/json'].schema
  const takesKey = parameters.some(({ in: place }) => place === 'header')
  return {
    operationId,
    kind: 'valid',
    method,
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => idOf(name)) + (query.size > 0 ? `?${query}` : ''),
    headers: {
      Authorization: `Bearer ${key}`,
      ...(schema && { 'Content-Type': 'application/json' }),
      ...(takesKey && { 'Idempotency-Key': `fuzz-${Math.floor(source.random() * 1e12)}` }),
    },
    body: schema && JSON.stringify(validValue(schema, source)),
  }
}

/** A request with one fault in its body, its path, its query or its headers. */
export function brokenRequest(operation: ApiOperation, source: Source, key: string): GeneratedRequest {
  const { random } = source
  const valid = validRequest(operation, source, key)
  const broken = { ...valid, kind: 'broken' as const }
  const [path = ''] = valid.path.split('?', 1)
  const faults: (() => GeneratedRequest)[] = [
    () => ({
      ...broken,
      path: path.replace(
        /(ent|dec)_\w+/,
        pick(random, ['ent_x', '%00', '..%2f..', "'%20OR%201=1", 'x'.repeat(300), '%zz']),
      ),
    }),
    () => ({
      ...broken,
      path: `${path}?${pick(random, ['limit=0', 'limit=101', 'limit=x', 'cursor=!', 'cursor=djE6MQ', 'from=2026-13-01', 'from=2026-02-01&to=2026-01-01', 'surprise=1', 'limit=1&limit=2', 'a&'.repeat(2_000)])}`,
    }),
    () => ({
      ...broken,
      headers: {
        ...valid.headers,
        Authorization: pick(random, [
          '',
          'Bearer',
          'Bearer x',
          'Basic eDp5',
          `Bearer ${key.replace('sandbox', 'production')}`,
          `Bearer ${'x'.repeat(5_000)}`,
        ]),
      },
    }),
    () => ({
      ...broken,
      headers: { ...valid.headers, 'Idempotency-Key': pick(random, ['', 'x'.repeat(256), '\u00e9', 'fuzz-1']) },
    }),
    () => ({ ...broken, method: pick(random, ['DELETE', 'PUT', 'PATCH', 'OPTIONS']), body: undefined }),
    () => ({
      ...broken,
      headers: {
        ...valid.headers,
        'Content-Type': pick(random, ['text/plain', 'application/xml', 'application/json; charset=utf-16', 'x']),
      },
      body: valid.body ?? (valid.method === 'POST' ? '{}' : undefined),
    }),
  ]
  const { body } = valid
  if (body === undefined || random() < 0.25) return pick(random, faults)()
  if (random() < 0.3) return { ...broken, body: brokenText(body, random) }
  let value: unknown = JSON.parse(body)
  for (let faultsLeft = 1 + Math.floor(random() * 3); faultsLeft > 0; faultsLeft--) value = brokenValue(value, random)
  return { ...broken, body: JSON.stringify(value) }
}
