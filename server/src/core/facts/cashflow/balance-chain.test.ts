import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addToDay } from './add-to-day.ts'
import { brokenBalances } from './balance-chain.ts'
import { newDay } from './day-bucket.ts'

/** What a transaction changes, and the balance that the bank reports after it. */
type Booking = readonly [change: number, balanceAfter?: number]

function bucketOf(bookings: readonly Booking[], day: number) {
  const bucket = newDay(day)
  for (const [change, balanceAfter] of bookings)
    addToDay(bucket, {
      occurredAt: '2026-01-01T00:00:00.000Z',
      externalId: 'tx',
      currency: 'EUR',
      amount: Math.abs(change),
      direction: change > 0 ? 'credit' : 'debit',
      ...(balanceAfter !== undefined && { balanceAfter }),
    })
  return bucket
}

/** The days, counted from zero, on which a balance does not follow from the one before. */
function brokenOn(days: readonly (readonly Booking[])[]): number[] {
  return brokenBalances(days.map(bucketOf)).flatMap((broken, day) => (broken > 0 ? [day] : []))
}

/** Twelve days on which 2,000 come in or go out in turn, each balance off by the same amount in the same direction. */
function drifting(by: number): number[] {
  let balance = 0
  return brokenOn(
    Array.from({ length: 12 }, (_, day) => {
      const change = day % 2 === 0 ? 2000 : -2000
      balance = Math.round((balance + change + (day === 0 ? 0 : by)) * 10_000) / 10_000
      return [[change, balance]] as const
    }),
  )
}

describe('balances that follow from the one before', () => {
  it('are the balance before and the amount, and a broken one breaks only its own day', () => {
    assert.deepEqual(brokenOn([[[100, 100]], [[-30, 70]], [[50, 120]]]), [])
    assert.deepEqual(brokenOn([[[100, 100]], [[-30, 80]], [[-30, 50]], [[-20, 30]]]), [1])
  })

  it('may be rounded by one unit each, and these errors do not add up', () => {
    assert.deepEqual(drifting(1), [])
    assert.deepEqual(drifting(-1), [])
    assert.notDeepEqual(drifting(1.0001), [])
    assert.equal(drifting(3).length, 11)
  })

  it('are not those that debits leave as they were, however high they are', () => {
    const still = Array.from({ length: 94 }, () => [-20, 2000] as const)
    assert.equal(brokenOn([[[2000, 2000]], ...still.map((booking) => [booking])]).length, 94)
    assert.deepEqual(
      brokenBalances([bucketOf([[2000, 2000]], 0), bucketOf(still, 1)]),
      [0, 94],
      'on one day, all of them',
    )
  })

  it('form a chain within a day, whatever the order of booking', () => {
    const day = [
      [-30, 70],
      [30, 100],
      [-15, 85],
    ] as const
    for (const order of [day, day.toReversed(), [day[1], day[0], day[2]]])
      assert.deepEqual(brokenOn([[[100, 100]], order, [[-5, 80]]]), [])
    assert.deepEqual(brokenOn([day, [[-5, 80]], [[-5, 500]]]), [2], 'and its end is known without the day before')
    assert.deepEqual(brokenOn([day, [[-5, 500]]]), [1])
    const nothingLeft = [day[0], day[1]]
    assert.deepEqual(brokenOn([[[100, 100]], nothingLeft, [[-5, 95]]]), [], 'also where a day changes nothing in sum')
    assert.deepEqual(brokenOn([[[100, 100]], nothingLeft, [[-5, 45]]]), [2])
    assert.deepEqual(brokenOn([[[100, 100]], [day[0], [-20, 500]]]), [1])
  })

  it('are compared with nothing after a transaction without a balance', () => {
    assert.deepEqual(brokenOn([[[100, 100]], [[-30]], [[-30, 999]], [[-9, 990]]]), [])
    assert.deepEqual(brokenOn([[[100, 100]], [[-30, 70], [-9]], [[-30, 999]]]), [])
  })
})
