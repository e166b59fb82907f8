import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { circularFlows, placeOf } from './circular-flows.ts'
import type { DayBucket } from './day-bucket.ts'

/** Credits and debits, each with its day and its amount. */
interface Movements {
  credits?: readonly (readonly [day: number, amount: number])[]
  debits?: readonly (readonly [day: number, amount: number])[]
  otherCredits?: number
}

function flowsOf({ credits = [], debits = [], otherCredits = 0 }: Movements) {
  const days = [...new Set([...credits, ...debits].map(([day]) => day))].sort((a, b) => a - b)
  const buckets = days.map((day, index) => ({
    day,
    credits: credits.filter(([of]) => of === day).map(([, amount]) => [String(amount), 0]),
    debits: debits.filter(([of]) => of === day).map(([, amount]) => String(amount)),
    otherCredits: index === 0 ? String(otherCredits) : '0',
  }))
  const found = circularFlows(buckets as unknown as DayBucket[])
  return { credits: [...found.credits].sort(), debits: [...found.debits].sort() }
}

const NOTHING = { credits: [], debits: [] }
const at = (day: number, index = 0) => placeOf({ day, index })

describe('money that comes in and leaves again', () => {
  it('is found up to four days apart, in either order', () => {
    for (const day of [6, 8, 10, 12, 14])
      assert.deepEqual(
        flowsOf({ credits: [[10, 500]], debits: [[day, 500]] }),
        { credits: [at(10)], debits: [at(day)] },
        `day ${day}`,
      )
    for (const day of [5, 15]) assert.deepEqual(flowsOf({ credits: [[10, 500]], debits: [[day, 500]] }), NOTHING)
  })

  it('has parts up to four days before or after it', () => {
    const inParts = (day: number) =>
      flowsOf({
        credits: [[10, 500]],
        debits: [
          [10, 300],
          [day, 200],
        ],
      }).credits.length
    assert.deepEqual([5, 6, 14, 15].map(inParts), [0, 1, 1, 0])
  })

  it('has exactly the same total', () => {
    assert.deepEqual(flowsOf({ credits: [[10, 500]], debits: [[11, 501]] }), NOTHING)
    assert.deepEqual(flowsOf({ credits: [[10, 500]], debits: [[11, 499]] }), NOTHING)
  })

  it('may leave in up to three parts, or come back in them', () => {
    const three = [
      [10, 200],
      [11, 170],
      [12, 130],
    ] as const
    const places = [at(10), at(11), at(12)]
    assert.deepEqual(flowsOf({ credits: [[10, 500]], debits: three }), { credits: [at(10)], debits: places })
    assert.deepEqual(flowsOf({ credits: three, debits: [[10, 500]] }), { credits: places, debits: [at(10)] })
    const four = [
      [10, 200],
      [11, 130],
      [12, 90],
      [13, 80],
    ] as const
    assert.deepEqual(flowsOf({ credits: [[10, 500]], debits: four }), NOTHING)
  })

  it('has parts of at least a tenth', () => {
    const inParts = (part: number) =>
      flowsOf({
        credits: [[10, 1000]],
        debits: [
          [10, 1000 - part],
          [11, part],
        ],
      }).credits.length
    assert.deepEqual([inParts(99), inParts(100), inParts(101)], [0, 1, 1])
  })

  it('has parts of which each counts once', () => {
    assert.deepEqual(flowsOf({ credits: [[10, 500]], debits: [[11, 250]] }), NOTHING)
    const twice = [
      [11, 250],
      [12, 250],
    ] as const
    assert.equal(flowsOf({ credits: [[10, 500]], debits: twice }).debits.length, 2)
  })

  it('is looked for among the 24 largest movements of the other side', () => {
    const among = (others: number) => {
      const debits = Array.from({ length: others }, (_, index) => [11, 699 - index] as const)
      return flowsOf({ credits: [[10, 1000]], debits: [...debits, [12, 600], [12, 400]] }).credits.length
    }
    assert.deepEqual([among(22), among(23)], [1, 0])
  })

  it('is told apart from that of every other day', () => {
    const movements = [
      [10, 500],
      [10, 300],
      [15, 400],
    ] as const
    const places = [at(10, 0), at(10, 1), at(15, 0)]
    assert.deepEqual(flowsOf({ credits: movements, debits: movements }), { credits: places, debits: places })
  })

  it('is at least two percent of all that came in', () => {
    const share = (amount: number) =>
      flowsOf({ credits: [[10, amount]], debits: [[11, amount]], otherCredits: 100_000 - amount }).credits.length
    assert.deepEqual([share(1999), share(2000), share(2001)], [0, 1, 1])
  })

  it('counts each movement once, the largest first', () => {
    assert.deepEqual(
      flowsOf({
        credits: [
          [10, 500],
          [10, 500],
        ],
        debits: [[11, 500]],
      }),
      { credits: [at(10, 0)], debits: [at(11)] },
    )
    assert.deepEqual(
      flowsOf({
        credits: [
          [10, 300],
          [10, 500],
        ],
        debits: [
          [10, 300],
          [11, 200],
        ],
      }),
      { credits: [at(10, 1)], debits: [at(10), at(11)] },
      'the credit of 300 finds its debit taken',
    )
  })
})
