import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { editedDocument, editedPolicy, ruleOf, snapshotInput } from '../../../tests/edited-policy.ts'
import { sha256 } from '../canonical-json.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { compileStoredPolicy } from '../policy/compile/compile-policy.ts'
import type { CompiledPolicy } from '../policy/compile/compiled-policy.ts'
import { betterAmount } from './better-amount.ts'
import { decide, judge } from './decide.ts'

it('a text that a stored policy doubles again and again is missing beyond 500 characters', () => {
  const document = JSON.stringify(
    editedDocument(({ inputs }) => ({
      inputs: [...inputs, snapshotInput('text', 'string')],
      derived: Array.from({ length: 60 }, (_, index) => {
        const above = index === 0 ? 'snapshot.text' : `derived.d${index - 1}`
        return { feature: `derived.d${index}`, type: 'string' as const, value: `${above} + ${above}` }
      }),
    })),
  )
  const compiled = compileStoredPolicy({ document, checksum: sha256(document) })
  assert.ok('policy' in compiled)
  const { trace } = decide(compiled.policy, factsFrom({ ...GOOD, 'snapshot.text': 'x'.repeat(250) }))
  assert.equal(trace.derived?.[0]?.value, 'x'.repeat(500))
  assert.deepEqual(trace.derived?.[1], { feature: 'derived.d1', missing: 'too_long', value: null })
  assert.deepEqual(trace.derived?.[59], { feature: 'derived.d59', missing: 'too_long', value: null })
})

it('the search for a counter-offer evaluates only the rules that depend on the amount again', () => {
  const compiled = editedPolicy(({ inputs, rules }) => ({
    inputs: [...inputs, { feature: 'request.amount', type: 'number', weight: 0 }],
    rules: [
      ...rules,
      ruleOf({ id: 'large', when: 'request.amount > 1000', action: 'decline' }),
      ruleOf({ id: 'known', when: 'history.late >= 0', action: 'points', points: 1 }),
    ],
  }))
  const calls: { large?: number; known?: number; [rule: string]: number | undefined } = {}
  const policy = {
    ...compiled,
    rules: compiled.rules.map((rule) => ({
      ...rule,
      holds: (slots: Parameters<typeof rule.holds>[0]) => {
        calls[rule.id] = (calls[rule.id] ?? 0) + 1
        return rule.holds(slots)
      },
    })),
  }
  const facts = factsFrom({ ...GOOD, 'history.late': 0, 'request.amount': 1500 })
  const evaluation = decide(policy, facts)
  assert.equal(evaluation.limit, 1000)
  assert.ok((calls.large ?? 0) > 1)
  assert.equal(calls.known, 1)
})

describe('the search for an amount', () => {
  /** Counts the amounts that are judged; `judge` gets the policy that counts. */
  function amountsJudged(largest: number, judge: (policy: CompiledPolicy) => void): number {
    const policy = editedPolicy(({ inputs, rules }) => ({
      inputs: [...inputs, { feature: 'request.amount', type: 'number', weight: 0 }],
      rules: [...rules, ruleOf({ id: 'large', when: `request.amount > ${largest}`, action: 'manual_review' })],
    }))
    let count = 0
    const counted = policy.rules.map((rule) => {
      const holds = (slots: Parameters<typeof rule.holds>[0]) => {
        count += 1
        return rule.holds(slots)
      }
      return rule.id === 'large' ? { ...rule, holds } : rule
    })
    judge({ ...policy, rules: counted })
    return count
  }

  const facts = factsFrom({ ...GOOD, 'request.amount': 30_000 })
  const offers = (largest: number) =>
    amountsJudged(largest, (policy) => assert.equal(decide(policy, facts).limit, Math.min(largest, 27_700)))

  it('ends at once where a term of the limit binds: the request, the smallest amount and the limit are judged', () => {
    assert.equal(offers(90_000), 3)
  })

  it('halves the amounts that are left with each one that it judges', () => {
    // 554 steps of 50 euros: ten halvings.
    for (const largest of [100, 9000, 18_000, 27_000, 27_650]) assert.ok(offers(largest) <= 13, `${offers(largest)}`)
  })

  it('of a better verdict halves them too', () => {
    const judged = amountsJudged(20_000, (policy) => {
      const { asked, ...others } = judge(policy, facts)
      assert.equal(betterAmount(policy, { asked, ...others, verdict: 'manual_review' })?.amount, 20_000)
    })
    assert.ok(judged <= 26, String(judged))
  })
})
