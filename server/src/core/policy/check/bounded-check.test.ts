import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { editedDocument, editedPolicy, type PolicyEdit, problemsOf, ruleOf } from '../../../../tests/edited-policy.ts'
import { findFeature } from '../../facts/feature-catalogue.ts'
import { compileBins } from '../compile/compile-bins.ts'
import { reasonAt } from '../compile/compiled-policy.ts'
import type { PolicyCharacteristic } from '../policy-document.ts'
import { checkScorecard } from './check-scorecard.ts'
import { inSegment } from './segment-problem.ts'

const { inputs, scorecard } = editedDocument({})
const REQUEST_AMOUNT = { feature: 'request.amount', type: 'number', weight: 0 } as const
const TEXT = 'consent.identity_data'

function derived(name: string, value: string, type: 'number' | 'string' | 'boolean' = 'number') {
  return { feature: `derived.${name}`, type, value } as const
}

describe('a policy whose decisions would cost too much is refused', () => {
  const refused: Record<string, [edit: PolicyEdit, message: RegExp]> = {
    'joined texts': [
      { derived: [derived('a', `${TEXT} + ${TEXT}`, 'string')] },
      /^\/derived\/0\/value: derived\.a, column 1: texts cannot be joined by '\+'/,
    ],
    'joined texts within a condition': [
      {
        rules: [ruleOf({ id: 'it', when: `size((history.late > 1 ? "a" : "b") + "c") > 1`, action: 'manual_review' })],
      },
      /rule 'it', column \d+: texts cannot be joined by '\+'/,
    ],
    'a pattern in a rule that depends on the amount': [
      {
        inputs: [...inputs, REQUEST_AMOUNT],
        rules: [ruleOf({ id: 'it', when: `request.amount > 5 && ${TEXT}.matches("a")`, action: 'manual_review' })],
      },
      /rule 'it': a rule that depends on the amount runs for each amount; put matches into a derived feature/,
    ],
    'a pattern in a derived feature that depends on the amount': [
      {
        inputs: [...inputs, REQUEST_AMOUNT],
        derived: [derived('a', `request.amount > 5 && matches(${TEXT}, "a")`, 'boolean')],
      },
      /derived\.a, column 1: a feature that depends on the amount is computed for each amount/,
    ],
    'a pattern in a limit term': [
      ({ limit }) => ({
        limit: { ...limit, terms: [{ ...limit.terms[4]!, amount: `${TEXT}.matches("a") ? 1.0 : 2.0` }] },
      }),
      /a bound is computed for each amount; put matches into a derived feature/,
    ],
    'patterns of too many steps together': [
      { derived: ['a', 'b', 'c'].map((name) => derived(name, `${TEXT}.matches("(.?){90}${name}")`, 'boolean')) },
      /^\/derived\/2\/value: the patterns of a policy have at most 500 steps together, and up to here \d+/,
    ],
    'expressions of too many parts together': [
      ({ rules }) => ({
        rules: [
          ...rules,
          ...Array.from({ length: 100 }, (_, index) =>
            ruleOf({ id: `it_${index}`, when: `history.late${' + 1'.repeat(90)} < 0`, action: 'manual_review' }),
          ),
        ],
      }),
      /^\/rules\/\d+\/when: the expressions of a policy have at most 12000 parts together/,
    ],
    'patterns after a comment': [
      { after_score: [ruleOf({ id: 'it', when: `matches // a\n (${TEXT}, "a")`, action: 'manual_review' })] },
      /rules after the score run for each amount; put matches into a derived feature/,
    ],
  }
  for (const [why, [edit, message]] of Object.entries(refused))
    it(`for ${why}`, () => assert.match(problemsOf(edit).join('\n'), message))

  it('but one of 500 steps together may be proposed', () => {
    const withSteps = (last: number) =>
      problemsOf({
        derived: [249, last].map((count, index) => derived(`a${index}`, `${TEXT}.matches("a{${count}}")`, 'boolean')),
      })
    assert.deepEqual(withSteps(249), [], 'each has one step for the end')
    assert.match(withSteps(250).join(), /at most 500 steps together, and up to here 501/)
  })

  it('but numbers may be added', () => {
    const edit: PolicyEdit = { derived: [derived('a', `size(${TEXT}) + history.late + (history.late > 1 ? 1 : 2)`)] }
    assert.deepEqual(problemsOf(edit), [])
  })
})

