/** Values that an organization may have on its first day, or never: what the charts are tested with. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ChartLayout, ColumnValues } from './chart-layout.ts'
import { labelWidth } from './label-width.ts'

/** A third of a hundred, of which a former axis found no end. */
const THIRD = (1 / 3) * 100

/** One value: a usual one, one at an edge, or none. */
export const anyValue: fc.Arbitrary<number | null> = fc.oneof(
  fc.constantFrom(0, 1, -1, THIRD, 1e-9, 1e12, -1e12, null, Number.NaN, Infinity, -Infinity),
  fc.integer({ min: -20_000, max: 20_000 }),
  fc.double({ min: -1e12, max: 1e12, noNaN: true }),
  fc.double({ min: 0, max: 100, noNaN: true }),
)

/** None, one or many columns with a value for each key: each column its own, or all columns the same. */
export function anyColumns(keys: readonly string[]): fc.Arbitrary<ColumnValues[]> {
  const values = fc.record(Object.fromEntries(keys.map((key) => [key, anyValue])))
  const label = fc.constantFrom('1 Nov', '28 Nov 2025', '14:00', 'Sept 2026')
  const columns = fc.array(fc.record({ label, values }), { maxLength: 100 })
  const alike = fc
    .tuple(label, values, fc.integer({ min: 1, max: 400 }))
    .map(([text, same, count]) => Array.from({ length: count }, () => ({ label: text, values: same })))
  return fc.oneof(columns, alike)
}

/** The width and height of a drawing. */
export const anySize = fc.record({
  width: fc.integer({ min: 220, max: 1_600 }),
  height: fc.integer({ min: 80, max: 400 }),
})

/** Rounding of floating-point numbers, in pixels. */
const SLACK = 1e-6

/** Fails if a point of a drawing is nowhere or outside of it. */
export function assertInside(
  { x, y }: { x: number; y: number },
  { left, right, top, bottom }: { left: number; right: number; top: number; bottom: number },
): void {
  assert.ok(x >= left - SLACK && x <= right + SLACK, `x ${x} is outside of ${left} to ${right}`)
  assert.ok(y >= top - SLACK && y <= bottom + SLACK, `y ${y} is outside of ${top} to ${bottom}`)
}

const TICKS_MAX = 7

/** Fails if the axis of a chart is not one: few, rising, different values that lie beside the plot, whole. */
export function assertAxis({ plot, ticks, width }: ChartLayout, side: 'left' | 'right'): void {
  assert.ok(plot.left < plot.right && plot.top < plot.bottom, 'the plot has no size')
  assert.ok(ticks.length >= 2 && ticks.length <= TICKS_MAX, `the axis has ${ticks.length} ticks`)
  assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length, 'two ticks have one label')
  ticks.forEach(({ value, y, label }, index) => {
    assertInside({ x: plot.left, y }, plot)
    const before = ticks[index - 1]
    assert.ok(!before || (value > before.value && y < before.y), 'the ticks do not rise')
    const room = side === 'left' ? plot.left : width - plot.right
    assert.ok(labelWidth(label) <= room, `“${label}” is wider than its margin of ${room} px`)
  })
}
