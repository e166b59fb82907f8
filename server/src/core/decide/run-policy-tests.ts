import type { Facts } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'
import { decide } from './decide.ts'
import type { Evaluation } from './evaluation.ts'
import { falseReasons } from './false-reasons.ts'

type Expectation = PolicyDocument['tests'][number]['expect']

/** The failures of one of a policy's own tests; without any it passed. */
export interface PolicyTestResult {
  name: string
  failures: string[]
}

/** Runs the tests that a policy carries. A policy with a failing test cannot be approved. */
export function runPolicyTests(policy: CompiledPolicy): PolicyTestResult[] {
  return policy.document.tests.map(({ name, facts, missing, age_days, expect }) => ({
    name,
    failures: failuresOf(policy, factsFrom(facts, age_days, missing), expect),
  }))
}

function failuresOf(policy: CompiledPolicy, facts: Facts, expect: Expectation): string[] {
  const evaluation = decide(policy, facts)
  const { verdict, tier, limit, reasons, conditions, terms, trace } = evaluation
  return [
    ...differing('verdict', expect.verdict, verdict),
    ...differing('tier', expect.tier, tier),
    ...differing('limit', expect.limit, limit),
    ...differing('score', expect.score, trace.score.total),
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