describe('checking a policy takes time that grows with its length', () => {
  // Following every path through these features would take 2^60 steps, so that the test would not end.
  const features = ['a0', 'a1'].map((name) => derived(name, 'cashflow.monthly_income * 2'))
  for (let index = 2; index < 90; index++)
    features.push(derived(`a${index}`, `derived.a${index - 1} + derived.a${index - 2}`))

  it('whatever derived features read each other', () => {
    const rule = ruleOf({ id: 'it', when: 'derived.a89 > 1', action: 'decline' })
    assert.deepEqual(
      problemsOf(({ rules }) => ({ derived: features, rules: [...rules, rule] })),
      [],
    )
  })

  it('and finds the half-life of what a scored feature is computed from', () => {
    const policy = editedPolicy(() => {
      const characteristics = scorecard.characteristics.map((one, index) =>
        index === 0 ? { ...one, feature: 'derived.a89', bins: [{ points: 62 }] } : one,
      )
      const reason = { code: 'it_is_unknown', label: 'It is unknown' }
      return {
        missing_reasons: [...editedDocument({}).missing_reasons, reason],
        derived: features.map((one) => ({ ...one, missing: reason.code })),
        scorecard: { ...scorecard, characteristics },
      }
    })
    const ofIncome = findFeature('cashflow.monthly_income')?.half_life_days
    assert.equal(typeof ofIncome, 'number')
    assert.equal(policy.characteristics[0]?.halfLifeDays, ofIncome)
  })

  it('whatever the number of texts in bins', () => {
    const bins = Array.from({ length: 199 }, (_, bin) => ({
      in: Array.from({ length: 300 }, (_, index) => `text ${bin} ${index}`),
      points: 1,
    }))
    const characteristic = { ...scorecard.characteristics[0]!, feature: TEXT, bins: [...bins, { points: 2 }] }
    const document = editedDocument({ scorecard: { ...scorecard, characteristics: Array(4).fill(characteristic) } })
    const start = performance.now()
    assert.deepEqual(checkScorecard(document), [])
    // 0.1 s; comparing each text with each other took over 10 s.
    assert.ok(performance.now() - start < 5000)
  })

  it('and checks a segment only for the parts that it has', () => {
    const segment = { when: 'history.late > 1', verdicts: { cutoff: 600 } }
    const document = editedDocument({
      segments: [
        { ...segment, name: 'cutoff' },
        { ...segment, name: 'card', scorecard },
      ],
    })
    const checked: string[] = []
    const check = () => {
      checked.push('segment')
      return []
    }
    inSegment(document, { check, reads: ['scorecard'] })
    assert.deepEqual(checked, ['segment'])
  })
})

it('the label of a bin has at most 200 characters, however many texts it holds', () => {
  const reason = reasonAt('scorecard/any', { code: 'any', label: 'Any' }, 'negative')
  const firstLabel = (bins: PolicyCharacteristic['bins']) =>
    compileBins({ bins, reference: 0 }, { lack: reason, strength: reason })[0]!.label
  const label = (texts: string[]) => firstLabel([{ in: texts, points: 1 }, { points: 2 }])
  assert.equal(label(['a', 'b']), 'is one of a, b')
  const long = label(Array.from({ length: 300 }, (_, index) => `text ${index}`))
  assert.equal(long.length, 200)
  assert.match(long, /^is one of text 0, text 1, .*…$/)
  const equal = (length: number) => firstLabel([{ equals: 'x'.repeat(length), points: 1 }])
  assert.deepEqual([equal(197), equal(198).length, equal(999).length], [`is ${'x'.repeat(197)}`, 200, 200])
})
