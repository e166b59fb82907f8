import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idsIn, storeIds } from './entry-list.ts'

const ids = ['a', 'b', 'c'].map((digit) => `aud_${digit.repeat(26)}`)

test('a list has the ids that were stored, without their prefix', () => {
  assert.equal(storeIds(ids).length, 3 * 26)
  assert.deepEqual(idsIn(storeIds(ids)), ids)
})

test('a list that was cut off ends with an id that no entry has', () => {
  assert.deepEqual(idsIn(storeIds(ids).slice(0, -3)), [ids[0], ids[1], ids[2]!.slice(0, -3)])
})

test('what is not the id of an audit entry is not listed', () => {
  for (const id of ['aud_1', `evt_${'a'.repeat(26)}`, `${ids[0]} `])
    assert.throws(() => storeIds([ids[0]!, id]), new RegExp(`not the id of an audit entry: ${id}`))
})
