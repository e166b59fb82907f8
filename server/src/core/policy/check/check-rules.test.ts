import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { editedDocument, ruleOf, type TestRule } from '../../../../tests/edited-policy.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { checkCaps, checkRules } from './check-rules.ts'

const document = editedDocument({})
const CONDITION = { code: 'proof', label: 'Proof of income' }

/** What the checker says of the sandbox policy with this rule alone, and with other parts. */
function said(rule: Partial<TestRule>, parts: Partial<PolicyDocument> = {}): string[] {
  const rules = [ruleOf({ id: 'it', when: 'history.late > 1', action: 'decline', ...rule })]
  const edited = { ...document, rules, ...parts }
  return [...checkRules(edited), ...checkCaps(edited)].map(({ message }) => message)
}

describe('a rule', () => {
  it('has a condition if it sets one, and only then', () => {
    assert.deepEqual(said({ action: 'condition', condition: CONDITION }), [])
    assert.deepEqual(said({ action: 'condition' }), ["rule 'it' sets a condition; say which, as 'condition'"])
    assert.deepEqual(said({ condition: CONDITION }), ["rule 'it' does not set a condition; remove 'condition'"])
  })

  it('questions the data only if it asks for a review', () => {
    assert.deepEqual(said({ action: 'manual_review', questions_data: true }), [])
    assert.deepEqual(said({ questions_data: false }), [])
    assert.deepEqual(said({ questions_data: true }), ["rule 'it' does not ask for a review; remove 'questions_data'"])
  })

  it('covers a group of the scorecard, unless it ranks with the scorecard or the limit itself', () => {
    assert.deepEqual(said({ covers: 'overdrafts' }), [])
    const ranks = (what: string) => [`rule 'it' ranks with the ${what}, and covers nothing; remove 'covers'`]
    assert.deepEqual(said({ action: 'points', points: -5, covers: 'overdrafts' }), ranks('scorecard'))
    assert.deepEqual(said({ action: 'cap', cap: '100', covers: 'overdrafts' }), ranks('limit terms'))
  })

  it('that counts against the applicant has a negative reason', () => {
    const reason = { code: 'it', label: 'It', impact: 'positive' } as const
    for (const against of [{ action: 'decline' }, { action: 'manual_review' }, { action: 'cap', cap: '100' }] as const)
      assert.deepEqual(said({ ...against, reason }), [
        `rule 'it' counts against the applicant (${against.action}), so the impact of its reason is negative`,
      ])
    assert.deepEqual(said({ action: 'condition', condition: CONDITION, reason }), [])
  })

  it('has points if it adds some, and only then', () => {
    assert.deepEqual([said({ action: 'points', points: 1 }), said({ action: 'points', points: -1 })], [[], []])
    assert.deepEqual(said({ points: -1 }), ["rule 'it' adds no points; remove 'points', or write then: points"])
    for (const none of [{}, { points: 0 }])
      assert.deepEqual(said({ action: 'points', ...none }), ["rule 'it' adds points; say how many, as 'points'"])
  })

  it('has a cap if it caps the limit, and only then', () => {
    assert.deepEqual(said({ action: 'cap', cap: '100' }), [])
    assert.deepEqual(said({ action: 'cap' }), ["rule 'it' caps the limit; say at which amount, as 'cap'"])
    assert.deepEqual(said({ cap: '100' }), ["rule 'it' does not cap the limit; remove 'cap', or write then: cap"])
  })

  it('that caps the limit is named like no term, of the document or of a segment', () => {
    const [term] = document.limit.terms
    const limit = { terms: [{ ...term!, term: 'of_segment' }] }
    const segments = [{ name: 'other', when: 'history.late > 1', limit }]
    for (const id of [term!.term, 'of_segment'])
      assert.deepEqual(said({ id, action: 'cap', cap: '100' }, { segments }), [
        `a limit term is named '${id}' too; give the rule another id`,
      ])
    assert.deepEqual(said({ action: 'cap', cap: '100' }, { segments }), [])
  })
})
