import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sandboxPolicy } from '../../tests/sandbox-policy.ts'
import type { PolicyDocument } from '../core/policy/policy-document.ts'
import { describePolicyChanges } from './describe-policy-changes.ts'

const before = sandboxPolicy().document

test('a cutoff and two bins are summed up in one line, and the name of the policy is no change', () => {
  const after = structuredClone(before) as PolicyDocument
  Object.assign(after, { version: 'lending-2' })
  after.verdicts.cutoff = 570
  const [first, second] = after.scorecard.characteristics
  first!.bins[0]!.points += 1
  second!.bins[1]!.points += 1
  const { summary, changes } = describePolicyChanges(before, after)
  assert.equal(summary, `cutoff ${before.verdicts.cutoff} → 570; 2 bins changed`)
  assert.deepEqual(
    changes.map(({ section, what }) => [section, what]).sort(),
    [
      ['cutoffs', 'cutoff'],
      ['scorecard', `${first!.id}, bin 1 points`],
      ['scorecard', `${second!.id}, bin 2 points`],
    ].sort(),
  )
})

test('changes of rules, prices and tests are counted by part, and equal policies decide alike', () => {
  const after = structuredClone(before) as PolicyDocument
  after.rules[0]!.when = 'history.abuse > 7'
  after.products[0]!.annual_rate! += 0.01
  after.tests.pop()
  const { summary } = describePolicyChanges(before, after)
  assert.equal(summary, '1 part of a rule changed; 1 term of a product changed; 1 test changed')
  assert.equal(describePolicyChanges(before, { ...before, version: 'other' }).summary, 'decides alike')
})
