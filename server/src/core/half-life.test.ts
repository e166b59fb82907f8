import assert from 'node:assert/strict'
import { it } from 'node:test'
import { HALF_LIFE_STEPS_PPM, HALVINGS_MAX } from './half-life.ts'

it('every step of a half-life is exact to the last digit', () => {
  assert.deepEqual(
    HALF_LIFE_STEPS_PPM,
    Array.from({ length: 65 }, (_, step) => Math.round(1e6 * 2 ** (-step / 64))),
  )
})

it('halving ends once less than one part per million is left', () => {
  assert.ok(1e6 / 2 ** HALVINGS_MAX < 1)
  assert.ok(1e6 / 2 ** (HALVINGS_MAX - 1) >= 1)
})
