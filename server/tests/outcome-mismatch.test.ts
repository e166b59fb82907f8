/** Outcomes that cannot belong to their decision are refused, unless their reporter says why they are right. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordPersona } from './record-persona.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()

let count = 0

/** The decision about a new entity like a persona. */
function decideOn(persona: string) {
  return recordPersona(acme, persona, { as: `applicant-${count++}` })
}

function report(decision: { id: string }, outcome: object) {
  return acme.post(`/v1/decisions/${decision.id}/outcomes`, { occurred_at: new Date().toISOString(), ...outcome })
}

const reviewer = { id: 'u-17' }

test('funding a decline is refused with what to do, until a review has approved it', async () => {
  const declined = await decideOn('overdrawn')
  assert.equal(declined.verdict, 'decline')
  const refused = await report(declined, { type: 'funded', amount: 100, currency: 'EUR' })
  const { error } = refused.body
  assert.deepEqual([refused.status, error.code, error.param], [422, 'outcome_mismatch', '/type'])
  assert.match(error.message, /submit that review first.*"override": true.*note/)
  const { outcomes } = (await acme.get(`/v1/decisions/${declined.id}/replay`)).body
  assert.deepEqual(outcomes, [], 'nothing was recorded')

  const review = { verdict: 'approve', reviewer, reason: 'Guaranteed.', recommended_limit: 120 }
  assert.equal((await acme.post(`/v1/decisions/${declined.id}/reviews`, review)).status, 201)
  const funded = await report(declined, { type: 'funded' })
  assert.deepEqual([funded.status, funded.body.amount, funded.body.currency], [201, 120, 'EUR'])
})

test('an amount beyond ten times the decision and another currency are refused, all in one answer', async () => {
  const approved = await decideOn('prime')
  const limit = approved.recommended_limit!
  const beyond = await report(approved, { type: 'funded', amount: limit * 10 + 0.01, currency: 'EUR' })
  assert.deepEqual([beyond.status, beyond.body.error.param], [422, '/amount'])
  assert.ok(beyond.body.error.message.includes(`${limit} EUR`), beyond.body.error.message)
  assert.equal((await report(approved, { type: 'funded', amount: limit * 10, currency: 'EUR' })).status, 201)

  const declined = await decideOn('overdrawn')
  const both = await report(declined, { type: 'funded', amount: 10, currency: 'USD' })
  assert.equal(both.status, 422)
  assert.deepEqual(
    both.body.error.details.map(({ param }: { param: string }) => param),
    ['/type', '/currency'],
  )
  assert.match(both.body.error.message, /\(and 1 more\)$/)
})

test('an override needs a note, is stored, and the audit entry says what did not fit', async () => {
  const declined = await decideOn('overdrawn')
  const outcome = { type: 'funded', amount: 10, currency: 'USD', override: true }
  for (const note of [undefined, '  ']) {
    const refused = await report(declined, { ...outcome, ...(note && { note }) })
    assert.deepEqual([refused.status, refused.body.error.param], [400, '/note'])
  }
  const note = 'Approved on paper by the branch, ticket 4711.'
  const taken = await report(declined, { ...outcome, note })
  assert.deepEqual([taken.status, taken.body.override, taken.body.note], [201, true, note])
  const fits = await report(await decideOn('prime'), { type: 'funded', override: true, note })
  assert.deepEqual([fits.status, fits.body.note, 'override' in fits.body], [201, note, false])

  const dataOf = async (entityId: string) => {
    const { data } = (await acme.get(`/v1/entities/${entityId}/audit-trail`)).body
    return data.find(({ type }: { type: string }) => type === 'decision.outcome_recorded').data
  }
  assert.deepEqual((await dataOf(taken.body.entity_id)).overridden, ['not_approved', 'other_currency'])
  assert.equal('overridden' in (await dataOf(fits.body.entity_id)), false, 'nothing had to be overridden')
})
