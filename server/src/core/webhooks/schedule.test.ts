import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ATTEMPT_DELAYS_MS, attemptResultOf, nextDelayMs, parseRetryAfter } from './schedule.ts'

const NOW = Date.parse('2026-11-15T09:30:00Z')

test('the schedule has ten attempts over a little more than three days', () => {
  assert.equal(ATTEMPT_DELAYS_MS.length, 10)
  assert.deepEqual(
    ATTEMPT_DELAYS_MS.map((delay) => delay / 1000),
    [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
  )
  assert.equal(nextDelayMs({ delaysMs: ATTEMPT_DELAYS_MS, attemptsMade: 10, random: 0.5, retryAfterMs: 0 }), undefined)
})

test('a delay is within 20 % of the planned one, and Retry-After extends it to at most twice the planned one', () => {
  const attempts = fc.integer({ min: 1, max: 9 })
  const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(
      attempts,
      randoms,
      fc.option(fc.nat(10 ** 9), { nil: undefined }),
      (attemptsMade, random, retryAfterMs) => {
        const planned = ATTEMPT_DELAYS_MS[attemptsMade]!
        const delay = nextDelayMs({ delaysMs: ATTEMPT_DELAYS_MS, attemptsMade, random, retryAfterMs })!
        assert.ok(delay >= planned * 0.8 - 1)
        assert.ok(delay <= Math.max(planned * 1.2, Math.min(retryAfterMs ?? 0, planned * 2)) + 1)
        assert.ok(delay >= Math.min(retryAfterMs ?? 0, planned * 2), 'Retry-After is respected')
      },
    ),
  )
})

test('Retry-After is parsed as seconds or as a date, and any other text is ignored', () => {
  for (const [text, expected] of [
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Sun, 15 Nov 2026 09:31:00 GMT', 60_000],
    ['Sun, 15 Nov 2026 09:29:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const) {
    assert.equal(parseRetryAfter(text, NOW), expected, text)
  }
})

test('only 2xx counts as delivered, and 410 is distinguished from other refusals', () => {
  for (const status of [200, 201, 202, 204, 299]) assert.equal(attemptResultOf(status), 'delivered')
  for (const status of [100, 199, 300, 301, 302, 304, 307, 400, 404, 429, 500, 503])
    assert.equal(attemptResultOf(status), 'refused')
  assert.equal(attemptResultOf(410), 'gone')
  assert.equal(attemptResultOf(undefined), 'unanswered')
})
