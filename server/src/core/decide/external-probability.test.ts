import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { ask, type Values } from '../../../tests/ask-policy.ts'
import { editedPolicy, snapshotInput } from '../../../tests/edited-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { canonicalJson, orderedJson } from '../canonical-json.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { decide } from './decide.ts'
import { explainDecision } from './explain-decision.ts'

describe('an external probability', () => {
  const withProbability = (hasTable: boolean) =>
    editedPolicy(({ inputs, scorecard: { probability, ...scorecard } }) => ({
      inputs: [...inputs, snapshotInput('repayment')],
      scorecard: {
        ...scorecard,
        ...(hasTable && probability && { probability }),
        external_probability: 'snapshot.repayment',
      },
    }))

  it('replaces the table, in the answer and in the terms of the limit', () => {
    const { trace } = ask(withProbability(true), { 'snapshot.repayment': 0.9 })
    assert.equal(trace.score.bad_ppm, 100_000)
    assert.equal(trace.limit?.terms.find(({ term }) => term === 'expected_loss')?.amount, 25_000)
  })

  it('that is out of range is missing for that cause, and the trace says which probability counted', () => {
    const sourceOf = (hasTable: boolean, values: Values) =>
      ask(withProbability(hasTable), values).trace.score.probability_source
    assert.equal(sourceOf(true, { 'snapshot.repayment': 0.85 }), 'external')
    assert.equal(sourceOf(true, { 'snapshot.repayment': 85 }), 'table')
    assert.equal(sourceOf(false, { 'snapshot.repayment': 85 }), null)
    assert.ok(!('probability_source' in ask(sandboxPolicy()).trace.score))
    const facts = factsFrom({ ...GOOD, 'snapshot.repayment': 85 })
    const cause = { feature: 'snapshot.repayment', missing: 'out_of_range' }
    assert.deepEqual(explainDecision(withProbability(true), facts).missing_features.at(-1), cause)
    const derived = editedPolicy(({ inputs, scorecard }) => ({
      inputs: [...inputs, snapshotInput('repayment')],
      derived: [{ feature: 'derived.p', type: 'number', value: 'snapshot.repayment / 10.0' }],
      scorecard: { ...scorecard, external_probability: 'derived.p' },
    }))
    assert.deepEqual(decide(derived, facts).trace.derived, [
      { feature: 'derived.p', missing: 'out_of_range', value: null },
    ])
    const { trace } = ask(derived, { 'snapshot.repayment': 8.5 })
    assert.equal(trace.score.probability_source, 'external')
    assert.equal(orderedJson(trace), canonicalJson(trace))
  })

  it('that is missing or no probability leaves the table, and without a table the limit unknown', () => {
    assert.equal(ask(withProbability(true)).trace.score.bad_ppm, ask(sandboxPolicy()).trace.score.bad_ppm)
    for (const values of [{}, { 'snapshot.repayment': 90 }]) {
      const { verdict, trace } = ask(withProbability(false), values)
      assert.deepEqual([verdict, trace.settled_by, trace.score.bad_ppm], ['manual_review', 'limit_unknown', null])
      assert.deepEqual(trace.limit?.missing, ['snapshot.repayment'])
    }
  })
})

it('a value that does not age leaves the score as certain as the model, whatever its spread', () => {
  const policy = editedPolicy(({ scorecard }) => ({
    scorecard: {
      ...scorecard,
      characteristics: scorecard.characteristics.map((one) => ({ ...one, spread: 1000 })),
    },
  }))
  assert.equal(ask(policy).trace.confidence!.variance, policy.document.scorecard.spread ** 2)
})

it('a cutoff above the references declines with the factors furthest from their best', () => {
  const policy = editedPolicy(({ verdicts }) => ({ verdicts: { ...verdicts, cutoff: 660 } }))
  const decision = ask(policy)
  assert.deepEqual([decision.verdict, decision.trace.settled_by], ['decline', 'score'])
  assert.ok(decision.reasons.some(({ impact }) => impact === 'negative'))
})
