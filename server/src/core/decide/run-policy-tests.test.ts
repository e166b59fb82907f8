import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { compilePolicy } from '../policy/compile/compile-policy.ts'
import { runPolicyTests } from './run-policy-tests.ts'

const policy = sandboxPolicy()

it('the sandbox policy passes its own tests', () => {
  const results = runPolicyTests(policy)
  assert.ok(results.length > 0)
  for (const { name, failures } of results) assert.deepEqual(failures, [], name)
})

it('the tests of the sandbox policy reach every verdict', () => {
  const verdicts = new Set(policy.document.tests.map(({ expect }) => expect.verdict))
  assert.deepEqual([...verdicts].sort(), ['approve', 'approve_with_conditions', 'decline', 'manual_review'])
})

it('a failing test names the expected and the actual values', () => {
  const expect = {
    verdict: 'approve',
    tier: 'A+',
    limit: 5,
    reasons_include: ['nope'],
    conditions_include: ['never'],
  } as const
  const tests = [
    {
      name: 'hopeful',
      facts: { 'request.amount': 900, 'request.currency': 'EUR' },
      expect: { ...expect, reasons_include: ['nope'], conditions_include: ['never'] },
    },
  ]
  const hopeful = compilePolicy({ ...policy.document, tests })
  assert.ok('policy' in hopeful)
  const [result] = runPolicyTests(hopeful.policy)
  assert.equal(result?.failures.length, 5)
  assert.equal(result?.failures[0], 'verdict: expected approve, got manual_review')
  assert.equal(result?.failures[2], 'limit: expected 5, got none')
})

it('a test fails if a decision gives a reason that is not true of its facts', () => {
  const facts = { 'request.amount': 900, 'request.currency': 'EUR', 'history.abuse': 1 }
  const tests = [{ name: 'abuse', facts, expect: { verdict: 'decline' as const } }]
  const failuresWith = (means: string) => {
    const compiled = compilePolicy({ ...policy.document, tests, meanings: [{ code: 'abuse_on_record', means }] })
    assert.ok('policy' in compiled, JSON.stringify(compiled))
    return runPolicyTests(compiled.policy)[0]?.failures
  }
  assert.deepEqual(failuresWith('history.abuse > 0'), [])
  assert.deepEqual(failuresWith('history.abuse > 0 && history.late > 0'), [
    'reasons: abuse_on_record says "Confirmed fraud or abuse of access in an earlier case", but its meaning history.abuse > 0 && history.late > 0 does not hold',
  ])
})
