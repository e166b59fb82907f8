import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileExpression } from './compile-expression.ts'

const slots = new Map([
  ['history.abuse', 0],
  ['entity.country', 1],
])
const problem = (source: string) => {
  const compiled = compileExpression(source, slots)
  assert.ok('message' in compiled, source)
  return [compiled.offset, compiled.message]
}

test('an operator of another language is told how CEL writes it', () => {
  assert.deepEqual(problem('history.abuse > 0 and history.abuse < 5'), [18, 'write && instead of and'])
  assert.deepEqual(problem('history.abuse > 0 OR history.abuse < 5'), [18, 'write || instead of OR'])
  assert.deepEqual(problem('not (history.abuse > 0)'), [0, 'write ! instead of not'])
  assert.deepEqual(problem('history.abuse = 0'), [14, 'write == instead of ='])
  assert.deepEqual(problem('history.abuse <> 0'), [14, 'write != instead of <>'])
})

test('a text that contains such a word is no operator, and other problems keep their message', () => {
  assert.ok('holds' in compileExpression('entity.country == "this and that = or"', slots))
  const [, message] = problem('entity.country == "a and b" &&')
  assert.doesNotMatch(String(message), /write/)
})
