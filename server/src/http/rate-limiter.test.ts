import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RateLimiter } from './rate-limiter.ts'

test('a burst passes at once, and the next request only after a token was refilled', () => {
  const limiter = new RateLimiter({ perSecond: 10, burst: 3 })
  const now = 1_000_000
  assert.deepEqual(
    [1, 2, 3].map(() => limiter.take('org_a', now).allowed),
    [true, true, true],
  )
  const refused = limiter.take('org_a', now)
  assert.equal(refused.allowed, false)
  assert.equal(refused.remaining, 0)
  assert.equal(refused.retryAfterSeconds, 1)
  assert.equal(limiter.take('org_a', now + 99).allowed, false)
  assert.equal(limiter.take('org_a', now + 101).allowed, true)
})

test('one organization cannot use up the tokens of another', () => {
  const limiter = new RateLimiter({ perSecond: 1, burst: 1 })
  limiter.take('org_a', 0)
  assert.equal(limiter.take('org_a', 0).allowed, false)
  assert.equal(limiter.take('org_b', 0).allowed, true)
})

test('a bucket never holds more than the burst, and a clock that steps back adds no tokens', () => {
  const limiter = new RateLimiter({ perSecond: 5, burst: 2 })
  limiter.take('org_a', 0)
  assert.equal(limiter.take('org_a', 1e9).remaining, 1)
  limiter.take('org_a', 1e9)
  assert.equal(limiter.take('org_a', 0).allowed, false)
})

test('a clock that steps back and forth refills nothing', () => {
  const limiter = new RateLimiter({ perSecond: 1, burst: 1 })
  limiter.take('org_a', 10_000)
  for (const now of [0, 10_000, 0, 10_000]) assert.equal(limiter.take('org_a', now).allowed, false)
})
