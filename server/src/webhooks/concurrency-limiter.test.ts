import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ConcurrencyLimiter, type Permit, type Speed } from './concurrency-limiter.ts'

const LIMITS = { total: 256, unproven: 192, slow: 128, perEndpoint: { fast: 32, unknown: 8, slow: 32 } }

/** Lets webhook endpoints acquire all permits they can get, one each in turn, and returns how many each holds. */
function acquireAll(limiter: ConcurrencyLimiter, endpoints: readonly Permit[]): number[] {
  const holds = endpoints.map(() => 0)
  let open = endpoints.map((_, index) => index)
  while (open.length > 0) {
    open = open.filter((index) => {
      if (!limiter.acquire(endpoints[index]!, holds[index]!)) return false
      holds[index]! += 1
      return true
    })
  }
  return holds
}

function endpointsOf(organizations: number, each: number, speed: Speed): Permit[] {
  return Array.from({ length: organizations * each }, (_, index) => ({
    organizationId: `org_${index % organizations}`,
    speed,
  }))
}

test('however many webhook endpoints are slow, a new one and a fast one still get a permit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 50 }), (organizations, each) => {
      const limiter = new ConcurrencyLimiter(LIMITS)
      acquireAll(limiter, endpointsOf(organizations, each, 'slow'))
      assert.ok(limiter.acquired <= LIMITS.slow)
      assert.ok(limiter.canAcquire({ organizationId: 'another', speed: 'unknown' }, 0))
      acquireAll(limiter, endpointsOf(organizations, each, 'unknown'))
      assert.ok(limiter.acquired <= LIMITS.unproven)
      assert.ok(limiter.canAcquire({ organizationId: 'another', speed: 'fast' }, 0))
    }),
  )
})

test('a hundred organizations that want every permit leave one for the next, at any speed', () => {
  for (const speed of ['slow', 'unknown', 'fast'] as const) {
    const limiter = new ConcurrencyLimiter(LIMITS)
    acquireAll(limiter, endpointsOf(100, 50, speed))
    assert.ok(limiter.canAcquire({ organizationId: 'another', speed }, 0), speed)
  }
})

test('one webhook endpoint alone is limited, and so is one organization', () => {
  assert.deepEqual(acquireAll(new ConcurrencyLimiter(LIMITS), endpointsOf(1, 1, 'fast')), [32])
  assert.deepEqual(acquireAll(new ConcurrencyLimiter(LIMITS), endpointsOf(1, 1, 'unknown')), [8])
  const limiter = new ConcurrencyLimiter(LIMITS)
  acquireAll(limiter, endpointsOf(1, 50, 'fast'))
  assert.equal(limiter.acquired, 128)
})

test('when few permits are left, one webhook endpoint gets at most a quarter of them', () => {
  const limiter = new ConcurrencyLimiter(LIMITS)
  for (const permit of endpointsOf(LIMITS.total - 32, 1, 'fast')) assert.ok(limiter.acquire(permit, 0))
  assert.deepEqual(acquireAll(limiter, [{ organizationId: 'another', speed: 'fast' }]), [6], 'then 26 are left')
})

test('a permit that is released can be acquired again', () => {
  const permit = fc.record({
    organizationId: fc.constantFrom('org_0', 'org_1'),
    speed: fc.constantFrom<Speed[]>('fast', 'unknown', 'slow'),
  })
  fc.assert(
    fc.property(fc.array(permit, { maxLength: 400 }), (wanted) => {
      const limiter = new ConcurrencyLimiter(LIMITS)
      const permits = wanted.filter((one) => limiter.acquire(one, 0))
      assert.equal(limiter.acquired, permits.length)
      for (const one of permits) limiter.release(one)
      assert.equal(limiter.acquired, 0)
      const endpoints = endpointsOf(2, 50, 'slow')
      assert.deepEqual(acquireAll(limiter, endpoints), acquireAll(new ConcurrencyLimiter(LIMITS), endpoints))
    }),
  )
})
