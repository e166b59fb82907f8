import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { printable, printableJson } from './printable.ts'

const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

test('a printable text has no character that could control a terminal', () => {
  assert.equal(printable('a\u001b[2J\nb\u202ec'), 'a\\u{1b}[2J\\u{a}b\\u{202e}c')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.doesNotMatch(printable(text), CONTROLS)
    }),
  )
})

test('printable JSON is the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(0, 2), (value, indent) => {
      const text = printableJson(value, indent)
      assert.doesNotMatch(text.replaceAll('\n', ''), CONTROLS)
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
    }),
  )
})
