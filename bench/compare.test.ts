import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Measured, Series, Yardstick } from './bench.ts'
import { compareAll } from './compare.ts'
import { formatTable } from './format-table.ts'

const micros = (...values: number[]): Series => ({ unit: 'µs', better: 'lower', values })
const ZEN: Yardstick = { name: 'zen', peer: '@gorules/zen-engine', aim: { ratio: 'speed', atLeast: 50 } }
const BY_HAND: Yardstick = { name: 'by hand', aim: { ratio: 'cost', atMost: 5 } }
const MEASURED: Measured = { series: { ours: micros(4, 5, 6), 'by hand': micros(1, 1, 1) }, notes: [] }

const tableOf = (yardsticks: Yardstick[], measured: Measured) =>
  formatTable(compareAll({ name: 'decide', yardsticks }, measured))
    .split('\n')
    .slice(2)

test('a peer that was left out keeps its line, with the reason, and the other lines are compared', () => {
  const leftOut = { '@gorules/zen-engine': '@gorules/zen-engine is not installed' }
  const [zen, byHand] = tableOf([ZEN, BY_HAND], { ...MEASURED, leftOut })
  assert.match(zen!, /^decide +5\.00 .* zen +left out: @gorules\/zen-engine is not installed +≥ 50× as fast$/)
  assert.match(byHand!, /5\.00× the cost .* ≤ 5× the cost +yes$/)
})

test('a yardstick that was neither measured nor left out is an error', () => {
  assert.throws(() => tableOf([ZEN], MEASURED), /decide did not measure zen/)
})

test('ratios are taken pass by pass, so a slow pass of both sides changes nothing', () => {
  const slowed: Measured = { series: { ours: micros(4, 40, 4), 'by hand': micros(1, 10, 1) }, notes: [] }
  assert.match(tableOf([BY_HAND], slowed)[0]!, /4\.00× the cost \(4\.00–4\.00\)/)
})

test('the load of the machine stands beside the figures', () => {
  const [line] = formatTable(
    compareAll({ name: 'decide', yardsticks: [BY_HAND] }, MEASURED).map((row) => ({ ...row, loadBefore: 2.345 })),
  )
    .split('\n')
    .slice(2)
  assert.match(line!, /(yes|NO) +2\.3$/)
})
