import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idPattern } from '../core/id-format.ts'
import { createNewId, lowestIdAt, timeOfId } from './new-id.ts'

test('ids created within one millisecond are distinct and sort in the order of their creation', () => {
  const newId = createNewId(() => 1_763_174_739_123)
  const ids = Array.from({ length: 10_000 }, () => newId('dec'))
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual([...ids].sort(), ids)
})

test('a later id sorts later, even when the clock steps back', () => {
  const times = [1_000, 2_000, 1_999_999_999_999, 5]
  const newId = createNewId(() => times.shift() ?? 0)
  const ids = Array.from({ length: 4 }, () => newId('ent'))
  assert.deepEqual([...ids].sort(), ids)
})

test('an id is a UUIDv7 in 26 characters and matches its pattern', () => {
  const id = createNewId(() => 0x0123456789ab)('evt')
  assert.match(id, new RegExp(idPattern('evt')))
  const bits = [...id.slice(4)]
    .map((c) => '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(c).toString(2).padStart(5, '0'))
    .join('')
    .slice(2)
  const hex = BigInt(`0b${bits}`).toString(16).padStart(32, '0')
  assert.equal(hex.slice(0, 12), '0123456789ab')
  assert.equal(hex[12], '7', 'version')
  assert.match(hex[16]!, /[89ab]/, 'variant')
})

test('the lowest id of a moment separates the ids before it from all others', () => {
  for (const ms of [65_536, 1_763_174_739_123, 1_999_999_999_999]) {
    const lowest = lowestIdAt('aud', ms)
    assert.match(lowest, new RegExp(idPattern('aud')))
    assert.ok(createNewId(() => ms - 1)('aud') < lowest)
    assert.ok(createNewId(() => ms)('aud') > lowest)
  }
})

test('an id tells when it was made', () => {
  for (const ms of [0, 1_763_174_739_123, 2 ** 48 - 1]) assert.equal(timeOfId(lowestIdAt('aud', ms)), ms)
})

test('an id of an organization is short, random and matches its pattern', () => {
  const newId = createNewId(() => 0)
  const ids = Array.from({ length: 1_000 }, () => newId('org'))
  for (const id of ids) assert.match(id, new RegExp(idPattern('org')))
  assert.equal(new Set(ids).size, ids.length)
})
