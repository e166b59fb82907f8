import { factsFrom } from '../facts/facts-from.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import type { PolicyDocument } from '../policy/policy-document.ts'
import { decide } from './decide.ts'
import type { Evaluation } from './evaluation.ts'

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
    failures: failuresOf(expect, decide(policy, factsFrom(facts, age_days, missing))),
  }))
}

function failuresOf(expect: Expectation, evaluation: Evaluation): string[] {
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
  ]
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
