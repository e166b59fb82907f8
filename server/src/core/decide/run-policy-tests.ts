import type { Facts } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { type CompiledPolicy, ruleIdsOf } from '../policy/compile/compiled-policy.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'
import { isRowId, rowId } from '../policy/table-conditions.ts'
import { decide, judge } from './decide.ts'
import type { Evaluation } from './evaluation.ts'
import { explainDecision } from './explain-decision.ts'
import { falseReasons } from './false-reasons.ts'
import { ruleDistance, settledLine } from './settling-distance.ts'

type Expectation = PolicyDocument['tests'][number]['expect']

/** The failures of one of a policy's own tests; without any it passed. */
export interface PolicyTestResult {
  name: string
  failures: string[]
}

/** A part of a policy that decides on some applicants only. */
export interface PolicyPart {
  kind: 'rule' | 'row' | 'segment'
  /** The id of a rule, `table/row`, or the name of a segment. */
  name: string
}

/** Which rules, rows of tables and segments of a policy its own tests reach: a rule or row that holds in one of them. */
export interface TestCoverage {
  parts: number
  uncovered: PolicyPart[]
}

/** Runs the tests that a policy carries. A policy with a failing test cannot be approved. */
export function runPolicyTests(policy: CompiledPolicy): PolicyTestResult[] {
  return testPolicy(policy).tests
}

/** Runs the tests that a policy carries, and says what they reach. */
export function testPolicy(policy: CompiledPolicy): { tests: PolicyTestResult[]; coverage: TestCoverage } {
  const reached = new Set<string>()
  const tests = policy.document.tests.map(({ name, facts, missing, age_days, expect }) => {
    const given = factsFrom(facts, age_days, missing)
    const evaluation = decide(policy, given)
    for (const { holds, rule, row } of evaluation.trace.rule_trace)
      if (holds === true) reached.add(row === undefined ? `rule ${rule}` : `row ${rowId({ table: rule }, { row })}`)
    if (evaluation.terms.segment !== null) reached.add(`segment ${evaluation.terms.segment}`)
    const failures = failuresOf(expect, { policy, given, evaluation })
    return {
      name,
      failures: failures.length === 0 ? [] : withDistances(failures, expect, { policy, given, evaluation }),
    }
  })
  const parts = partsOf(policy)
  return {
    tests,
    coverage: { parts: parts.length, uncovered: parts.filter(({ kind, name }) => !reached.has(`${kind} ${name}`)) },
  }
}

/** The parts of a policy that decide on some applicants only. */
function partsOf(policy: CompiledPolicy): PolicyPart[] {
  return [
    ...policy.segments.map(({ name }): PolicyPart => ({ kind: 'segment', name })),
    ...ruleIdsOf(policy).map((name): PolicyPart => ({ kind: isRowId(name) ? 'row' : 'rule', name })),
  ]
}

/**
 * The failures of a test with what settled the verdict and how far it was from being settled otherwise, and with how far the rules
 * were from holding whose reasons were expected.
 */
function withDistances(
  failures: readonly string[],
  { reasons_include = [] }: Expectation,
  { policy, given, evaluation }: { policy: CompiledPolicy; given: Facts; evaluation: Evaluation },
): string[] {
  const { rules } = explainDecision(policy, given)
  const { verdicts } = judge(policy, given).policy.document
  const givenCodes = evaluation.reasons.map(({ code }) => code)
  const expected = rules.filter(
    ({ code, holds }) => holds !== true && reasons_include.includes(code) && !givenCodes.includes(code),
  )
  return [...failures, ...expected.map(ruleDistance), settledLine({ evaluation, rules, verdicts })]
}

function failuresOf(
  expect: Expectation,
  { policy, given: facts, evaluation }: { policy: CompiledPolicy; given: Facts; evaluation: Evaluation },
): string[] {
  const { verdict, tier, limit, reasons, conditions, terms, trace } = evaluation
  return [
    ...differing('verdict', expect.verdict, verdict),
    ...differing('tier', expect.tier, tier),
    ...differing('limit', expect.limit, limit),
    ...differing('score', expect.score, trace.score.total),
    ...differing('settled_by', expect.settled_by, trace.settled_by),
    ...differing('segment', expect.segment, terms.segment ?? 'none'),
    ...differing('annual_rate', expect.annual_rate, terms.annual_rate),
    ...lacking('reasons', expect.reasons_include, reasons),
    ...lacking('conditions', expect.conditions_include, conditions),
    ...untrue(policy, facts, evaluation),
  ]
}

/** A reason that is not true of the facts fails a test whatever the test expects. */
function untrue(policy: CompiledPolicy, facts: Facts, evaluation: Evaluation): string[] {
  return falseReasons(policy, facts, evaluation).map(({ code, label }) => {
    const { means } = policy.document.meanings!.find((meaning) => meaning.code === code)!
    return `reasons: ${code} says "${label}", but its meaning ${means} does not hold`
  })
}

function differing<Value>(what: string, expected: Value | undefined, actual: Value | null): string[] {
  return expected === undefined || expected === actual ? [] : [`${what}: expected ${expected}, got ${actual ?? 'none'}`]
}

function lacking(what: string, expected: readonly string[] = [], actual: readonly { code: string }[]): string[] {
  const codes = actual.map(({ code }) => code)
  return expected
    .filter((code) => !codes.includes(code))
    .map((code) => `${what}: expected ${code} among ${codes.join(', ') || 'none'}`)
}
