import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policyTry } from '../src/cli/policy-try.ts'
import { personas } from './personas.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const lender = await api.newOrganization()
const prime = personas(new Date().toISOString())[0]!
const { body: entity } = await lender.post('/v1/entities', prime.entity)
for (const link of prime.identityLinks) await lender.post(`/v1/entities/${entity.id}/identity-links`, link)
for (const consent of prime.consents) await lender.post(`/v1/entities/${entity.id}/consents`, consent)
await lender.post(
  `/v1/entities/${entity.id}/transactions`,
  { transactions: prime.transactions },
  { 'Idempotency-Key': 'transactions' },
)

function tried(policy: string, options: Record<string, string>) {
  const caller = { uid: 0, name: 'root' }
  const { requested_amount, currency, product } = prime.underwrite
  const request = { entity: entity.id as string, product, amount: String(requested_amount), currency: currency! }
  return policyTry.run(api.service.installation, {
    positionals: [policy],
    options: { org: lender.id, ...request, ...options },
    caller,
  } as never)
}

test('a dry run on an entity gives what a decision gives, and records nothing', async () => {
  const before = await tried('sandbox-policy-v1', {})
  const counted = await lender.get('/v1/usage')
  assert.equal(counted.body.totals.decisions, 0)
  const decided = await lender.post(
    '/v1/underwrite',
    { entity_id: entity.id, ...prime.underwrite },
    { 'Idempotency-Key': 'decided' },
  )
  assert.equal(decided.status, 201)
  for (const field of ['verdict', 'risk_tier', 'recommended_limit', 'reason_codes', 'confidence'])
    assert.deepEqual(before.decision[field], decided.body[field], field)
  assert.equal(before.subject, entity.id)
})

test('the text of a draft is tried on an entity, and refused with its problems', async () => {
  const source = sandboxPolicySource()
  const draft = await tried('draft.yaml', {
    source: source.replaceAll('history.abuse > 0', 'history.abuse >= 0'),
  })
  assert.equal(draft.decision.verdict, 'decline')
  await assert.rejects(
    tried('draft.yaml', { source: source.replace('cutoff:', 'cutof:') }),
    /there is no field 'cutof' here/,
  )
})

test('an amount that can be read in two ways, or is none, is refused by name', async () => {
  for (const amount of ['1.000,5', '1,000', '1e3', '0x10', '0', '-5', 'many'])
    await assert.rejects(tried('sandbox-policy-v1', { amount }), {
      code: 'amount_invalid',
      message: `'${amount}' is no amount above zero. Write it like 1000.50, without other marks.`,
    })
})
