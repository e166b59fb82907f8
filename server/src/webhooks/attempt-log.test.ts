import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseError } from '../store/database/database.ts'
import type { SettledAttempt } from '../store/environment/webhook-dispatch.ts'
import { AttemptLog } from './attempt-log.ts'

function attempt(eventId: string, response: string | null = 'fine'): SettledAttempt {
  return {
    org_id: 'org',
    endpoint_id: 'whe',
    event_id: eventId,
    number: 1,
    cycle: 0,
    started_at: '2026-11-15T09:30:00.000Z',
    duration_ms: 1,
    status: 500,
    error: null,
    response,
    signature: null,
    user_agent: null,
    state: 'pending',
    schedule_step: 1,
    due_at: '2026-11-15T09:30:05.000Z',
  }
}

/** A log on a store whose `dispatch.settle` the test provides. */
function logOn(settle: (attempts: readonly SettledAttempt[]) => number) {
  const errors: unknown[] = []
  let lost = 0
  const log = new AttemptLog({
    store: { dispatch: { settle: async (attempts) => ({ recorded: settle(attempts), failing: [] }) } },
    nowMs: () => 0,
    failingMaxMs: 1,
    quietMaxMs: 1,
    onFailing: async () => {},
    onLost: (count) => {
      lost += count
    },
    onError: (error) => errors.push(error),
  })
  return { log, errors, lost: () => lost }
}

test('an answer that the database rejects is recorded without its text, and the rest of its batch is recorded whole', async () => {
  const written: SettledAttempt[] = []
  const { log, errors } = logOn((attempts) => {
    if (attempts.some(({ response }) => response === 'poison'))
      throw new DatabaseError('invalid byte sequence', { code: '22021' })
    written.push(...attempts)
    return attempts.length
  })
  await Promise.all([attempt('a'), attempt('b', 'poison'), attempt('c')].map((one) => log.record(one)))
  assert.deepEqual(
    written.map(({ event_id, response, error }) => [event_id, response, error]),
    [
      ['a', 'fine', null],
      ['b', null, 'the answer could not be stored'],
      ['c', 'fine', null],
    ],
  )
  assert.equal(errors.length, 2, 'one for the batch, one for the rejected attempt')
})

test('a deadlock is retried, and after any other database error the attempts of the batch are not written one by one', async () => {
  let calls = 0
  const deadlocked = logOn((attempts) => {
    calls += 1
    if (calls < 3) throw new DatabaseError('deadlock detected', { code: '40P01' })
    return attempts.length
  })
  await deadlocked.log.record(attempt('a'))
  assert.deepEqual([calls, deadlocked.errors.length], [3, 0])

  calls = 0
  const broken = logOn(() => {
    calls += 1
    throw new DatabaseError('no such table', { code: '42P01' })
  })
  await Promise.all([attempt('a'), attempt('b')].map((one) => broken.log.record(one)))
  assert.deepEqual([calls, broken.errors.length], [1, 1])
})

test('attempts that another node recorded first are counted as lost', async () => {
  const { log, lost } = logOn(() => 1)
  await Promise.all([attempt('a'), attempt('b'), attempt('c')].map((one) => log.record(one)))
  assert.equal(lost(), 2)
})
