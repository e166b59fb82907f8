/** Who provided the transactions is a fact that a policy can decide by, through the API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activateDocument } from './activate-document.ts'
import { editedDocument, ruleOf } from './edited-policy.ts'
import { exampleTransaction } from './example-transaction.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const SHARES = ['cashflow.applicant_share', 'cashflow.independent_share'] as const

await activateDocument(
  api.service.installation,
  editedDocument(({ inputs, rules }) => ({
    version: 'no-self-reported-feeds',
    inputs: [...inputs, { feature: SHARES[0], type: 'number', weight: 0 }],
    rules: [ruleOf({ id: 'feed_of_applicant', when: `${SHARES[0]} > 0`, action: 'decline' }), ...rules],
  })),
  { organizationId: acme.id },
)

async function newApplicant(externalId: string) {
  const { body: entity } = await acme.post('/v1/entities', { external_id: externalId })
  const post = async (path: string, body: object) => {
    const answer = await acme.post(path, body, { 'Idempotency-Key': crypto.randomUUID() })
    assert.equal(answer.status, 201, answer.text)
    return answer.body
  }
  return {
    ingest: (body: object) => post(`/v1/entities/${entity.id}/transactions`, body),
    /** The shares that a decision is made from, and whether the rule declines. */
    async decide() {
      const request = { entity_id: entity.id, product: 'default', requested_amount: 100, currency: 'EUR' }
      const { id, reason_codes } = await post('/v1/underwrite', request)
      const { body: replay } = await acme.get(`/v1/decisions/${id}/replay`)
      assert.equal(replay.matches, true)
      const facts = replay.evidence.feature_snapshot
      const declines = reason_codes.some(({ code }: { code: string }) => code === 'feed_of_applicant')
      return [...SHARES.map((name) => facts[name].value ?? facts[name].missing), declines]
    },
  }
}

const BANK = { kind: 'bank', name: 'Stadtbank' }
const APPLICANT = { kind: 'applicant' }

test('a feed that the applicant provided is seen by a rule, also where only part of it was', async () => {
  const applicant = await newApplicant('feeds')
  await applicant.ingest({ transactions: [exampleTransaction('unsaid')] })
  assert.deepEqual(await applicant.decide(), ['no_data', 'no_data', false])
  await applicant.ingest({ transactions: ['a', 'b'].map((id) => exampleTransaction(id)), provided_by: BANK })
  assert.deepEqual(await applicant.decide(), [0, 0.666666, false])
  await applicant.ingest({ transactions: [exampleTransaction('c', { provided_by: APPLICANT })], provided_by: BANK })
  assert.deepEqual(await applicant.decide(), [0.25, 0.5, true])
})

test('a correction says anew who provided a transaction; sources of others on its day stay as they are', async () => {
  const applicant = await newApplicant('corrected')
  const [kept, replaced] = ['kept', 'replaced'].map((id) => exampleTransaction(id))
  await applicant.ingest({ transactions: [kept, { ...replaced, provided_by: APPLICANT }], provided_by: BANK })
  assert.deepEqual(await applicant.decide(), [0.5, 0.5, true])
  await applicant.ingest({ transactions: [{ ...replaced, amount: 77, corrects: true }], provided_by: BANK })
  assert.deepEqual(await applicant.decide(), [0, 1, false])
  await applicant.ingest({ transactions: [{ external_id: 'replaced', voided: true }] })
  assert.deepEqual(await applicant.decide(), [0, 1, false])
})

test('a duplicate from another source does not change who provided the transaction', async () => {
  const applicant = await newApplicant('duplicates')
  await applicant.ingest({ transactions: [exampleTransaction('a')], provided_by: APPLICANT })
  await applicant.ingest({ transactions: [exampleTransaction('a')], provided_by: BANK })
  assert.deepEqual(await applicant.decide(), [1, 0, true])
})
