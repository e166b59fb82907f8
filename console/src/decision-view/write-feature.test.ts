import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ViewData } from './view-data.ts'
import { binWriter, featureWriter } from './write-feature.ts'

const units = { 'x.share': 'share', 'x.money': 'money', 'x.ratio': 'ratio', 'x.count': null } as const
const view = {
  features: Object.entries(units).map(([feature, unit]) => ({ feature, unit })),
  requested: { amount: 1, currency: 'EUR' },
} as unknown as ViewData

test('the range of a bin is written in the unit of its feature', () => {
  const write = binWriter(view)
  assert.equal(write('x.share', 'below 0.1'), 'below 10\u00a0%')
  assert.equal(write('x.share', '0.1 to below 0.25'), '10\u00a0% to below 25\u00a0%')
  assert.equal(write('x.money', '1500 or more'), '€1,500 or more')
  assert.equal(write('x.count', '3 or more'), '3 or more')
  assert.equal(write('x.count', '1500 to below 2500.5'), '1,500 to below 2,500.5')
  assert.equal(write('x.share', 'is one of 1, 2'), 'is one of 1, 2')
})

test('a share is a percentage, an amount has the currency of the request, and what has no unit is a number', () => {
  const write = featureWriter(view)
  assert.equal(write('x.share', 0.1132), '11.3\u00a0%')
  assert.equal(write('x.share', 1), '100\u00a0%')
  assert.equal(write('x.money', 1_500), '€1,500')
  assert.equal(write('x.count', 1_500), '1,500')
})

test('ratios have three digits', () => {
  const write = featureWriter(view)
  assert.equal(write('x.ratio', 30.937), '30.9 ×')
  assert.equal(write('x.ratio', 0.9984), '0.998 ×')
})
