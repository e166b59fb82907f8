import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isObject } from '../stored-json.ts'
import { replayableFacts } from './replayable-facts.ts'

const facts = (features: unknown) => ({ format: 1, features })

it('facts as they are recorded can be replayed', () => {
  const recorded = facts({ 'a.b': { value: 1 }, 'a.c': { value: 'x', age_days: 3 }, 'a.d': { missing: 'no_data' } })
  assert.deepEqual(replayableFacts(recorded), { facts: recorded })
  assert.deepEqual(replayableFacts(facts({})), { facts: facts({}) })
})

it('every feature that was altered beyond reading is named, by a JSON pointer', () => {
  for (const altered of [
    null,
    5,
    [],
    {},
    { value: null },
    { value: [] },
    { value: Number.POSITIVE_INFINITY },
    { value: 1, age_days: 'x' },
    { value: 1, age_days: Number.NaN },
    { missing: 1 },
  ])
    assert.deepEqual(
      replayableFacts(facts({ 'a.b': { value: true }, 'a~/c': altered })),
      { unreadable: ['/features/a~0~1c'] },
      JSON.stringify(altered),
    )
})

it('facts of another shape cannot be read at all', () => {
  for (const stored of [null, 1, [], 'x', {}, { format: 2, features: {} }, facts(null), facts([]), facts('x')])
    assert.deepEqual(replayableFacts(stored), { unreadable: [''] }, JSON.stringify(stored))
})

it('an object is neither null nor a list', () => {
  assert.deepEqual([{}, { a: 1 }, null, [], 'x', 1, undefined].map(isObject), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ])
})
