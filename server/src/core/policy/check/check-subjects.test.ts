import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { editedDocument, ruleOf } from '../../../../tests/edited-policy.ts'
import type { PolicyDocument, PolicyInput } from '../policy-document.ts'
import { checkSubjects } from './check-subjects.ts'

type Subject = PolicyInput['describes']

const sent = (name: string, describes?: Subject): PolicyInput => ({
  feature: `snapshot.${name}`,
  type: 'number',
  weight: 0,
  ...(describes && { describes }),
})

/** What the checker says of the sandbox policy with these features of the lender: refusals and warnings. */
function said(inputs: PolicyInput[], edit: Partial<PolicyDocument> = {}): string[] {
  const document = editedDocument((sandbox) => ({ inputs: [...sandbox.inputs, ...inputs], ...edit }))
  return checkSubjects(document).map(
    ({ path, isWarning, message }) => `${isWarning ? 'warning' : 'refusal'} ${path[0]}: ${message}`,
  )
}

describe('what a feature describes', () => {
  it('is declared without a word, and a warning if it is not', () => {
    assert.deepEqual(said([sent('salary', 'income')]), [])
    assert.deepEqual(said([sent('salary')]), [
      "warning inputs: say what snapshot.salary describes, by 'describes', so that prohibited bases can be told from it",
    ])
  })

  it('has to be declared where the name speaks of a person', () => {
    for (const [name, basis] of [
      ['gender', 'sex'],
      ['application.date_of_birth', 'age'],
      ['marital_status', 'marital_status'],
    ] as const) {
      const [first, ...others] = said([sent(name)])
      assert.deepEqual(others, [])
      assert.ok(first!.startsWith(`refusal inputs: by its name snapshot.${name} describes ${basis};`), first)
    }
    assert.deepEqual(said([sent('age_of_account', 'credit_file')]), [])
    assert.deepEqual(said([sent('package_size', 'business')]), [])
  })

  it('may be no prohibited basis, wherever the policy decides', () => {
    for (const jurisdiction of ['us', 'eu', 'uk', undefined] as const)
      for (const basis of ['sex', 'race', 'religion'] as const)
        assert.match(
          said([sent('x', basis)], jurisdiction && { jurisdiction }).join(),
          new RegExp(`^refusal inputs: snapshot\\.x describes ${basis}, a prohibited basis`),
          `${jurisdiction} ${basis}`,
        )
  })

  it('may be no basis that the jurisdiction lists, and without one none that any of them lists', () => {
    const refused = (basis: Subject, jurisdiction?: PolicyDocument['jurisdiction']) =>
      said([sent('x', basis)], jurisdiction && { jurisdiction }).length === 1
    const listed = (basis: Subject) =>
      (['us', 'eu', 'uk', undefined] as const).map((jurisdiction) => refused(basis, jurisdiction))
    assert.deepEqual(listed('public_assistance'), [true, false, false, true])
    assert.deepEqual(listed('trade_union'), [false, true, false, true])
    assert.deepEqual(listed('pregnancy'), [false, false, true, true])
    assert.deepEqual(listed('age'), [false, false, false, false])
  })

  it('is that of the catalogue for a feature that is in it', () => {
    const input: PolicyInput = { feature: 'offers.open_count', type: 'number', weight: 0, describes: 'debt' }
    assert.match(said([input]).join(), /^refusal inputs: the catalogue says what offers\.open_count describes/)
  })
})

describe('age', () => {
  const age = sent('years', 'age')
  const ruled = (when: string) => said([age], { rules: [ruleOf({ id: 'it', when, action: 'decline' })] }).length

  it('is asked for in a condition only to tell whether a person is of age', () => {
    for (const allowed of ['snapshot.years < 18', 'snapshot.years <= 25 || history.late > 1', '!has(snapshot.years)'])
      assert.equal(ruled(allowed), 0, allowed)
    for (const refused of [
      'snapshot.years > 70',
      'snapshot.years < 26',
      '!(snapshot.years < 62)',
      '18 < snapshot.years',
      'snapshot.years * 2 < 18',
      'has(snapshot.years) && snapshot.years >= 18',
    ])
      assert.equal(ruled(refused), 1, refused)
    const derived = [{ feature: 'derived.old', type: 'boolean', value: 'snapshot.years > 70' }] as const
    assert.match(said([age], { derived: [...derived] }).join(), /^refusal derived/)
  })

  it('gives the old at least the points that any other age gets', () => {
    const scored = (...bins: [below: number | undefined, points: number][]) =>
      said([age], {
        scorecard: {
          ...editedDocument({}).scorecard,
          characteristics: [
            {
              ...editedDocument({}).scorecard.characteristics[0]!,
              id: 'years',
              feature: 'snapshot.years',
              bins: bins.map(([below, points]) => ({ points, ...(below !== undefined && { below }) })),
            },
          ],
        },
      }).length
    assert.equal(scored([25, 10], [undefined, 20]), 0)
    assert.equal(scored([25, 10], [62, 30], [undefined, 20]), 1)
    assert.equal(scored([25, 10], [62, 20], [undefined, 20]), 0)
    assert.equal(scored([25, 10], [63, 19], [undefined, 20]), 1, 'a bin below 63 holds those of 62')
    assert.equal(scored([62, 10], [75, 20], [undefined, 10]), 1)
  })
})

describe('a monitored attribute', () => {
  const monitored: PolicyDocument['monitored'] = [{ feature: 'snapshot.sex', describes: 'sex' }]

  it('is out of reach of the policy, and listed once', () => {
    assert.deepEqual(said([], { monitored }), [])
    assert.ok(
      said([sent('sex', 'sex')], { monitored }).some((line) => /^refusal monitored: .* no policy may read/.test(line)),
    )
    assert.deepEqual(said([], { monitored: [...monitored!, ...monitored!] }), [
      "refusal monitored: 'snapshot.sex' is there twice; remove one",
    ])
  })
})
