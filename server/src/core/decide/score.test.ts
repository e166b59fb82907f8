import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readTable } from './score.ts'

const rows = [
  { at: 0, value: 500_000 },
  { at: 10, value: 600_000 },
  { at: 20, value: 650_001 },
]

it('a table is interpolated linearly, rounded down, and constant beyond its ends', () => {
  assert.deepEqual(
    [-5, 0, 5, 10, 15, 20, 99].map((at) => readTable(rows, at)),
    [500_000, 500_000, 550_000, 600_000, 625_000, 650_001, 650_001],
  )
})
