import assert from 'node:assert/strict'
import { test } from 'node:test'
import { givenRowsOf, KeptPlans, mayKeepPlan } from './kept-plans.ts'

test('the plans of a generation are used for two seconds', () => {
  let nowMs = 0
  const plans = new KeptPlans(() => nowMs)
  const first = plans.generation
  nowMs = 1_999
  assert.equal(plans.generation, first)
  nowMs = 2_000
  assert.equal(plans.generation, first + 1)
  nowMs = 3_999
  assert.equal(plans.generation, first + 1)
})

test('the plans of a generation are used until statements were given a thousand rows', () => {
  const plans = new KeptPlans(() => 0)
  const first = plans.generation
  plans.countRows(999)
  assert.equal(plans.generation, first)
  plans.countRows(1)
  assert.equal(plans.generation, first + 1)
  assert.equal(plans.generation, first + 1)
})

test('a statement keeps its plan if it asks for that and is given at most a hundred rows', () => {
  assert.equal(mayKeepPlan({ keepPlan: true }, 100), true)
  assert.equal(mayKeepPlan({ keepPlan: true }, 101), false)
  assert.equal(mayKeepPlan({}, 1), false)
})

test('a statement is given as many rows as its longest array has elements', () => {
  assert.equal(givenRowsOf(['a', ['b', 'c'], [1, 2, 3], null]), 3)
  assert.equal(givenRowsOf([]), 0)
})
