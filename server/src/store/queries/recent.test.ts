import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Recent } from './recent.ts'

const KB = 1_000

test('what is asked for stays, and what nobody asked for is forgotten', () => {
  const recent = new Recent<string>(20 * KB)
  recent.set('asked', 'A', 3 * KB)
  recent.set('not', 'N', 3 * KB)
  for (let n = 0; n < 10; n++) {
    recent.set(`other ${n}`, '', 3 * KB)
    assert.equal(recent.get('asked'), 'A', `after ${n} others`)
  }
  assert.equal(recent.get('not'), undefined)
})

test('no more is kept than fits, of the smallest either', () => {
  for (const bytes of [0, 3 * KB]) {
    const recent = new Recent<number>(20 * KB)
    for (let n = 0; n < 1_000; n++) recent.set(String(n), n, bytes)
    const kept = Array.from({ length: 1_000 }, (_, n) => n).filter((n) => recent.get(String(n)) !== undefined)
    assert.ok(kept.length * (bytes + 300) <= 20 * KB, `${kept.length} of ${bytes} bytes are kept`)
    assert.ok(kept.includes(999), 'the last is')
  }
})

test('what is set again counts once and is the new one, and what is too large takes nothing else away', () => {
  const recent = new Recent<string>(20 * KB)
  recent.set('a', 'A', 3 * KB)
  for (let n = 0; n < 10; n++) recent.set('b', `B${n}`, 5 * KB)
  assert.deepEqual([recent.get('a'), recent.get('b')], ['A', 'B9'])
  recent.set('b', 'huge', 21 * KB)
  assert.deepEqual([recent.get('a'), recent.get('b')], ['A', undefined])
})
