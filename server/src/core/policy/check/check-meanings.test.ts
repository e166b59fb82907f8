import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type PolicyEdit, problemsOf, ruleOf, snapshotInput } from '../../../../tests/edited-policy.ts'

const NUMBER = { ...snapshotInput('it'), missing: 'transactions_missing' }
const COLOUR = snapshotInput('colour', 'string')

/** The sandbox policy with a rule on `snapshot.it`, and what it meanings. */
function withRule(when: string, means: string): PolicyEdit {
  return ({ inputs, rules }) => ({
    inputs: [...inputs, NUMBER, COLOUR],
    rules: [...rules, ruleOf({ id: 'it', when, action: 'decline' })],
    meanings: [{ code: 'it', means }],
  })
}

/** The sandbox policy with a characteristic on `snapshot.it`, of which less than two loses points and more gains some. */
function withBins(meanings: { code: string; means: string }[]): PolicyEdit {
  return ({ inputs, scorecard }) => ({
    inputs: [...inputs, NUMBER],
    scorecard: {
      ...scorecard,
      characteristics: [
        ...scorecard.characteristics,
        {
          id: 'it',
          feature: 'snapshot.it',
          group: 'it',
          reference: 1,
          spread: 0,
          bins: [{ below: 2, points: 0 }, { below: 3, points: 1 }, { points: 2 }],
          missing: 1,
          shortfall: { code: 'it_low', label: 'It is low' },
          strength: { code: 'it_high', label: 'It is high' },
        },
      ],
    },
    meanings,
  })
}

describe('the meaning of a rule', () => {
  const accepted: [when: string, means: string][] = [
    ['snapshot.it > 2', 'snapshot.it > 2'],
    ['snapshot.it > 2', 'snapshot.it > 1'],
    ['snapshot.it > 2 && snapshot.colour == "red"', 'snapshot.colour in ["red", "blue"]'],
    ['!has(snapshot.it)', '!has(snapshot.it)'],
    // What follows from other values cannot be decided here.
    ['snapshot.it > 2', 'cashflow.reserve < 0'],
  ]
  for (const [when, means] of accepted)
    it(`'${means}' is true where '${when}' holds`, () => assert.deepEqual(problemsOf(withRule(when, means)), []))

  const refused: [when: string, means: string, at: string][] = [
    ['snapshot.it > 1', 'snapshot.it > 2', 'snapshot.it = 2'],
    ['snapshot.it >= 2', 'snapshot.it > 2', 'snapshot.it = 2'],
    ['snapshot.it > -2', 'snapshot.it > 0', 'snapshot.it = 0'],
    ['snapshot.it > 1', 'snapshot.it > 1 && snapshot.it < 5', 'snapshot.it = 5'],
    ['!has(snapshot.it) || snapshot.it > 1', 'snapshot.it > 1', 'snapshot.it missing'],
    ['snapshot.it > 1 && snapshot.it < 3', 'snapshot.it <= 1 || snapshot.it >= 3', 'snapshot.it = 2'],
    ['snapshot.colour in ["red", "blue"]', 'snapshot.colour == "red"', 'snapshot.colour = blue'],
    ['snapshot.colour != "red"', 'snapshot.colour == "blue"', 'snapshot.colour = other'],
  ]
  for (const [when, means, at] of refused)
    it(`'${means}' is false where '${when}' holds and ${at}`, () => {
      const message = `rule 'it' gives 'it' at ${at}, where its meaning ${means} does not hold; change the condition, or the meaning and the label`
      const [problem] = problemsOf(withRule(when, means))
      assert.match(problem ?? '', /^\/rules\/\d+\/reason: /)
      assert.ok(problem?.endsWith(message), problem)
    })

  it('is that of the reason which is given in its place', () => {
    const edit = (when: string): PolicyEdit => {
      return (document) => {
        const { inputs, rules } = (withRule('snapshot.it > 1', '') as (given: typeof document) => typeof document)(
          document,
        )
        const instead = [{ when, code: 'other', label: 'It is two or less' }]
        const other = { code: 'other', means: 'snapshot.it <= 2' }
        return { inputs, rules, meanings: [{ code: 'it', means: 'snapshot.it > 2', instead }, other] }
      }
    }
    assert.deepEqual(problemsOf(edit('snapshot.it <= 2')), [])
    assert.match(problemsOf(edit('snapshot.it <= 3')).join(), /gives 'it' at snapshot\.it = (3|2\.5)/)
  })
})

describe('the meaning of a shortfall', () => {
  it('is true of every value that loses points', () => {
    assert.deepEqual(problemsOf(withBins([{ code: 'it_low', means: 'snapshot.it < 2' }])), [])
    const [problem] = problemsOf(withBins([{ code: 'it_low', means: 'snapshot.it < 1' }]))
    assert.match(
      problem ?? '',
      /^\/scorecard\/characteristics\/\d+\/shortfall: 'it_low' is given at snapshot\.it = 1, where/,
    )
  })

  it('of another feature than the characteristic has is not decided', () => {
    assert.deepEqual(problemsOf(withBins([{ code: 'it_low', means: 'cashflow.reserve < 0' }])), [])
  })
})

describe('meanings', () => {
  it('have to compile, to be conditions, and to belong to a reason, once', () => {
    const problemWith = (means: string, code = 'paid_late') => problemsOf({ meanings: [{ code, means }] })[0]
    assert.match(
      problemWith('history.latest > 1') ?? '',
      /^\/meanings\/0\/means: meaning of 'paid_late', column 1: history\.latest is not/,
    )
    assert.match(
      problemWith('history.late') ?? '',
      /meaning of 'paid_late', column 1: must be true or false, but is a number/,
    )
    assert.match(problemWith('limit.amount > 1') ?? '', /limit\.amount/)
    assert.match(
      problemWith('history.late > 0', 'nowhere') ?? '',
      /warning: no reason of this policy has the code 'nowhere'/,
    )
    const twice = [{ code: 'paid_late', means: 'history.late > 0' }]
    assert.match(problemsOf({ meanings: [...twice, ...twice] })[0] ?? '', /'paid_late' is there twice; rename one/)
    assert.deepEqual(
      problemsOf({
        meanings: [{ code: 'paid_late', means: 'request.amount > 1 && tier.cap > 2 || history.late > 0' }],
      }),
      [],
    )
  })

  it('of opposite impact about one feature have to share a group', () => {
    const opposite = (groups: string[]) => [
      { code: 'it_low', means: 'snapshot.it < 2' },
      { code: 'repaid_before', means: 'snapshot.it > 2', groups },
    ]
    const [warning] = problemsOf(withBins(opposite(['own_history'])))
    assert.match(
      warning ?? '',
      /warning: 'it_low' and 'repaid_before' both speak about snapshot\.it, and one decision may give both; let their meanings name a group that they share$/,
    )
    assert.deepEqual(problemsOf(withBins(opposite(['it']))), [])
  })

  it('about what is measured from the request speak about the feature behind it', () => {
    const meanings = [
      { code: 'risk_exceeds_amount', means: 'cashflow.lowest_balance < request.amount' },
      { code: 'solid_reserves', means: 'request.lowest_balance_to_instalment >= 1' },
    ]
    assert.match(problemsOf({ meanings })[0] ?? '', /both speak about cashflow\.lowest_balance/)
    const [first, second] = meanings
    assert.deepEqual(problemsOf({ meanings: [{ ...first!, groups: ['reserves'] }, second!] }), [])
  })
})
