import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeTextArray } from './text-array.ts'

test('an array of texts is written as PostgreSQL reads it', () => {
  assert.equal(
    encodeTextArray(['a', null, 'é€😀']).toString('hex'),
    [
      '00000001', // one dimension
      '00000001', // with nulls
      '00000019', // of text
      '00000003', // three elements
      '00000001', // from index 1
      '0000000161',
      'ffffffff',
      '00000009c3a9e282acf09f9880',
    ].join(''),
  )
})

test('an array without elements has no dimensions', () => {
  assert.equal(encodeTextArray([]).toString('hex'), '000000000000000000000019')
})
