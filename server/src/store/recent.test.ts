import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Recent } from './recent.ts'

test('what was used last stays, as much as fits', () => {
  const recent = new Recent<string>(10)
  recent.set('a', 'A', 4)
  recent.set('b', 'B', 4)
  assert.equal(recent.get('a'), 'A')
  recent.set('c', 'C', 4)
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => recent.get(key)),
    ['A', undefined, 'C'],
  )
})

test('what is set again counts once, and what is larger than everything is not kept', () => {
  const recent = new Recent<string>(10)
  recent.set('a', 'A', 4)
  for (let n = 0; n < 10; n++) recent.set('b', `B${n}`, 5)
  assert.deepEqual([recent.get('a'), recent.get('b')], ['A', 'B9'])
  recent.set('b', 'huge', 11)
  assert.deepEqual([recent.get('a'), recent.get('b')], ['A', undefined])
  recent.set('c', 'C', 6)
  assert.deepEqual([recent.get('a'), recent.get('c')], ['A', 'C'])
})
