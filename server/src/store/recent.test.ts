import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Recent } from './recent.ts'

test('what is asked for stays, and what nobody asked for is forgotten', () => {
  const recent = new Recent<string>(20)
  recent.set('asked', 'A', 4)
  recent.set('not', 'N', 4)
  for (let n = 0; n < 10; n++) {
    recent.set(`other ${n}`, '', 4)
    assert.equal(recent.get('asked'), 'A', `after ${n} others`)
  }
  assert.equal(recent.get('not'), undefined)
})

test('no more is kept than fits', () => {
  const recent = new Recent<number>(20)
  for (let n = 0; n < 100; n++) recent.set(String(n), n, 3)
  const kept = Array.from({ length: 100 }, (_, n) => n).filter((n) => recent.get(String(n)) !== undefined)
  assert.ok(kept.length * 3 <= 20, `${kept.length} of 3 bytes are kept`)
  assert.ok(kept.includes(99), 'the last is')
})

test('what is set again counts once and is the new one, and what is too large takes nothing else away', () => {
  const recent = new Recent<string>(20)
  recent.set('a', 'A', 4)
  for (let n = 0; n < 10; n++) recent.set('b', `B${n}`, 6)
  assert.deepEqual([recent.get('a'), recent.get('b')], ['A', 'B9'])
  recent.set('b', 'huge', 21)
  assert.deepEqual([recent.get('a'), recent.get('b')], ['A', undefined])
})
