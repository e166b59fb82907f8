import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { mergeLinks, type Standing, type Statement, sharedStanding, standingOf } from './claim.ts'
import { dayOf } from './decay.ts'
import { linkOf } from './link.ts'

const on = (day: number, status: Statement['status'], share?: number): Statement => ({
  status,
  at: `2026-01-0${day}T00:00:00.000Z`,
  ...(share !== undefined && { share }),
})
const verification = (...statements: Statement[]) => standingOf(statements)?.verification
const statements: fc.Arbitrary<Statement> = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom<Statement['status']>('verified', 'unverified', 'failed'),
    fc.constantFrom(0.25, 0.5, undefined),
  )
  .map(([day, status, share]) => on(day, status, share))

describe('the standing of a claim', () => {
  it('is its latest verdict, and a bare claim where there is none', () => {
    assert.equal(verification(on(2, 'verified'), on(1, 'failed')), 'verified')
    assert.equal(verification(on(1, 'verified'), on(2, 'failed')), 'failed')
    assert.equal(verification(on(1, 'verified'), on(2, 'unverified')), 'verified')
    assert.equal(verification(on(1, 'failed'), on(2, 'unverified')), 'failed')
    assert.equal(verification(on(1, 'unverified')), 'unverified')
    assert.equal(verification(), undefined)
  })

  it('fails with a failure of the same instant', () => {
    assert.equal(verification(on(1, 'verified'), on(1, 'failed')), 'failed')
    assert.equal(verification(on(1, 'failed'), on(1, 'verified')), 'failed')
  })

  it('has the share of the statement that decides', () => {
    assert.equal(standingOf([on(1, 'verified', 0.5), on(2, 'verified', 0.25), on(3, 'unverified')])?.share, 0.25)
    assert.equal(standingOf([on(1, 'verified', 0.5), on(1, 'verified', 0.25)])?.share, 0.5)
  })

  it('is as old as the last statement that did not fail it', () => {
    const { since } = standingOf([on(1, 'verified'), on(3, 'unverified'), on(2, 'unverified')])!
    assert.equal(since, dayOf('2026-01-03T00:00:00.000Z'))
  })

  it('does not depend on the order of the statements', () => {
    const twoOrders = fc
      .array(statements, { maxLength: 6 })
      .chain((said) => fc.tuple(fc.constant(said), fc.shuffledSubarray(said, { minLength: said.length })))
    fc.assert(fc.property(twoOrders, ([said, otherwise]) => assert.deepEqual(standingOf(otherwise), standingOf(said))))
  })
})

describe('a shared identifier', () => {
  const standing = (proof: Standing['verification'], since: number): Standing => ({
    verification: proof,
    share: 1,
    since,
  })

  it('fails with either end, is verified with both, and is as old as the later', () => {
    assert.equal(sharedStanding(standing('verified', 1), standing('failed', 2))?.verification, 'failed')
    assert.equal(sharedStanding(standing('verified', 1), standing('unverified', 2))?.verification, 'unverified')
    assert.deepEqual(sharedStanding(standing('verified', 1), standing('verified', 2)), standing('verified', 2))
    assert.equal(sharedStanding(standing('verified', 1), null), null)
  })
})

describe('claims of one link', () => {
  const claim = { neighbour: 'a', type: 'owner', since: 1 } as const

  it('make one, as strong as the strongest of them', () => {
    const verified = linkOf({ ...claim, verification: 'verified', share: 0.5 })
    const claimed = linkOf({ ...claim, verification: 'unverified', since: 2 })
    const failed = linkOf({ ...claim, verification: 'failed' })
    const merged = { neighbour: 'a', type: 'owner', verified: true, basePpm: 250_000, since: 2 }
    assert.deepEqual(mergeLinks([verified, claimed, failed]), merged)
    assert.deepEqual(mergeLinks([failed, claimed, verified]), merged)
    assert.equal(mergeLinks([failed]), null)
  })
})
