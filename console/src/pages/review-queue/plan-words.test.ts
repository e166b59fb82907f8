import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { setNotation } from '../../components/money/number-notation.ts'
import {
  answerTo,
  type CaseAnswer,
  NO_ANSWER,
  planOf,
  type RequestAnswer,
  withAnswer,
  withTotal,
} from './case-answer.ts'
import { actOf, doneOf, totalWords, unusualWords } from './plan-words.ts'
import type { ShownCase, WaitingRequest } from './review-case.ts'
import { namesOf, secondSigners } from './signatures.ts'

after(() => setNotation('comma_point'))

const request = (id: string, amount: number | null): WaitingRequest => ({
  id,
  product: 'personal_loan',
  could_lend: null,
  taken_since: 0,
  decided_at: '2026-11-15T09:30:00.000Z',
  requested: amount === null ? null : { amount, currency: 'EUR' },
  ask_below: amount === null ? null : amount / 5,
  ask_above: amount,
  refuse_above: amount === null ? null : amount * 10,
})
const [large, small, access] = [request('dec_1', 12_000), request('dec_2', 300), request('dec_3', null)]

const BOUNDS = { reason_characters_min: 20, conditions_max: 2, condition_characters_max: 30 }
const LIMITS = [
  { holder: { type: 'role', id: 'reviewer' }, product: null, currency: 'EUR', alone: 11_999, second: null },
]
const REVIEWERS = [
  { type: 'operator', id: 'opr_1', name: 'Maren Kluge', roles: ['reviewer'] },
  { type: 'operator', id: 'opr_2', name: 'Priya Sample', roles: ['owner'] },
]
const caseOf = (...requests: WaitingRequest[]) =>
  ({
    id: 'cas_1',
    requests,
    totals: [],
    bounds: BOUNDS,
    approval_limits: LIMITS,
    reviewers: REVIEWERS,
  }) as unknown as ShownCase

const said = (...answers: [WaitingRequest, Partial<RequestAnswer>][]): CaseAnswer =>
  answers.reduce<CaseAnswer>((all, [about, changes]) => withAnswer(all, about, changes), {
    ...NO_ANSWER,
    reason: 'Seen.',
  })

const words = (shown: ShownCase, answer: CaseAnswer) => actOf(planOf(shown, answer))

test('the button names every verdict with its amount, and how many requests it decides', () => {
  assert.equal(words(caseOf(large), said([large, { verdict: 'approve' }])), 'Approve €12,000')
  assert.equal(words(caseOf(access), said([access, { verdict: 'approve' }])), 'Approve')
  const both = said([large, { verdict: 'approve', limit: '11,500' }], [small, { verdict: 'decline' }])
  assert.equal(words(caseOf(large, small), both), 'Decide 2 requests: approve €11,500, decline €300')
  assert.equal(doneOf(planOf(caseOf(large, small), both), 'Aster'), 'Decided 2 requests of Aster.')
})

test('above the own limit the button signs first, and says so again when it is done', () => {
  const plan = (me: string, limit: string) =>
    planOf(caseOf(large, small), said([large, { verdict: 'approve', limit }], [small, { verdict: 'decline' }]), me)
  const above = plan('opr_1', '12,000')
  assert.equal(actOf(above), 'Sign first: decide 2 requests: approve €12,000, decline €300')
  assert.equal(doneOf(above, 'Aster'), 'Signed: Aster waits for a second person.')
  assert.equal(actOf(plan('opr_1', '11,999')), 'Decide 2 requests: approve €11,999, decline €300')
  assert.equal(actOf(plan('opr_2', '12,000')), 'Decide 2 requests: approve €12,000, decline €300')
  assert.equal(namesOf(secondSigners(caseOf(large), above.requests, 'opr_1')), 'Priya Sample')
})

test('a button that cannot be used says what it waits for, and nothing is there to send', () => {
  const waiting: [CaseAnswer, string][] = [
    [said([large, { verdict: 'approve', limit: '' }]), 'Approve: no limit yet'],
    [said([large, { verdict: 'approve', limit: '11.500' }]), 'Approve: which amount?'],
    [said([large, { verdict: 'approve', limit: '12,001' }]), 'Approve €12,001: is it meant?'],
    [said([large, { verdict: 'approve', limit: '12,001', confirmedLimit: 12_001 }]), 'Approve €12,001: say why'],
    [
      said([large, { verdict: 'approve', limit: '120,001', confirmedLimit: 120_001 }]),
      'Approve €120,001: above the bounds',
    ],
    [said([large, { verdict: 'approve', limit: '1,200' }]), 'Approve €1,200: is it meant?'],
    [said([large, { verdict: 'approve', limit: '1,200', confirmedLimit: 1_200 }]), 'Approve €1,200: say why'],
    [said([large, { verdict: 'approve_with_conditions' }]), 'Approve €12,000 with conditions: which conditions?'],
    [
      said([large, { verdict: 'approve_with_conditions', conditions: 'one\ntwo\nthree' }]),
      'Approve €12,000 with conditions: too many conditions',
    ],
    [
      said([large, { verdict: 'approve_with_conditions', conditions: 'x'.repeat(31) }]),
      'Approve €12,000 with conditions: a condition is too long',
    ],
    [{ ...said([large, { verdict: 'decline' }]), reason: ' ' }, 'Decline €12,000: give a reason'],
  ]
  for (const [answer, expected] of waiting) {
    assert.equal(words(caseOf(large), answer), expected)
    assert.equal(planOf(caseOf(large), answer).verdict, undefined, expected)
  }
  const half = said([large, { verdict: 'approve' }])
  assert.equal(words(caseOf(large, small), half), 'Decide 2 requests: approve €12,000: one has no verdict')
})

