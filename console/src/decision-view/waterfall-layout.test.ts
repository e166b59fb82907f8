import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { anyValue } from '../components/charts/layout/degenerate-values.ts'
import { setNotation } from '../components/money/number-notation.ts'
import { layOutWaterfall, type Span } from './waterfall-layout.ts'

after(() => setNotation('comma_point'))

const points = anyValue.map((value) => value ?? 0)
const anyScore = fc.record({ base: points, total: points, cutoff: fc.option(points), rule_points: points })
const anyScorecard = fc.array(fc.record({ points, shortfall: points }), { maxLength: 20 })
const TICKS_MAX = 12

for (const mode of ['running', 'reference'] as const)
  test(`the waterfall of any score lies within its axis (${mode})`, () => {
    fc.assert(
      fc.property(anyScore, anyScorecard, (score, scorecard) => {
        const layout = layOutWaterfall(score, scorecard, mode)
        const { base, bars, rulePoints, total, lines } = layout
        assert.equal(bars.length, scorecard.length)
        for (const bar of [base, ...bars, rulePoints, total]) {
          assertSpan(bar)
          if (bar.missed) assertSpan(bar.missed)
        }
        const ticks = lines.filter(({ kind }) => kind === 'tick').map(({ at }) => at)
        assert.ok(ticks.length <= TICKS_MAX, `${ticks.length} ticks`)
        assert.ok(
          ticks.every((at, index) => index === 0 || at > ticks[index - 1]!),
          'the ticks do not rise',
        )
        for (const { at } of lines) assert.ok(at >= 0 && at <= 100, `a line at ${at} %`)
      }),
    )
  })

test('the bars of a score lead from its base to its total, and the axis begins at a round score below', () => {
  const score = { base: 358, total: 565, cutoff: 550 }
  const scorecard = [
    { points: 200, shortfall: -10 },
    { points: 7, shortfall: 32 },
  ]
  const { startsAt, bars, base, total } = layOutWaterfall(score, scorecard, 'running')
  assert.equal(startsAt, 340)
  assert.deepEqual([bars[0]!.from, bars[0]!.to, bars[1]!.to], [base.to, bars[1]!.from, total.to])
  assert.equal(bars[0]!.missed, null)
  assert.equal(bars[1]!.missed?.from, bars[1]!.to)
})

test('access has no cutoff on its axis', () => {
  const score = { base: 358, total: 562, cutoff: null }
  const { lines } = layOutWaterfall(score, [{ points: 204, shortfall: 0 }], 'running')
  assert.ok(lines.length > 0 && lines.every(({ kind }) => kind === 'tick'))
})

test('the parts of a score add up: base, every line and the points of rules lead to the total on one scale', () => {
  const whole = fc.integer({ min: -500, max: 500 })
  const lines = fc.array(fc.record({ points: whole, shortfall: whole }), { maxLength: 20 })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000 }), lines, whole, (base, scorecard, rule_points) => {
      const total = scorecard.reduce((sum, { points }) => sum + points, base) + rule_points
      const layout = layOutWaterfall({ base, total, cutoff: 550, rule_points }, scorecard, 'running')
      let at = layout.base.to
      for (const [index, { points }] of scorecard.entries()) at = endOf(layout.bars[index]!, points, at)
      at = endOf(layout.rulePoints, rule_points, at)
      assertClose(at, layout.total.to)
      const perPoint = (layout.total.to - layout.total.from) / (total - layout.startsAt)
      for (const [index, { points }] of scorecard.entries()) {
        const { from, to } = layout.bars[index]!
        assertClose(to - from, Math.abs(points) * perPoint)
      }
    }),
  )
})

test('against the reference, a shortfall points left of the middle and a surplus right of it', () => {
  const scorecard = [
    { points: 10, shortfall: 25 },
    { points: 10, shortfall: -25 },
    { points: 10, shortfall: 0 },
  ]
  const { bars, lines } = layOutWaterfall({ base: 300, total: 330, cutoff: 550 }, scorecard, 'reference')
  assert.deepEqual(lines, [{ at: 50, name: 'Reference', kind: 'cutoff' }])
  const [short, more, equal] = bars
  assert.deepEqual([short!.to, more!.from, equal!.from, equal!.to], [50, 50, 50, 50])
  assertClose(short!.to - short!.from, more!.to - more!.from)
})

/** Where a bar ends that begins where the one before it ended; a bar of negative points leads to the left. */
function endOf({ from, to }: Span, points: number, begin: number): number {
  assertClose(points < 0 ? to : from, begin)
  return points < 0 ? from : to
}

function assertClose(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`)
}

function assertSpan({ from, to }: Span): void {
  assert.ok(from >= 0 && from <= to && to <= 100, `a bar from ${from} % to ${to} %`)
}

test('the axis names its scores in the notation of the person', () => {
  setNotation('point_comma')
  const { lines } = layOutWaterfall({ base: 900, total: 1_300, cutoff: 1_150.5 }, [], 'running')
  const names = lines.map(({ name }) => name)
  assert.ok(names.includes('1.100') && names.includes('Cutoff 1.150,5'), names.join())
})
