import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../tests/arbitrary-facts.ts'
import { ask } from '../../../tests/ask-policy.ts'
import {
  doing,
  editedPolicy,
  problemsOf,
  ruleOf,
  snapshotInput,
  type TestRule,
  withTerms,
} from '../../../tests/edited-policy.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { ruleIdsOf } from '../policy/compile/compiled-policy.ts'
import type { PolicyTable } from '../policy/policy-document.ts'
import { explainDecision } from './explain-decision.ts'

describe('segments', () => {
  const policy = editedPolicy(({ inputs, scorecard, limit, products }) => ({
    inputs: [...inputs, { feature: 'entity.type', type: 'string', weight: 0 }, snapshotInput('premium', 'boolean')],
    segments: [
      {
        name: 'premium',
        when: 'snapshot.premium',
        verdicts: { cutoff: 500 },
        tiers: [{ tier: 'Gold', cap: 1_000_000, balance_multiple: 9 }],
      },
      {
        name: 'business',
        when: 'entity.type == "business"',
        scorecard: { ...scorecard, base: scorecard.base + 7 },
        products: withTerms(products, { annual_rate: 0.2 }),
        limit: { terms: [{ ...limit.terms[0]!, term: 'flat', instalment: '100' }] },
      },
    ],
  }))

  it('replace the parts that they name, and the document has the others', () => {
    const own = ask(policy)
    const business = ask(policy, { 'entity.type': 'business' })
    assert.deepEqual([own.trace.segment, business.trace.segment], [null, 'business'])
    assert.equal(business.trace.score.total, own.trace.score.total + 7)
    assert.equal(business.terms.annual_rate, 0.2)
    assert.deepEqual(
      business.trace.limit?.terms.map(({ term }) => term),
      ['flat', 'requested'],
    )
    assert.equal(business.trace.score.cutoff, 550)
  })

  it('ask rules and tables of their own after those of the document, which are asked too', () => {
    const table: PolicyTable = {
      table: 'by_late',
      label: 'Late payments',
      columns: [{ column: 'late', value: 'history.late' }],
      rows: [
        doing({ row: 'none', when: { late: { below: 1, missing: true } } }, 'none'),
        doing(
          {
            row: 'some',
            when: { late: { from: 1 } },
            reason: ruleOf({ id: 'late', when: '', action: 'decline' }).reason,
          },
          'manual_review',
        ),
      ],
    }
    const segmented = editedPolicy(({ rules, inputs }) => ({
      inputs: [...inputs, { feature: 'entity.type', type: 'string', weight: 0 }],
      rules: rules.slice(0, 2),
      segments: [
        {
          name: 'business',
          when: 'entity.type == "business"',
          rules: [ruleOf({ id: 'own', when: 'history.late > 2', action: 'decline' })],
          tables: [table],
        },
      ],
    }))
    const business = { 'entity.type': 'business', 'history.late': 3 }
    const { trace, verdict } = ask(segmented, business)
    assert.deepEqual(
      trace.rule_trace.map(({ rule, row, holds }) => [rule, row, holds]),
      [
        ['abuse_on_record', undefined, false],
        ['default_on_record', undefined, false],
        ['own', undefined, true],
        ['by_late', 'some', true],
      ],
    )
    assert.equal(verdict, 'decline')
    assert.equal(
      ask(segmented, { ...business, 'history.defaults': 1, 'history.late': 0 }).trace.settled_by,
      'knock_out',
    )
    assert.ok(!ask(segmented, { 'history.late': 3 }).trace.rule_trace.some(({ rule }) => rule === 'own'))
    assert.deepEqual(ruleIdsOf(segmented), [
      'abuse_on_record',
      'default_on_record',
      'own',
      'by_late/none',
      'by_late/some',
    ])
    const { rules } = explainDecision(segmented, factsFrom({ ...GOOD, ...business }))
    assert.deepEqual(
      rules.slice(2).map(({ when }) => when),
      ['history.late > 2', 'history.late >= 1'],
    )
  })

  it('cannot name a rule as another is named, and their rules are checked', () => {
    const own = (rule: Partial<TestRule>) => ({
      segments: [
        {
          name: 's',
          when: 'history.late > 0',
          rules: [ruleOf({ id: 'it', when: 'history.late > 1', action: 'decline', ...rule })],
        },
      ],
    })
    assert.deepEqual(problemsOf(own({})), [])
    const reason = { code: 'it', label: 'Test rule it', impact: 'negative' } as const
    assert.deepEqual(problemsOf(own({ id: 'abuse_on_record', reason })), [
      "/segments/0/rules/0: 'abuse_on_record' is there twice; rename one",
    ])
    assert.match(
      problemsOf(own({ when: 'history.lat > 1' })).join(),
      /\/segments\/0\/rules\/0\/when: rule 'it', column 1: history\.lat is not among/,
    )
    assert.match(
      problemsOf(own({ questions_data: true })).join(),
      /\/segments\/0\/rules\/0\/questions_data: rule 'it' does not ask for a review/,
    )
  })

  it('count in their order, the first whose condition holds; an undecided one does not hold', () => {
    assert.equal(ask(policy, { 'snapshot.premium': true, 'entity.type': 'business' }).terms.segment, 'premium')
    assert.equal(ask(policy, { 'entity.type': 'business' }).terms.segment, 'business')
    const premium = ask(policy, { 'snapshot.premium': true })
    assert.deepEqual([premium.tier, premium.trace.score.cutoff], ['Gold', 500])
  })
})
