import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvOf } from './download.ts'

test('no cell of a CSV file is a formula, also behind blanks and line breaks', () => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', ' =1+1', '\n=1+1', '\u00a0@x', '\tx', '\rx', '\nx'])
    assert.match(csvOf([text], []), /^"?'/, JSON.stringify(text))
  assert.equal(csvOf(['name', 'a-b'], [['x = 1', -1, null]]), 'name,a-b\r\nx = 1,-1,\r\n')
})

test('a cell with a separator, a quote or a line break is quoted, the semicolon of some spreadsheets included', () => {
  const row = ['Müller, Söhne', 'a;b', 'say "yes"', 'two\nlines', 'plain']
  assert.equal(csvOf(row, []), '"Müller, Söhne","a;b","say ""yes""","two\nlines",plain\r\n')
})
