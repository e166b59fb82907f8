import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { editedDocument, snapshotInput, withTerms } from '../../../../tests/edited-policy.ts'
import type { PolicyDocument, PolicySegment } from '../policy-document.ts'
import { checkTests } from './check-tests.ts'

type PolicyTest = PolicyDocument['tests'][number]

const document = editedDocument(({ inputs }) => ({ inputs: [...inputs, snapshotInput('salary')] }))

/** What the checker says of the sandbox policy with one test of its own. */
function said(test: Partial<PolicyTest>, segments: PolicySegment[] = []): string[] {
  const tests = [{ name: 'it', expect: {}, ...test, facts: { 'request.amount': 1, ...test.facts } }]
  return checkTests({ ...document, tests, segments }).map(({ message }) => message)
}

describe('a test of a policy', () => {
  it('has facts that a decision reads, of their type', () => {
    assert.deepEqual(said({ facts: { 'history.late': 1, 'snapshot.salary': 1 } }), [])
    assert.deepEqual(said({ facts: { 'history.late': 'once', 'snapshot.salary': true } }), [
      'history.late is a number',
      'snapshot.salary is a number',
    ])
    assert.deepEqual(said({ facts: { 'history.lateness': 1, 'snapshot.wages': 1 } }), [
      "there is no feature 'history.lateness' in the catalogue",
      'snapshot.wages is not among the inputs of this policy; add it there',
    ])
  })

  it('has no facts that are computed when deciding', () => {
    assert.deepEqual(said({ facts: { 'request.instalment': 1, 'derived.it': 1 } }), [
      'request.instalment is computed when deciding; set request.amount instead',
      'derived.it is computed when deciding; set what it is computed from',
    ])
  })

  it('has no fact that is known and missing', () => {
    assert.deepEqual(said({ missing: { 'history.late': 'no_data' } }), [])
    assert.deepEqual(said({ missing: { 'history.lateness': 'no_data' } }), [
      "there is no feature 'history.lateness' in the catalogue",
    ])
    assert.deepEqual(said({ facts: { 'history.late': 1 }, missing: { 'history.late': 'no_data' } }), [
      "history.late is known and missing; remove it from 'facts' or 'missing'",
    ])
  })

  it('names a term that an applicant may choose', () => {
    const products = withTerms(document.products, { term_months: 24, term_choices: [12] })
    const asked = (term: number, over = products) =>
      checkTests({
        ...document,
        products: over,
        tests: [{ name: 'it', expect: {}, facts: { 'request.amount': 1, 'request.term_months': term } }],
      }).map(({ message }) => message)
    assert.deepEqual([asked(12), asked(24)], [[], []])
    assert.deepEqual(asked(36), ["'default' has the terms 24, 12; write one of them"])
    assert.deepEqual(asked(24, document.products), ["'default' has no term_choices; remove it"])
  })

  it('asks for an amount if its product is credit, and for none if it is access', () => {
    const credit = { name: 'it', facts: {}, expect: {} }
    const asked = (facts: PolicyTest['facts']) => checkTests({ ...document, tests: [{ ...credit, facts }] })
    const access = { 'request.product': 'platform_access' }
    assert.deepEqual([asked({ 'request.amount': 1 }), asked(access)], [[], []])
    for (const facts of [{}, { 'request.product': 'default' }, { 'request.product': 'yacht' }])
      assert.match(asked(facts)[0]!.message, /' is credit; add request\.amount and request\.currency/)
    assert.match(asked({ ...access, 'request.amount': 1 })[0]!.message, /' is access; remove request\.amount/)
  })

  it('expects a segment of the policy, or none', () => {
    const thin = { name: 'thin', when: 'history.late > 1' }
    assert.deepEqual([said({ expect: { segment: 'none' } }), said({ expect: { segment: 'thin' } }, [thin])], [[], []])
    assert.deepEqual(said({ expect: { segment: 'thick' } }, [thin]), [
      "there is no segment 'thick'; write one of none, thin",
    ])
  })
})
