import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { objectIn, ownProperty, parseStored } from './stored-json.ts'

test('any stored text is read without a failure, and only an object is one', () => {
  assert.deepEqual(objectIn('{"a":1}'), { a: 1 })
  for (const text of [null, '', '{', 'null', '[]', '1', '"text"']) assert.equal(objectIn(text), undefined, String(text))
  assert.equal(parseStored('null'), null)
  fc.assert(fc.property(fc.string(), (text) => void objectIn(text)))
  fc.assert(
    fc.property(fc.jsonValue(), (value) =>
      assert.deepEqual(parseStored(JSON.stringify(value)), JSON.parse(JSON.stringify(value))),
    ),
  )
})

test('a key that a caller chose never reads an inherited property', () => {
  assert.equal(ownProperty({ constructor_: 1 }, 'constructor'), undefined)
  assert.equal(ownProperty({ EUR: 1 }, 'EUR'), 1)
})
