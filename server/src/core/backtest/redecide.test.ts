import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { editedPolicy, snapshotInput } from '../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { canonicalJson } from '../canonical-json.ts'
import { decide } from '../decide/decide.ts'
import type { FactValue } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { type RecordedCase, redecider, type Standing } from './redecide.ts'

/** A good applicant with some other facts, as the policy decides about them, or as it is said that it did. */
function recorded(policy: CompiledPolicy, values: Record<string, FactValue>, limit?: number): RecordedCase {
  const facts = factsFrom({ ...GOOD, ...values })
  const decision = decide(policy, facts)
  return {
    id: 'dec_1',
    entity_id: 'ent_1',
    verdict: decision.verdict,
    created_at: '2026-11-01T00:00:00.000Z',
    requested_amount: Number({ ...GOOD, ...values }['request.amount']),
    recommended_limit: limit ?? decision.limit,
    facts: canonicalJson(facts),
  }
}

function standings(policy: CompiledPolicy, one: RecordedCase): { before: Standing; after: Standing } {
  return redecider(policy)(one, undefined)!
}

describe('what stands for a decision', () => {
  it('has its amount in the reference currency', () => {
    const policy = editedPolicy(({ limit }) => ({
      limit: { ...limit, currencies: [...limit.currencies, { currency: 'XTS', per_reference: 4, step: 100 }] },
    }))
    const { before, after } = standings(policy, recorded(policy, { 'request.amount': 2000, 'request.currency': 'XTS' }))
    assert.deepEqual([before.credit?.amount, after.credit?.amount], [500, 500])
  })

  it('has the scorecard whose table the probability is from, and none if the probability is external', () => {
    const policy = editedPolicy(({ inputs, scorecard }) => ({
      inputs: [...inputs, snapshotInput('repayment')],
      scorecard: { ...scorecard, external_probability: 'snapshot.repayment' },
    }))
    const cardOf = (under: CompiledPolicy, values: Record<string, FactValue>) => {
      const { credit } = standings(under, recorded(under, { 'request.amount': 1000, ...values })).after
      return credit && [credit.card, credit.badPpm]
    }
    assert.deepEqual(cardOf(policy, { 'snapshot.repayment': 0.99 }), [null, 10_000])
    assert.equal(cardOf(policy, {})?.[0], '')
    assert.equal(cardOf(sandboxPolicy(), {})?.[0], '')
  })

  it('has the risk of the amount that stood, also where another one is offered', () => {
    const policy = sandboxPolicy()
    // At this balance a larger instalment costs points.
    const asking = (amount: number) => recorded(policy, { 'request.amount': amount, 'cashflow.lowest_balance': 100 })
    const badPpmAt = (amount: number) => standings(policy, asking(amount)).after.credit!.badPpm
    const much = asking(1e6)
    const offered = much.recommended_limit!
    const [small, large] = [badPpmAt(500), badPpmAt(offered)]
    assert.notEqual(small, large)
    const { before, after } = standings(policy, { ...much, recommended_limit: 500 })
    assert.deepEqual([before.credit?.badPpm, after.credit?.badPpm], [small, large])
    assert.deepEqual([before.credit?.amount, after.credit?.amount], [500, offered])
  })
})