test('a confirmation is for the limit that was confirmed, and is sent only with it', () => {
  const reason = 'A guarantor with a house stands in for it.'
  const confirmed = { ...said([large, { verdict: 'approve', limit: '13,000', confirmedLimit: 13_000 }]), reason }
  assert.deepEqual(planOf(caseOf(large), confirmed).verdict?.verdicts, [
    { decision_id: 'dec_1', verdict: 'approve', recommended_limit: 13_000, excess_confirmed: true },
  ])
  assert.equal(planOf(caseOf(large), withAnswer(confirmed, large, { limit: '14,000' })).verdict, undefined)
  const lowered = planOf(caseOf(large), withAnswer(confirmed, large, { limit: '12,000' }))
  assert.equal(lowered.verdict?.verdicts[0]?.excess_confirmed, undefined)
})

test('an answer is plain data: it survives as JSON', () => {
  const answer = said([large, { verdict: 'approve', limit: '11,500' }], [small, { verdict: 'decline' }])
  const restored: CaseAnswer = JSON.parse(JSON.stringify(answer))
  assert.deepEqual(planOf(caseOf(large, small), restored), planOf(caseOf(large, small), answer))
})

test('a limit of a draft stays the amount that was typed when the person changes the notation', () => {
  const dinars: WaitingRequest = {
    ...large,
    requested: { amount: 20_000, currency: 'KWD' },
    ask_below: 0,
    ask_above: 20_000,
  }
  for (const [typed, amount] of [
    ['13,500', 13_500],
    ['12.345', 12.345],
  ] as const) {
    setNotation('comma_point')
    const answer = said([dinars, { verdict: 'approve', limit: typed }])
    assert.equal(planOf(caseOf(dinars), answer).requests[0]?.limit, amount)
    setNotation('point_comma')
    const restored: CaseAnswer = JSON.parse(JSON.stringify(answer))
    assert.equal(planOf(caseOf(dinars), restored).requests[0]?.limit, amount, typed)
    assert.equal(answerTo(dinars, restored).limit, typed === '13,500' ? '13.500' : '12,345')
  }
  const { notation, ...unknown } = answerTo(dinars, NO_ANSWER)
  assert.equal(notation, 'point_comma')
  const older = {
    ...NO_ANSWER,
    requests: { [dinars.id]: { ...unknown, verdict: 'approve', limit: '12.345' } as RequestAnswer },
  }
  assert.equal(planOf(caseOf(dinars), older).requests[0]?.waitsFor, 'no limit yet', 'its notation is not known')
  setNotation('comma_point')
})

test('limits that together are above what could be lent are confirmed by their sum', () => {
  const euros = { currency: 'EUR', could_lend: 11_000, ask_above: 12_100 }
  const shown = { ...caseOf(large, small), totals: [euros] } as ShownCase
  const both = { ...said([large, { verdict: 'approve' }], [small, { verdict: 'approve' }]), reason: 'x'.repeat(20) }
  assert.equal(words(shown, both), 'Decide 2 requests: approve €12,000, approve €300: is the sum meant?')
  const [total] = planOf(shown, both).totals
  assert.deepEqual(total, { currency: 'EUR', amount: 12_300 })
  assert.equal(totalWords(total!, shown), 'Together €12,300: €1,300 above what the policy could lend this applicant.')
  const confirmed = withTotal(both, total!, true)
  assert.equal(planOf(shown, confirmed).verdict?.total_confirmed, true)
  assert.equal(planOf(shown, withTotal(confirmed, total!, false)).waitsFor, 'is the sum meant?')
  assert.equal(planOf(shown, { ...confirmed, reason: 'Short.' }).waitsFor, 'say why')
  const other = withAnswer(confirmed, large, { limit: '11,900' })
  assert.equal(planOf(shown, other).waitsFor, 'is the sum meant?', 'a confirmation is for one sum')
  const one = planOf(shown, withAnswer(both, small, { verdict: 'decline' }))
  assert.deepEqual([one.totals, one.verdict?.total_confirmed], [[], undefined])
})

test('the sum of each currency is confirmed', () => {
  const dollars = [1, 2].map((n) => ({ ...large, id: `dec_usd_${n}`, requested: { amount: 12_000, currency: 'USD' } }))
  const requests = [large, small, ...dollars]
  const totals = ['EUR', 'USD'].map((currency) => ({ currency, could_lend: 12_000, ask_above: 12_000 }))
  const shown = { ...caseOf(...requests), totals } as ShownCase
  const answer = {
    ...said(
      ...requests.map((request) => [request, { verdict: 'approve' }] as [WaitingRequest, Partial<RequestAnswer>]),
    ),
    reason: 'x'.repeat(20),
  }
  const above = planOf(shown, answer).totals
  assert.deepEqual(
    above.map(({ currency, amount }) => [currency, amount]),
    [
      ['EUR', 12_300],
      ['USD', 24_000],
    ],
  )
  const first = withTotal(answer, above[0]!, true)
  assert.equal(planOf(shown, first).waitsFor, 'is the sum meant?')
  assert.equal(planOf(shown, withTotal(first, above[1]!, true)).waitsFor, undefined)
})

test('what is offered is what was asked, to the cent', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000_000 }), (cents) => {
      const asked = request('dec_1', cents / 100)
      const approved = withAnswer(NO_ANSWER, asked, { verdict: 'approve' })
      assert.equal(planOf(caseOf(asked), approved).requests[0]?.limit, cents / 100)
    }),
  )
})

test('a limit that is far too low is said to be a part of what was asked', () => {
  assert.equal(unusualWords(1_200, large), '€1,200 is a tenth of the €12,000 asked.')
  assert.equal(unusualWords(1_000, large), '€1,000 is 8.3\u00a0% of the €12,000 asked.')
})
