import assert from 'node:assert/strict'
import { it } from 'node:test'
import { documentedPart } from '../../../tests/documented-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { diffPolicies } from './diff-policies.ts'
import type { PolicyDocument } from './policy-document.ts'

const { document } = sandboxPolicy()

it('a policy does not differ from itself', () => {
  assert.deepEqual(diffPolicies(document, structuredClone(document)), [])
})

it('a change is found under the name of the rule, not its position', () => {
  const rules = document.rules.filter(({ id }) => id !== 'abuse_on_record')
  const edited = rules.map((rule) =>
    rule.id === 'short_history' ? { ...rule, when: 'cashflow.days_observed < 4' } : rule,
  )
  assert.deepEqual(
    diffPolicies(document, { ...document, rules: edited }).map(({ kind, path }) => [kind, path]),
    [
      ['removed', '/rules/abuse_on_record'],
      ['changed', '/rules/short_history/when'],
    ],
  )
})

it('a reordered rule is a change, because it changes which reason comes first', () => {
  const [first, second, ...rest] = document.rules
  assert.ok(first && second)
  const moved = { ...document, rules: [second, first, ...rest] }
  assert.deepEqual(
    diffPolicies(document, moved).map(({ kind, path }) => [kind, path]),
    [['reordered', '/rules']],
  )
})

it('changes of segments, computed features, prices and limit terms are found under their names', () => {
  const [product] = document.products
  assert.ok(product)
  const before: PolicyDocument = {
    ...document,
    derived: [
      { feature: 'derived.a', type: 'number', value: 'history.late' },
      { feature: 'derived.b', type: 'number', value: 'history.late' },
    ],
    segments: [
      { name: 'staff', when: 'history.late > 0', tiers: structuredClone(document.tiers), verdicts: { cutoff: 500 } },
    ],
    products: [{ ...product, rates: [{ tier: 'A', annual_rate: 0.1 }] }],
    after_score: [{ ...document.rules[0]!, id: 'late', when: 'score.total < 500' }],
  }
  const after = structuredClone(before)
  after.derived!.reverse()
  after.segments![0]!.tiers![0]!.cap = 1
  after.segments![0]!.verdicts!.cutoff = 510
  after.products[0]!.rates![0]!.annual_rate = 0.2
  after.after_score![0]!.when = 'score.total < 510'
  after.limit.terms[0]!.instalment = '1'
  assert.deepEqual(
    diffPolicies(before, after).map(({ kind, path }) => `${kind} ${path}`),
    [
      'changed /segments/staff/verdicts/cutoff',
      'changed /segments/staff/tiers/A+/cap',
      'changed /after_score/late/when',
      'changed /products/default/rates/A/annual_rate',
      'changed /limit_terms/income/instalment',
      'reordered /derived',
    ],
  )
})

it('a reordered list of a segment is a change, also where names are numbers', () => {
  const before: PolicyDocument = {
    ...document,
    tiers: ['2', '1', '3'].map((tier, index) => ({ ...document.tiers[index]!, tier })),
    segments: [{ name: 'staff', when: 'history.late > 0', limit: { terms: structuredClone(document.limit.terms) } }],
  }
  const after = structuredClone(before)
  after.tiers = [after.tiers[1]!, after.tiers[0]!, after.tiers[2]!]
  after.segments![0]!.limit!.terms.reverse()
  assert.deepEqual(
    diffPolicies(before, after).map(({ kind, path }) => `${kind} ${path}`),
    ['reordered /tiers', 'reordered /segments/staff/limit_terms'],
  )
})

it('changed points are found under characteristic and bin', () => {
  const edited = structuredClone(document)
  const [lowest] = edited.scorecard.characteristics
  assert.ok(lowest?.bins[0])
  lowest.bins[0].points = 5
  assert.deepEqual(diffPolicies(document, edited), [
    { kind: 'changed', path: '/characteristics/lowest_balance/bins/0/points', before: 0, after: 5 },
  ])
})

it('changes of a table are found under the names of its rows, and their order counts only where the first one does', () => {
  const [table] = documentedPart('tables')
  const before: PolicyDocument = { ...document, tables: [table!] }
  const after = structuredClone(before)
  after.tables![0]!.rows[1]!.when.debt!.below = 0.31
  after.tables![0]!.rows.reverse()
  const changes = () => diffPolicies(before, after).map(({ kind, path }) => `${kind} ${path}`)
  assert.deepEqual(changes(), ['changed /tables/score_by_debt/rows/light/when/debt/below'])
  before.tables![0]!.hit = 'first'
  after.tables![0]!.hit = 'first'
  assert.deepEqual(changes(), [
    'changed /tables/score_by_debt/rows/light/when/debt/below',
    'reordered /tables/score_by_debt/rows',
  ])
})
