import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeTextArrays } from './text-array.ts'

/** The parameters of a statement as they travel, binary ones in hexadecimal digits. */
function encoded(sql: string, params: unknown[]): unknown[] {
  return encodeTextArrays(sql, params).values.map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : value))
}

test('an array of texts is written as PostgreSQL reads it', () => {
  assert.deepEqual(encoded('SELECT $1::text[]', [['a', null, 'é€😀']]), [
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
  ])
})

test('an array without elements has no dimensions', () => {
  assert.deepEqual(encoded('SELECT $1::text[]', [[]]), ['000000000000000000000019'])
})

test('each array of a statement is in its place, and all else is left as it is', () => {
  const [one, two] = [['x'], ['y']].map((values) => encoded('SELECT $1::text[]', [values])[0])
  assert.deepEqual(
    encoded('SELECT $4::text[], $1::text, $2::text[], $3::bigint[], $2::text[]', ['z', ['x'], [1], ['y']]),
    ['z', one, [1], two],
  )
})
