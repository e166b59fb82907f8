import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()

interface Identifier {
  type: string
  value: string
  issuer?: string
}

let count = 0
/** Whether the verified identifiers of an applicant conflict, which leads to a manual review. */
async function isConflicting(identifiers: readonly Identifier[]): Promise<boolean> {
  const { body: entity } = await acme.post('/v1/entities', { external_id: `identity-${count++}` })
  for (const identifier of identifiers) {
    const link = { identifier, verification: { status: 'verified' } }
    assert.equal((await acme.post(`/v1/entities/${entity.id}/identity-links`, link)).status, 201)
  }
  const request = { entity_id: entity.id, product: 'marketplace_access' }
  const { body: decision } = await acme.post('/v1/underwrite', request, { 'Idempotency-Key': `identity-${count++}` })
  const { body: replay } = await acme.get(`/v1/decisions/${decision.id}/replay`)
  const { value } = replay.evidence.feature_snapshot['identity.conflicts']
  assert.equal(
    decision.reason_codes.some(({ code }: { code: string }) => code === 'conflicting_identity'),
    value > 0,
  )
  return value > 0
}

test('two verified numbers conflict if an issuer gives each entity only one, and two identity documents do not', async () => {
  const tax = (value: string, issuer?: string) => ({ type: 'tax_id', value, ...(issuer && { issuer }) })
  assert.equal(await isConflicting([tax('11-1', 'US'), tax('22-2', 'DE')]), false)
  assert.equal(await isConflicting([tax('33-3', 'DE'), tax('44-4', 'de ')]), true)
  assert.equal(await isConflicting([tax('55-5'), tax('66-6')]), true)
  const [passport, licence] = ['P-1', 'L-1'].map((value) => ({ type: 'government_id', value }))
  assert.equal(await isConflicting([passport!, licence!]), false)
})
