import assert from 'node:assert/strict'
import { it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { bureauPolicy, documentedPart } from '../../../tests/documented-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { describeProblem } from '../policy/check/policy-problem.ts'
import { compilePolicy } from '../policy/compile/compile-policy.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'
import { runPolicyTests, type TestCoverage, testPolicy } from './run-policy-tests.ts'

const policy = sandboxPolicy()
type PolicyTest = PolicyDocument['tests'][number]

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
  assert.equal(result?.failures.length, 6)
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

const GOOD_FACTS = { ...GOOD } as Record<string, string | number>

/** What the failing tests say of the sandbox policy if they expect something else than these facts give. */
function failuresOf(
  facts: Record<string, string | number>,
  expect: PolicyTest['expect'],
  missing?: PolicyTest['missing'],
) {
  const known = Object.fromEntries(Object.entries(facts).filter(([name]) => !(missing && name in missing)))
  const tests = [{ name: 'it', facts: known, expect, ...(missing && { missing }) }]
  const result = compilePolicy({ ...policy.document, tests })
  if (!('policy' in result)) throw new Error(result.problems.map(describeProblem).join('\n'))
  return runPolicyTests(result.policy)[0]!.failures
}

it('a failing test says how far the score is from the cutoff', () => {
  const [verdict, settled, ...others] = failuresOf(GOOD_FACTS, { verdict: 'decline' })
  assert.equal(verdict, 'verdict: expected decline, got approve')
  assert.match(
    settled!,
    /^settled by nothing_against, because nothing speaks against it: the score of \d+ is \d+ above the cutoff of \d+$/,
  )
  assert.deepEqual(others, [])
})

it('a failing test names the rules that settled the verdict, and how far they are from not holding', () => {
  const overdrawn = { ...GOOD_FACTS, 'history.abuse': 2 }
  assert.deepEqual(failuresOf(overdrawn, { verdict: 'approve' }), [
    'verdict: expected approve, got decline',
    'settled by knock_out, because a rule declines: rule abuse_on_record holds by 2: history.abuse is 2, against > 0',
  ])
})

it('a failing test says how far the rule is from holding whose reason it expects', () => {
  const failures = failuresOf(
    { ...GOOD_FACTS, 'cashflow.returned_payments': 2 },
    { reasons_include: ['payments_returned'] },
  )
  assert.ok(
    failures.includes('rule payments_returned does not hold by 1: cashflow.returned_payments is 2, against >= 3'),
    failures.join('\n'),
  )
})

it('a failing test says what is not known where that settled the verdict', () => {
  const missing = Object.fromEntries(
    Object.keys(GOOD_FACTS)
      .filter((name) => name.startsWith('cashflow.') || name.startsWith('identity.'))
      .map((name) => [name, 'no_data' as const]),
  )
  const failures = failuresOf(GOOD_FACTS, { verdict: 'approve' }, missing)
  assert.match(
    failures.at(-1)!,
    /^settled by completeness, because too little is known: [\d.]+ % of [\d.]+ % is known, without identity/,
  )
})

it('a failing test says which bound made the limit smaller than what was asked for', () => {
  const failures = failuresOf({ ...GOOD_FACTS, 'request.amount': 900_000 }, { verdict: 'approve' })
  assert.match(
    failures.at(-1)!,
    /^settled by counter_offer, because .*: \d+ EUR of 900000 asked for, \w+ (allows [\d.]+|binds)$/,
  )
})

it('a test can expect the step that settles the verdict', () => {
  assert.deepEqual(failuresOf(GOOD_FACTS, { settled_by: 'nothing_against' }), [])
  assert.equal(
    failuresOf(GOOD_FACTS, { settled_by: 'knock_out' })[0],
    'settled_by: expected knock_out, got nothing_against',
  )
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
    'settled by knock_out, because a rule declines: rule abuse_on_record holds by 1: history.abuse is 1, against > 0',
  ])
})
