import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conflict, forbidden, invalid, notFound, notSignedIn, throttled } from '../admin/problem.ts'
import { refusedFor } from './refused-for.ts'

test('each kind of problem has one status, and its code and message go to the page', () => {
  const statuses = [invalid, notSignedIn, forbidden, notFound, conflict, throttled].map((problem) => {
    const { status, ...refused } = refusedFor(problem('some_code', 'It is so.')).refused
    assert.deepEqual(refused, { code: 'some_code', message: 'It is so.' })
    return status
  })
  assert.deepEqual(statuses, [400, 401, 403, 404, 409, 429])
})

test('a hint for the page follows the message of its problem', () => {
  const { message } = refusedFor(conflict('two_factor_on', 'Two-factor is on already.')).refused
  assert.equal(message, 'Two-factor is on already. Turn it off first to use another authenticator app.')
})

test('what is no problem is a fault of the service, and thrown again', () => {
  const fault = new TypeError('a bug')
  assert.throws(() => refusedFor(fault), fault)
})
