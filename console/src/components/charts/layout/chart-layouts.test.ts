import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { withPercentSign, writeFixed, writeLatency, writeShortCount, writeShortMoney } from '../../write-number.ts'
import type { BarLayout } from './chart-layout.ts'
import { anyColumns, anySize, anyValue, assertAxis, assertInside } from './degenerate-values.ts'
import { labelWidth } from './label-width.ts'
import { layOutLines } from './lay-out-lines.ts'
import { layOutPairs } from './lay-out-pairs.ts'
import { layOutStack } from './lay-out-stack.ts'
import { percentScale } from './percent-scale.ts'
import { valueAxis } from './value-axis.ts'

const KEYS = ['a', 'b', 'c']
const euros = (value: number) => writeShortMoney(value, 'EUR')

test('stacked bars of any counts lie within their columns, beside an axis with room for its labels', () => {
  fc.assert(
    fc.property(anyColumns(KEYS), anySize, (columns, size) =>
      assertBars(layOutStack({ keys: KEYS, columns, write: writeShortCount, ...size })),
    ),
  )
})

test('bars side by side of any amounts lie within their columns, beside an axis with room for its labels', () => {
  fc.assert(
    fc.property(anyColumns(KEYS), anySize, (columns, size) =>
      assertBars(layOutPairs({ keys: KEYS, columns, write: euros, ...size })),
    ),
  )
})

/** Every line chart of the console, by how its axis is written. */
const LINES = [
  {
    name: 'the approval rate',
    write: (value: number) => withPercentSign(Math.round(value)),
    stepMin: 1,
    hasZero: false,
  },
  { name: 'the latency of decisions', write: writeLatency, stepMin: 0.1, hasZero: true },
  { name: 'the trust score', write: (value: number) => writeFixed(value, 2), stepMin: 0.01, hasZero: false },
  { name: 'the balance of an account', write: euros, stepMin: 1, hasZero: true },
]

for (const { name, ...axis } of LINES)
  test(`${name} of any values is drawn within its plot, beside an axis with room for its labels`, () => {
    fc.assert(
      fc.property(anyColumns(KEYS), anySize, fc.nat({ max: 120 }), (points, size, index) => {
        const mark = { index, label: 'a-policy-with-a-long-name-v17 active' }
        const layout = layOutLines({ keys: KEYS, points, ...axis, mark, ...size })
        assertAxis(layout, 'right')
        const { plot, lines, labels } = layout
        for (const { key, path, area, lone } of lines) {
          const known = points.filter(({ values }) => Number.isFinite(values[key])).length
          assert.equal(pointsOf(path).length, known, 'every known value is a point of the line')
          for (const place of [...pointsOf(path), ...pointsOf(area), ...lone]) assertInside(place, plot)
        }
        for (const { x, anchor, text } of [...labels, ...(layout.mark ? [layout.mark] : [])]) {
          const before = { start: 0, middle: labelWidth(text) / 2, end: labelWidth(text) }[anchor]
          assert.ok(x - before >= 0 && x - before + labelWidth(text) <= size.width, `“${text}” is cut`)
        }
      }),
    )
  })

test('a bar of a share lies between nothing and the whole, whatever its value', () => {
  fc.assert(
    fc.property(anyValue, anyValue, anyValue, (from, to, value) => {
      const share = percentScale(from ?? 0, to ?? 0)(value)
      assert.ok(share >= 0 && share <= 100, `${share} %`)
    }),
  )
})

test('a rate that is the same on all days has an axis from zero', () => {
  const axis = valueAxis({
    values: [100 / 3, null, 100 / 3],
    top: 0,
    bottom: 100,
    write: String,
    hasZero: false,
    steps: 3,
  })
  assert.deepEqual(
    axis.ticks.map(({ value }) => value),
    [0, 10, 20, 30, 40],
  )
})

test('values barely below zero have an axis with both signs', () => {
  const axis = valueAxis({ values: [-1e-323, Math.SQRT2], top: 0, bottom: 100, write: String, stepMin: 1 })
  assert.deepEqual(
    axis.ticks.map(({ value }) => value),
    [-1, 0, 1, 2],
  )
})

test('a chart of counts names whole numbers, and thousands in full width', () => {
  const labelsOf = (value: number) =>
    layOutStack({
      keys: ['a'],
      columns: [{ label: '', values: { a: value } }],
      write: writeShortCount,
      width: 600,
      height: 200,
    })
  assert.deepEqual(
    [1, 3, 2_600, 1_400_000].map((value) => labelsOf(value).ticks.map(({ label }) => label)),
    [
      ['0', '1'],
      ['0', '1', '2', '3'],
      ['0', '1,000', '2,000', '3,000'],
      ['0', '500k', '1m', '1.5m'],
    ],
  )
})

test('a value that has no neighbour is a dot, and the only moment has one label', () => {
  const at = (label: string, value: number | null) => ({ label, values: { a: value } })
  const options = { keys: ['a'], write: String, hasZero: true, stepMin: 1, width: 300, height: 100 }
  const { lines } = layOutLines({ points: [at('1', null), at('2', 5), at('3', null)], ...options })
  assert.equal(lines[0]!.lone.length, 1)
  const { labels } = layOutLines({ points: [at('17 Nov', 5)], ...options })
  assert.deepEqual(
    labels.map(({ text, anchor }) => [text, anchor]),
    [['17 Nov', 'middle']],
  )
})

function assertBars(layout: BarLayout): void {
  assertAxis(layout, 'left')
  const { plot, columns, labels, width } = layout
  for (const column of columns) {
    assertInside({ x: column.x, y: plot.top }, plot)
    for (const bar of column.bars) {
      const box = { ...plot, left: column.x, right: column.x + column.width }
      assert.ok(bar.width >= 0 && bar.height >= 0, 'a bar is less than nothing')
      assertInside(bar, box)
      assertInside({ x: bar.x + bar.width, y: bar.y + bar.height }, box)
    }
  }
  labels.forEach(({ x, text }, index) => {
    const [start, end] = [x - labelWidth(text) / 2, x + labelWidth(text) / 2]
    assert.ok(start >= 0 && end <= width, `“${text}” is cut`)
    const before = labels[index - 1]
    assert.ok(!before || before.x + labelWidth(before.text) / 2 <= start, `“${before?.text}” and “${text}” overlap`)
  })
}

/** The points of a path: d3 writes absolute coordinates. */
function pointsOf(path: string): { x: number; y: number }[] {
  assert.ok(!/NaN|Infinity|undefined/.test(path), path)
  return [...path.matchAll(/(-?[\d.e-]+),(-?[\d.e-]+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }))
}
