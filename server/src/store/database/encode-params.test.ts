import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeParams } from './encode-params.ts'

/** The parameters of a statement as they are sent, binary ones in hexadecimal digits. */
function encoded(sql: string, params: unknown[]): unknown[] {
  return encodeParams(sql, params).values.map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : value))
}

test('a text array is encoded in the binary format of PostgreSQL', () => {
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

test('an empty array is encoded with no dimensions', () => {
  assert.deepEqual(encoded('SELECT $1::text[]', [[]]), ['000000000000000000000019'])
})

test('each parameter is encoded by its own type, wherever the statement names it', () => {
  const [x, y] = ['x', 'y'].map((text) => encoded('SELECT $1::text[]', [[text]])[0])
  const sql = 'SELECT $4::text[], $1::text, $2::text[], $3::bigint[], $2::text[]'
  assert.deepEqual(encoded(sql, ['z', ['x'], [1], ['y']]), ['z', x, '{1}', y])
})

test('arrays of other types are encoded as text, with every delimiter inside an element escaped', () => {
  const sql = 'SELECT $1::integer[], $2::timestamptz[], $3::boolean[], $4::numeric[]'
  assert.deepEqual(encoded(sql, [[1, null, -2.5], ['2026-11-15T09:00:00Z', null], [true, false], []]), [
    '{1,NULL,-2.5}',
    '{"2026-11-15T09:00:00Z",NULL}',
    '{true,false}',
    '{}',
  ])
  assert.deepEqual(encoded('SELECT $1::varchar[]', [['a,b', 'NULL', '', '"}{\\']]), ['{"a,b","NULL","","\\"}{\\\\"}'])
})
