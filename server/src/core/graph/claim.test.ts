import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Assertion, mergeLinks, type Standing, sharedStanding, standingOf } from './claim.ts'
import { dayOf } from './decay.ts'
import { linkOf } from './link.ts'

const on = (day: number, status: Assertion['status'], share?: number): Assertion => ({
  status,
  at: `2026-01-0${day}T00:00:00.000Z`,
  ...(share !== undefined && { share }),
})
const verification = (...assertions: Assertion[]) => standingOf(assertions)?.verification
const anyAssertion: fc.Arbitrary<Assertion> = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom<Assertion['status']>('verified', 'unverified', 'failed'),
    fc.constantFrom(0.25, 0.5, undefined),
  )
  .map(([day, status, share]) => on(day, status, share))

describe('the standing of a claim', () => {
  it('follows the latest check, and an unverified assertion only where there is no check', () => {
    assert.equal(verification(on(2, 'verified'), on(1, 'failed')), 'verified')
    assert.equal(verification(on(1, 'verified'), on(2, 'failed')), 'failed')
    assert.equal(verification(on(1, 'verified'), on(2, 'unverified')), 'verified')
    assert.equal(verification(on(1, 'failed'), on(2, 'unverified')), 'failed')
    assert.equal(verification(on(1, 'unverified')), 'unverified')
    assert.equal(verification(), undefined)
  })

  it('is failed where one check failed and another succeeded at the same instant', () => {
    assert.equal(verification(on(1, 'verified'), on(1, 'failed')), 'failed')
    assert.equal(verification(on(1, 'failed'), on(1, 'verified')), 'failed')
  })

  it('has the share of the assertion that decides', () => {
    assert.equal(standingOf([on(1, 'verified', 0.5), on(2, 'verified', 0.25), on(3, 'unverified')])?.share, 0.25)
    assert.equal(standingOf([on(1, 'verified', 0.5), on(1, 'verified', 0.25)])?.share, 0.5)
    assert.equal(standingOf([on(1, 'verified')])?.share, 1)
  })

  it('dates from the latest assertion that is not a failure', () => {
    const { since } = standingOf([on(1, 'verified'), on(3, 'unverified'), on(2, 'unverified')])!
    assert.equal(since, dayOf('2026-01-03T00:00:00.000Z'))
    assert.equal(standingOf([on(1, 'unverified'), on(3, 'failed')])?.since, dayOf('2026-01-01T00:00:00.000Z'))
    assert.equal(standingOf([on(2, 'failed')])?.since, dayOf('2026-01-02T00:00:00.000Z'))
  })

  it('does not depend on the order of the assertions', () => {
    const twoOrders = fc
      .array(anyAssertion, { maxLength: 6 })
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
    fc.assert(fc.property(twoOrders, ([all, shuffled]) => assert.deepEqual(standingOf(shuffled), standingOf(all))))
  })
})

describe('a shared identifier', () => {
  const standing = (verification: Standing['verification'], since: number): Standing => ({
    verification,
    share: 1,
    since,
  })

  it('is failed if either end failed, verified if both are, and dates from the later of the two', () => {
    assert.equal(sharedStanding(standing('verified', 1), standing('failed', 2))?.verification, 'failed')
    assert.equal(sharedStanding(standing('verified', 1), standing('unverified', 2))?.verification, 'unverified')
    assert.deepEqual(sharedStanding(standing('verified', 1), standing('verified', 2)), standing('verified', 2))
    assert.equal(sharedStanding(standing('verified', 1), null), null)
    const half = { ...standing('verified', 1), share: 0.5 }
    assert.equal(sharedStanding(standing('verified', 1), half)?.share, 0.5)
    assert.equal(sharedStanding(half, standing('verified', 1))?.share, 0.5)
  })
})

describe('several links of one type between two entities', () => {
  const basis = { neighbour: 'a', type: 'owner', since: 1 } as const

  it('are merged into one as strong as the strongest of them', () => {
    const verified = linkOf({ ...basis, verification: 'verified', share: 0.5 })
    const unverified = linkOf({ ...basis, verification: 'unverified', since: 2 })
    const failed = linkOf({ ...basis, verification: 'failed' })
    const merged = { neighbour: 'a', type: 'owner', verified: true, basePpm: 250_000, since: 2 }
    assert.deepEqual(mergeLinks([verified, unverified, failed]), merged)
    assert.deepEqual(mergeLinks([failed, unverified, verified]), merged)
    assert.equal(mergeLinks([failed]), null)
  })
})
