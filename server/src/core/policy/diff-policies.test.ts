import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { diffPolicies } from './diff-policies.ts'

const { document } = sandboxPolicy()

it('a policy does not differ from itself', () => {
  assert.deepEqual(diffPolicies(document, structuredClone(document)), [])
})

it('a change is found under the name of the rule, not its position', () => {
  const rules = document.rules.filter(({ id }) => id !== 'abuse_on_record')
  const edited = rules.map((rule) =>
    rule.id === 'short_history' ? { ...rule, when: 'cashflow.months_observed < 4' } : rule,
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

it('changed points are found under characteristic and bin', () => {
  const edited = structuredClone(document)
  const [reserve] = edited.scorecard.characteristics
  assert.ok(reserve?.bins[0])
  reserve.bins[0].points = 5
  assert.deepEqual(diffPolicies(document, edited), [
    { kind: 'changed', path: '/characteristics/reserve/bins/0/points', before: 0, after: 5 },
  ])
})
