import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CaseAnswer, NO_ANSWER, planOf, type RequestAnswer, withAnswer } from './case-answer.ts'
import { actOf, doneOf } from './plan-words.ts'
import type { ShownCase, WaitingRequest } from './review-case.ts'

const request = (id: string, amount: number | null): WaitingRequest => ({
  ...{ id, product: 'personal_loan', could_lend: null, decided_at: '2026-11-15T09:30:00.000Z' },
  requested: amount === null ? null : { amount, currency: 'EUR' },
  ask_above: amount,
  refuse_above: amount === null ? null : amount * 10,
})
const [large, small, access] = [request('dec_1', 12_000), request('dec_2', 300), request('dec_3', null)]

const caseOf = (...requests: WaitingRequest[]) =>
  ({ id: 'cas_1', requests, bounds: { reason_characters_min: 20 } }) as unknown as ShownCase

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

test('a button that cannot be used says what it waits for, and nothing is there to send', () => {
  const waiting: [CaseAnswer, string][] = [
    [said([large, { verdict: 'approve', limit: '' }]), 'Approve: no limit yet'],
    [said([large, { verdict: 'approve', limit: '11.500' }]), 'Approve: which amount?'],
    [said([large, { verdict: 'approve', limit: '12,001' }]), 'Approve €12,001: is it meant?'],
    [said([large, { verdict: 'approve', limit: '12,001', confirmedLimit: '12,001' }]), 'Approve €12,001: say why'],
    [
      said([large, { verdict: 'approve', limit: '120,001', confirmedLimit: '120,001' }]),
      'Approve €120,001: above the bounds',
    ],
    [said([large, { verdict: 'approve_with_conditions' }]), 'Approve €12,000 with conditions: which conditions?'],
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
  const confirmed = { ...said([large, { verdict: 'approve', limit: '13,000', confirmedLimit: '13,000' }]), reason }
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
