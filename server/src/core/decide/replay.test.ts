import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { compilePolicy } from '../policy/compile/compile-policy.ts'
import { decide } from './decide.ts'
import { describeDecision } from './describe-decision.ts'
import { replay } from './replay.ts'

const policy = sandboxPolicy()
const facts = factsFrom({ 'request.amount': 3000, 'request.currency': 'EUR', 'cashflow.overdrawn_days_365': 15 })
const named = {
  id: 'dec_1',
  environment: 'sandbox' as const,
  requestId: 'req_1',
  decidedAt: '2026-07-15T12:00:00.000Z',
}
const decision = describeDecision({ ...named, evaluation: decide(policy, facts), policy })

describe('a described decision', () => {
  it('has exactly the fields of the public API', () => {
    assert.deepEqual(Object.keys(decision).sort(), [
      'confidence',
      'created_at',
      'environment',
      'id',
      'model_version',
      'object',
      'policy_checksum',
      'policy_version',
      'reason_codes',
      'repayment_probability',
      'request_id',
      'risk_tier',
      'verdict',
    ])
    assert.equal(decision.object, 'underwriting_decision')
    assert.equal(decision.policy_version, 'sandbox-policy-v1')
    for (const reason of decision.reason_codes)
      assert.deepEqual(Object.keys(reason).sort(), ['code', 'impact', 'label'])
  })

  it('has a limit and conditions only if there are any', () => {
    assert.ok(!('recommended_limit' in decision) && !('conditions' in decision))
  })
})

describe('a replay', () => {
  it('matches the recorded decision, also after storing and reading it', () => {
    const stored = JSON.parse(JSON.stringify({ decision, facts }))
    const { matches, differences } = replay(policy, stored.facts, stored.decision)
    assert.ok(matches)
    assert.deepEqual(differences, [])
  })

  it('names the parts that were altered', () => {
    const tampered = { ...decision, verdict: 'approve', recommended_limit: 9000 } as const
    const { matches, differences } = replay(policy, facts, tampered)
    assert.ok(!matches)
    assert.deepEqual(differences, [
      { path: '/verdict', recorded: 'approve', replayed: 'decline' },
      { path: '/recommended_limit', recorded: 9000, replayed: undefined },
    ])
  })

  it('does not match under another policy, at least by its checksum', () => {
    const other = compilePolicy({ ...policy.document, description: 'another' })
    assert.ok('policy' in other)
    assert.deepEqual(
      replay(other.policy, facts, decision).differences.map(({ path }) => path),
      ['/policy_checksum'],
    )
  })
})
