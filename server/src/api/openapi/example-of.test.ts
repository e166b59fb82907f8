import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileValidation } from '../../http/validation.ts'
import { WEBHOOK_EVENTS } from '../schemas/webhook-event.ts'
import { exampleOf } from './example-of.ts'

for (const { type, body } of WEBHOOK_EVENTS) {
  test(`the example of the event ${type} is valid under its schema`, () => {
    assert.deepEqual(compileValidation(body, { pointers: 'body' })(exampleOf(body as never)), [])
  })
}
