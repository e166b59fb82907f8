import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { canonicalJson } from '../src/core/canonical-json.ts'
import { decide } from '../src/core/decide/decide.ts'
import type { DecisionTrace } from '../src/core/decide/decision-outcome.ts'
import type { UnderwritingDecision } from '../src/core/decide/describe-decision.ts'
import { replay } from '../src/core/decide/replay.ts'
import { deriveFacts } from '../src/core/facts/derive-facts.ts'
import type { Facts } from '../src/core/facts/facts.ts'
import type { CompiledPolicy } from '../src/core/policy/compiled-policy.ts'
import { parsePolicy } from '../src/core/policy/parse-policy.ts'
import { GOLDEN_NOW, goldenCases } from './golden-states.ts'

interface GoldenDecision {
  policy_checksum: string
  facts: Facts
  decision: UnderwritingDecision
  trace: DecisionTrace
}

const FOLDER = new URL('golden/decisions/', import.meta.url)

const policies = new Map(
  readdirSync(new URL('policies/', FOLDER)).map((file) => [file.replace('.json', ''), readPolicy(file)]),
)
const golden = readFileSync(new URL('decisions.jsonl', FOLDER), 'utf8')
  .trim()
  .split('\n')
  .map((line): GoldenDecision => JSON.parse(line))

describe('golden decisions', () => {
  it('are two hundred or more, and among them every verdict and every way to settle one', () => {
    assert.ok(golden.length >= 200)
    assert.deepEqual([...new Set(golden.map(({ decision }) => decision.verdict))].sort(), [
      'approve',
      'approve_with_conditions',
      'decline',
      'manual_review',
    ])
    assert.deepEqual([...new Set(golden.map(({ trace }) => trace.settled_by))].sort(), [
      'completeness',
      'conditions',
      'confidence',
      'knock_out',
      'limit_unknown',
      'no_limit_left',
      'nothing_against',
      'review_rule',
      'score',
    ])
  })

  it('were made under policies that still have the checksum they were recorded with', () => {
    for (const [checksum, policy] of policies) assert.equal(policy.checksum, checksum)
  })

  it('start from facts that ingest still adds up to, byte for byte', () => {
    const derived = goldenCases()
      .flat()
      .map(({ state, entity, request }) => deriveFacts({ state, entity, request, now: GOLDEN_NOW }))
    assert.equal(derived.length, golden.length)
    for (const [index, facts] of derived.entries())
      assert.equal(canonicalJson(facts), canonicalJson(golden[index]?.facts))
  })

  for (const { policy_checksum, facts, decision, trace } of golden) {
    it(`${decision.policy_version} ${decision.id}: ${decision.verdict}, byte for byte`, () => {
      const policy = policies.get(policy_checksum)
      assert.ok(policy)
      assert.equal(canonicalJson(decide(policy, facts).trace), canonicalJson(trace))
      const { matches, differences } = replay(policy, facts, decision)
      assert.deepEqual(differences, [])
      assert.ok(matches)
    })
  }
})

function readPolicy(file: string): CompiledPolicy {
  const result = parsePolicy(readFileSync(new URL(`policies/${file}`, FOLDER), 'utf8'))
  assert.ok('policy' in result, file)
  return result.policy
}
