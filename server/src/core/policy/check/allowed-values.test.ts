import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sandboxPolicySource } from '../../../../tests/sandbox-policy.ts'
import { parsePolicy } from '../parse-policy.ts'

test('a word that a policy does not know is told the words that it does', () => {
  const result = parsePolicy(sandboxPolicySource().replace('type: number', 'type: numeric'))
  assert.ok('problems' in result)
  const [problem] = result.problems
  assert.deepEqual([problem?.path.at(-1), problem?.message], ['type', 'must be one of number, string, boolean'])
})
