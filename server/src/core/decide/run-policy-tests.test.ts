import assert from 'node:assert/strict'
import { it } from 'node:test'
import { bureauPolicy, documentedPart } from '../../../tests/documented-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { compilePolicy } from '../policy/compile/compile-policy.ts'
import { runPolicyTests, type TestCoverage, testPolicy } from './run-policy-tests.ts'

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

it('the tests of a policy reach the rules, rows and segments that hold in one of them, and the others are named', () => {
  const { document } = bureauPolicy()
  const tables = documentedPart('tables')
  const covering = (tests: typeof document.tests) => {
    const result = compilePolicy({ ...document, tables, tests })
    assert.ok('policy' in result)
    return testPolicy(result.policy).coverage
  }
  const names = ({ uncovered }: TestCoverage) => uncovered.map(({ kind, name }) => `${kind} ${name}`)
  const none = covering([])
  assert.equal(none.uncovered.length, none.parts)
  const one = covering(document.tests.slice(0, 1))
  assert.deepEqual(
    names(none).filter((name) => !names(one).includes(name)),
    ['row score_by_debt/strong'],
  )
  assert.ok(names(one).includes('row score_by_debt/heavy'))
  const all = covering([...document.tests])
  assert.ok(!names(all).includes('rule bureau_default') && !names(all).includes('segment thin_file'))
  assert.deepEqual(names(all), [
    'rule default_on_record',
    'rule near_the_limit',
    'row score_by_debt/middling',
    'row score_by_debt/heavy',
  ])
})
