import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleOf } from './example-of.ts'
import { routes } from './routes.ts'
import { compileValidation } from './validation.ts'

for (const endpoint of routes) {
  for (const [status, schema] of Object.entries(endpoint.succeeds)) {
    test(`the example of the ${status} reply to ${endpoint.operationId} is valid under its schema`, () => {
      assert.deepEqual(compileValidation(schema, { pointers: 'body' })(exampleOf(schema as never)), [])
    })
  }
  if (endpoint.body) {
    test(`the example of a request to ${endpoint.operationId} passes its validation`, () => {
      assert.deepEqual(compileValidation(endpoint.body!, { pointers: 'body' })(exampleOf(endpoint.body as never)), [])
    })
  }
}
