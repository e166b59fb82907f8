import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { Responder } from '../src/api/responder.ts'
import { routes } from '../src/api/routes.ts'
import { operations } from '../src/console/operations.ts'
import { compileAll } from '../src/http/compile-later.ts'
import { compileValidation } from '../src/http/validation.ts'

// The service itself neither checks its schemas nor compiles them at its start, so a mistake would show at the first request.
test('every schema of an endpoint or a console operation is valid JSON Schema', () => {
  const ajv = new Ajv({ allErrors: true })
  const schemas = [
    ...routes.flatMap(({ operationId, params, query, body, succeeds }) =>
      Object.entries({ params, query, body, ...succeeds }).map(([part, schema]) => ({
        name: `${operationId} ${part}`,
        schema,
      })),
    ),
    ...Object.entries(operations).map(([name, { input }]) => ({ name, schema: input })),
  ].filter(({ schema }) => schema !== undefined)
  assert.ok(schemas.length > 100, `${schemas.length} schemas were found`)
  for (const { name, schema } of schemas)
    assert.ok(ajv.validateSchema(schema as object), `${name}: ${ajv.errorsText(ajv.errors)}`)
})

test('every schema compiles', async () => {
  for (const endpoint of routes) new Responder(endpoint, {} as ConstructorParameters<typeof Responder>[1])
  for (const { input } of Object.values(operations)) compileValidation(input, { pointers: 'body' })
  await compileAll()
})
