import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from './api-error.ts'
import { isOutage, OutageWatch } from './outage.ts'

const answered = (status: number) => new ApiError('No.', { code: 'x', status })

test('no answer, a proxy without a server, and a server without its database are an outage; a refusal is none', () => {
  assert.deepEqual(
    [0, 502, 503, 504].map((status) => isOutage(answered(status))),
    [true, true, true, true],
  )
  assert.deepEqual(
    [400, 401, 409, 422, 429, 500].map((status) => isOutage(answered(status))),
    Array(6).fill(false),
  )
  assert.equal(isOutage(new Error('a bug')), false)
})

test('an outage keeps its beginning while the pauses between the tries grow, and the first answer ends it', () => {
  let now = 1_000
  const watch = new OutageWatch(() => now)
  watch.failed()
  assert.deepEqual(watch.current(), { sinceMs: 1_000, retryAtMs: 3_000 })
  now = 2_000
  watch.failed()
  assert.deepEqual(watch.current(), { sinceMs: 1_000, retryAtMs: 3_000 }, 'a second call that failed says nothing new')
  const pauses: number[] = []
  for (let tries = 0; tries < 6; tries++) {
    now = watch.current()!.retryAtMs
    watch.failed()
    pauses.push(watch.current()!.retryAtMs - now)
  }
  assert.deepEqual(pauses, [4_000, 8_000, 15_000, 30_000, 30_000, 30_000])
  assert.equal(watch.current()!.sinceMs, 1_000)
  watch.answered()
  assert.equal(watch.current(), undefined)
})

test('an outage right after another goes on with its pauses; a later one begins anew', () => {
  let now = 0
  const watch = new OutageWatch(() => now)
  const pause = () => watch.current()!.retryAtMs - now
  watch.failed()
  watch.answered()
  now = 5_000
  watch.failed()
  assert.equal(pause(), 4_000)
  watch.answered()
  now = 60_000
  watch.failed()
  assert.equal(pause(), 2_000)
})
