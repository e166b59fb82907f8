import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse, stringify } from 'yaml'
import { newPolicySource } from '../../admin/new-policy.ts'
import { canonicalJson, orderedJson } from '../canonical-json.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { describeProblem } from '../policy/check/policy-problem.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { decide } from './decide.ts'
import { describeDecision } from './describe-decision.ts'
import { scoreIn } from './evaluation.ts'
import { testPolicy } from './run-policy-tests.ts'

const SOURCE = newPolicySource('start-1')
type Parts = Record<string, unknown>

function compiled(edit: (document: Parts) => Parts = (document) => document): CompiledPolicy {
  const result = parsePolicy(stringify(edit(parse(SOURCE)), { aliasDuplicateObjects: false }))
  if ('policy' in result) return result.policy
  throw new Error(result.problems.map(describeProblem).join('\n'))
}

const said = (edit: (document: Parts) => Parts): string[] => {
  const result = parsePolicy(stringify(edit(parse(SOURCE)), { aliasDuplicateObjects: false }))
  return ('problems' in result ? result.problems : result.warnings).map(
    ({ path, message }) => `/${path.join('/')}: ${message}`,
  )
}

const policy = compiled()
const GOOD = policy.document.tests[0]!.facts

describe('the start of a policy', () => {
  it('is valid without a warning, and its tests pass and reach every part of it', () => {
    const result = parsePolicy(SOURCE)
    assert.deepEqual('warnings' in result ? result.warnings : result.problems, [])
    const { tests, coverage } = testPolicy(policy)
    assert.deepEqual(
      tests.filter(({ failures }) => failures.length > 0),
      [],
    )
    assert.deepEqual(coverage.uncovered, [])
  })

  it('has the version that it was asked for, and no other name', () => {
    assert.deepEqual([policy.document.version, policy.document.model_version], ['start-1', 'start-1'])
    assert.throws(() => newPolicySource('../etc'), /'\.\.\/etc' cannot name a policy/)
  })
})

describe('a policy without a scorecard', () => {
  const evaluation = decide(policy, factsFrom(GOOD))
  const decision = describeDecision({
    id: 'dec_1',
    environment: 'sandbox',
    evaluation,
    policy,
    requestId: 'req_1',
    decidedAt: '2026-01-01T00:00:00.000Z',
  })

  it('answers without a score, a confidence or a probability', () => {
    assert.equal(scoreIn(evaluation.trace), null)
    assert.equal(evaluation.trace.confidence, null)
    assert.deepEqual(
      Object.keys(decision).filter((name) => ['confidence', 'repayment_probability'].includes(name)),
      [],
    )
    assert.deepEqual([decision.verdict, decision.risk_tier, decision.recommended_limit], ['approve', 'Standard', 3000])
  })

  it('gives the reason of an approval that has no other', () => {
    assert.deepEqual(
      evaluation.reasons.map(({ code, impact }) => [code, impact]),
      [['instalment_affordable', 'positive']],
    )
    const withCondition = decide(policy, factsFrom({ ...GOOD, 'consent.credit_underwriting': 'none' }))
    assert.deepEqual(
      withCondition.reasons.map(({ code }) => code),
      ['consent_missing'],
    )
  })

  it('leaves a trace whose members are in order, so that it replays to the byte', () => {
    assert.equal(orderedJson(evaluation.trace), canonicalJson(evaluation.trace))
  })

  it('can have segments with limit terms and products of their own', () => {
    const segmented = compiled((document) => ({
      ...document,
      segments: [
        {
          name: 'overdrawn',
          when: 'cashflow.overdrawn_days_365 > 0',
          tiers: [{ tier: 'Careful', cap: 1000 }],
        },
      ],
      tests: [],
    }))
    const { limit, tier } = decide(
      segmented,
      factsFrom({ ...GOOD, 'cashflow.overdrawn_days_365': 1, 'request.amount': 1500 }),
    )
    assert.deepEqual([limit, tier], [1000, 'Careful'])
  })

  const REFUSED: Record<string, [(document: Parts) => Parts, RegExp]> = {
    'a cutoff': [
      (document) => ({ ...document, verdicts: { cutoff: 500 } }),
      /^\/verdicts\/cutoff: without a scorecard nothing is decided by cutoff; remove it, or add a scorecard/,
    ],
    'several tiers': [
      (document) => ({
        ...document,
        tiers: [
          { tier: 'A', from: 600, cap: 1 },
          { tier: 'B', cap: 1 },
        ],
      }),
      /^\/tiers: without a score every request is in the last tier; keep that one/,
    ],
    'a rule that adds points': [
      ({ rules, ...document }) => ({
        ...document,
        rules: [
          {
            ...(rules as Parts[])[0],
            // biome-ignore lint/suspicious/noThenProperty: a rule is never awaited
            then: 'points',
            points: -5,
          },
        ],
      }),
      /^\/rules\/0\/then: there is no score to add points to/,
    ],
    'a limit term that reads the score': [
      ({ limit, ...document }) => ({
        ...document,
        limit: {
          ...(limit as Parts),
          terms: [
            { term: 'loss', amount: '100 / score.bad_probability', reason: { code: 'loss', label: 'Loss too high' } },
          ],
        },
      }),
      /^\/limit\/terms\/0\/amount: score\.bad_probability is never known, because there is no scorecard/,
    ],
    'an approval without a reason': [
      (document) => ({ ...document, reasons: { negative_max: 4, positive_max: 2 } }),
      /^\/reasons: without a scorecard no strength can be the reason of an approval; add nothing_against/,
    ],
    'a segment with a scorecard': [
      (document) => ({
        ...document,
        segments: [{ name: 'new', when: 'history.defaults > 0', verdicts: { cutoff: 1 } }],
      }),
      /^\/segments\/0\/verdicts: without a scorecard nothing is decided by these; remove them/,
    ],
  }
  for (const [what, [edit, message]] of Object.entries(REFUSED)) {
    it(`is refused with ${what}`, () => {
      assert.ok(
        said(edit).some((line) => message.test(line)),
        said(edit).join('\n'),
      )
    })
  }

  it('has verdicts of which a misspelled one is refused by its name', () => {
    const lines = said((document) => ({ ...document, verdicts: { cutof: 500 } }))
    assert.deepEqual(lines, ["/verdicts/cutof: there is no field 'cutof' here"])
  })

  it('is told apart from one whose author forgot the cutoffs', () => {
    const lines = said((document) => ({
      ...document,
      scorecard: {
        base: 1,
        spread: 1,
        characteristics: [],
        normal: [
          { z: 0, ppm: 1 },
          { z: 1, ppm: 2 },
        ],
      },
    }))
    assert.deepEqual(lines, [
      '/: a policy with a scorecard needs verdicts with cutoff, confidence_min_ppm, completeness_min_ppm',
    ])
  })
})
