import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DayBucket } from './day-bucket.ts'
import { incomeStreams, paidPerCadence } from './income-streams.ts'

type Payment = readonly [day: number, amount: number, payer?: number]

const NOTHING_CIRCULAR = { credits: new Set<number>(), debits: new Set<number>() }

function streamsOf(payments: readonly Payment[]) {
  const byDay = Map.groupBy(payments, ([day]) => day)
  const days = [...byDay].sort(([a], [b]) => a - b)
  const buckets = days.map(([day, ofDay]) => ({ day, credits: ofDay.map(([, amount, payer = 1]) => [amount, payer]) }))
  return incomeStreams(buckets as unknown as DayBucket[], NOTHING_CIRCULAR)
}

/** Payments of 1,000 at equal distances. */
const every = (gap: number, count: number): Payment[] =>
  Array.from({ length: count }, (_, index) => [index * gap, 1000] as const)

const WEEK = 7
const FORTNIGHT = 14
const MONTH = 30.4375
const QUARTER = 91.3125

describe('income recurs', () => {
  for (const [gap, count, cadence] of [
    [7, 6, WEEK],
    [7, 5, undefined],
    [5, 6, WEEK],
    [9, 6, WEEK],
    [10, 6, undefined],
    [14, 5, FORTNIGHT],
    [14, 4, undefined],
    [11, 5, FORTNIGHT],
    [17, 5, FORTNIGHT],
    [18, 5, undefined],
    [30, 2, MONTH],
    [30, 1, undefined],
    [26, 2, MONTH],
    [25, 2, undefined],
    [35, 2, MONTH],
    [36, 2, undefined],
    [91, 3, QUARTER],
    [91, 2, undefined],
    [82, 3, QUARTER],
    [81, 3, undefined],
    [101, 3, QUARTER],
    [102, 3, undefined],
  ] as const)
    it(`${cadence === undefined ? 'not ' : ''}if it is paid ${count} times, ${gap} days apart`, () => {
      assert.deepEqual(
        streamsOf(every(gap, count)).map(({ everyDays, payments }) => [everyDays, payments.length]),
        cadence === undefined ? [] : [[cadence, count]],
      )
    })

  it('if a payment is at most twice the one before, or at least half of it', () => {
    const found = (first: number, second: number) =>
      streamsOf([
        [0, first],
        [30, second],
      ]).length
    assert.deepEqual([found(1000, 2000), found(2000, 1000), found(1000, 1000)], [1, 1, 1])
    assert.deepEqual([found(1000, 2001), found(2001, 1000)], [0, 0])
  })

  it('not if it comes from a crowd: more than 1.6 payments for each cadence', () => {
    const guests = (count: number) => [...every(7, 5), ...every(7, count)]
    assert.deepEqual(
      streamsOf(guests(3)).map(({ everyDays }) => everyDays),
      [WEEK],
    )
    assert.deepEqual(streamsOf(guests(4)), [])
  })
})

describe('a stream', () => {
  it('is steady after three payments, if three in four payments of the payer keep the cadence', () => {
    const steadiness = (payments: readonly Payment[]) => streamsOf(payments).map(({ isSteady }) => isSteady)
    assert.deepEqual([steadiness(every(30, 2)), steadiness(every(30, 3))], [[false], [true]])
    const tip = (day: number): Payment => [day, 50]
    assert.deepEqual(steadiness([...every(30, 3), tip(10)]), [true])
    assert.deepEqual(steadiness([...every(30, 4), tip(10), tip(25)]), [false])
  })

  it('has only the payments that keep the cadence', () => {
    const [stream] = streamsOf([...every(30, 3), [10, 50]])
    assert.deepEqual(stream?.payments, [
      [0, 1000],
      [30, 1000],
      [60, 1000],
    ])
  })

  it('is kept for the twelve payers who paid most', () => {
    const payers = Array.from({ length: 14 }, (_, payer) => payer)
    const kept = streamsOf(
      payers.flatMap((payer): Payment[] => [
        [0, 1000 + payer, payer],
        [30, 1000 + payer, payer],
      ]),
    )
    assert.deepEqual(
      kept.map(({ payments }) => payments[0]![1]),
      payers
        .slice(2)
        .map((payer) => 1000 + payer)
        .reverse(),
    )
  })

  it('that paid as much as another comes first if it began first', () => {
    const later: Payment[] = [
      [5, 1000, 7],
      [35, 1000, 7],
    ]
    assert.deepEqual(
      streamsOf([...later, ...every(30, 2)]).map(({ payments }) => payments[0]![0]),
      [0, 5],
    )
  })
})

describe('a stream pays now', () => {
  /** What a stream with these payments, one for each cadence, pays per cadence. */
  const paid = (everyDays: number, ...amounts: number[]) =>
    paidPerCadence({
      everyDays,
      isSteady: true,
      payments: amounts.map((amount, index) => [Math.round(index * everyDays), amount]),
    })

  it('the mean of a quarter, or of half a year if that is less', () => {
    assert.equal(paid(MONTH, 1000, 1000, 1000, 2000, 2000, 2000), 1500, 'a raise three months ago')
    assert.equal(paid(MONTH, 1000, 2000, 2000, 2000, 2000, 2000, 2000), 2000, 'a raise half a year ago')
    assert.equal(paid(MONTH, 2000, 2000, 2000, 1000, 1000, 1000), 1000, 'a cut counts at once')
    assert.equal(paid(WEEK, ...Array(13).fill(100), ...Array(13).fill(200)), 150)
    assert.equal(paid(WEEK, ...Array(13).fill(200), ...Array(13).fill(100)), 100)
  })

  it('the mean of two payments, where a quarter has only one', () => {
    assert.equal(paid(QUARTER, 2000, 1000, 1000), 1000)
    assert.equal(paid(QUARTER, 1000, 1000, 2000, 2000), 1500)
  })

  it('the mean of all payments, if there are fewer', () => assert.equal(paid(MONTH, 1000, 1500), 1250))

  it('less, if a payment is lacking', () => {
    const payments: [number, number][] = [
      [0, 1000],
      [30, 1000],
      [91, 1000],
    ]
    assert.equal(paidPerCadence({ everyDays: MONTH, isSteady: true, payments }), 2000 / 3)
  })
})
