import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { publishedOpenapi } from '../../scripts/published-openapi.ts'
import { startTestService } from './test-service.ts'

const golden = readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')

test('openapi.json is what the route table generates; npm run fix rewrites it', () => {
  assert.equal(publishedOpenapi(), golden)
})

test('openapi.json has no problem under the recommended rules of Redocly', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: golden, absoluteRef: 'openapi.json', config })
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
    [],
  )
})

test('each environment serves openapi.json without a key, with only its own server', async () => {
  const api = await startTestService()
  for (const environment of ['sandbox', 'production'] as const) {
    const { status, body } = await api.request(environment, '/openapi.json')
    assert.equal(status, 200)
    assert.deepEqual(
      body.servers.map(({ description }: { description: string }) => description),
      [environment],
    )
    assert.deepEqual(Object.keys(body.paths), Object.keys(JSON.parse(golden).paths))
  }
})

interface Schema {
  $ref?: string
  description?: string
  type?: string
  additionalProperties?: boolean | object
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

const description = JSON.parse(golden)
const schemas: Record<string, Schema> = description.components.schemas
const referred = ({ $ref = '' }: Schema) => schemas[$ref.replace('#/components/schemas/', '')]

/** Every schema inside one, with its place. */
function* partsOf(schema: Schema, place: string): Generator<[place: string, schema: Schema]> {
  yield [place, schema]
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* partsOf(property, `${place}.${name}`)
  if (schema.items) yield* partsOf(schema.items, `${place}[]`)
  for (const branch of schema.anyOf ?? []) yield* partsOf(branch, place)
}

test('every schema and every property is described', () => {
  const isDescribed = (schema: Schema): boolean =>
    Boolean(schema.description) ||
    (schema.$ref !== undefined && isDescribed(referred(schema)!)) ||
    (schema.anyOf ?? []).some(isDescribed)
  for (const [title, schema] of Object.entries(schemas)) {
    assert.ok(isDescribed(schema), title)
    for (const [place, { properties = {} }] of partsOf(schema, title))
      for (const [name, property] of Object.entries(properties)) assert.ok(isDescribed(property), `${place}.${name}`)
  }
})

test('answers are open to added fields, and requests refuse unknown ones', () => {
  for (const operations of Object.values<Record<string, { requestBody?: object; responses: object }>>(
    description.paths,
  )) {
    for (const { requestBody = {}, responses } of Object.values(operations)) {
      for (const [place, schema] of schemasIn(requestBody))
        if (schema.properties) assert.equal(schema.additionalProperties, false, `${place} of a request`)
      for (const [place, schema] of schemasIn(responses))
        if (schema.properties) assert.notEqual(schema.additionalProperties, false, `${place} of an answer`)
    }
  }
})

/** Every schema that a part of the document refers to, directly or by way of others. */
function schemasIn(part: object, seen = new Set<string>()): [place: string, schema: Schema][] {
  const names = [...JSON.stringify(part).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!)
  return names
    .filter((name) => !seen.has(name) && seen.add(name))
    .flatMap((name) => [...partsOf(schemas[name]!, name), ...schemasIn(schemas[name]!, seen)])
}

test('every operation and every event shows an example, and the introduction explains what holds for all', () => {
  type Content = { content?: Record<string, { example?: unknown; examples?: unknown }> }
  const operations = [description.paths, description.webhooks].flatMap((paths) =>
    Object.values<Record<string, { operationId: string; requestBody?: Content; responses: Record<string, Content> }>>(
      paths,
    ).flatMap((methods) => Object.values(methods)),
  )
  for (const { operationId, requestBody, responses } of operations)
    for (const { content = {} } of [...(requestBody ? [requestBody] : []), ...Object.values(responses)])
      for (const { example, examples } of Object.values(content)) assert.ok(example ?? examples, operationId)
  for (const topic of ['Authentication', 'Idempotency', 'Errors', 'Pagination', 'Events'])
    assert.match(description.info.description, new RegExp(`^# ${topic}$`, 'm'))
})
