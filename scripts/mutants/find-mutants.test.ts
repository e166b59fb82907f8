import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findMutants, mutate } from './find-mutants.ts'

const SOURCE = `import { a } from './a.ts' // 1 + 2

/** At most 3 && 4. */
export interface Row<T = 1> {
  format: 1
}

export function f(x: number, rows: Map<string, number[]>, row: Omit<Row, 'format'>, by: 1 | -1): boolean {
  if (x >= 10 && (x < 20 || isOdd(x))) return true
  if (rows.has('(')) return x
  return rows.get('a < b')!.length + 1 > Math.min(x, 2_000)
}
`

test('mutants change operators, numbers, branches and calls, and nothing in comments, texts, imports and types', () => {
  const mutated = findMutants(SOURCE).map((mutant) => mutate(SOURCE, mutant).split('\n').slice(8, 11))
  const lines = SOURCE.split('\n').slice(8, 11)
  const changed = mutated.map((changedLines) => changedLines.filter((line, index) => line !== lines[index]))
  assert.deepEqual(
    changed.map((ofMutant) => ofMutant.join(' / ').trim()),
    [
      'if (!(x >= 10 && (x < 20 || isOdd(x)))) return true',
      'if (x > 10 && (x < 20 || isOdd(x))) return true',
      'if (x >= (10 + 1) && (x < 20 || isOdd(x))) return true',
      'if (x >= 10 || (x < 20 || isOdd(x))) return true',
      'if (x >= 10 && (x <= 20 || isOdd(x))) return true',
      'if (x >= 10 && (x < (20 + 1) || isOdd(x))) return true',
      'if (x >= 10 && (x < 20 && isOdd(x))) return true',
      'if (x >= 10 && (x < 20 || isOdd(x))) return false',
      "if (!(rows.has('('))) return x",
      "return rows.get('a < b')!.length - 1 > Math.min(x, 2_000)",
      "return rows.get('a < b')!.length + 0 > Math.min(x, 2_000)",
      "return rows.get('a < b')!.length + 1 >= Math.min(x, 2_000)",
      "return rows.get('a < b')!.length + 1 > Math.max(x, 2_000)",
      "return rows.get('a < b')!.length + 1 > Math.min(x, (2_000 + 1))",
    ],
  )
})

test('a number with an exponent is left as it is', () => {
  assert.deepEqual(findMutants('const BEYOND = 1e-9\nconst MILLION = 1e6\n'), [])
})
