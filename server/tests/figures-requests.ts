/** Requests that give an organization something to count. */
import assert from 'node:assert/strict'
import type { TestOrganization } from './test-service.ts'

/** Creates an entity; with `income`, six months of salary and rent. Returns its id. */
export async function createEntity(
  organization: TestOrganization,
  externalId: string,
  { income = false } = {},
): Promise<string> {
  const created = await organization.post('/v1/entities', {
    external_id: externalId,
    type: 'person',
    display_name: externalId,
    country: 'DE',
  })
  assert.equal(created.status, 201, created.text)
  if (income) await ingestIncome(organization, created.body.id)
  return created.body.id
}

/** Underwrites a personal loan of an amount, or access if there is none, and returns the decision. */
export async function underwrite(organization: TestOrganization, entityId: string, request: object = {}) {
  const product = 'requested_amount' in request ? 'personal_loan' : 'platform_access'
  const decided = await organization.post(
    '/v1/underwrite',
    { entity_id: entityId, product, ...request },
    { 'Idempotency-Key': crypto.randomUUID() },
  )
  assert.equal(decided.status, 201, decided.text)
  return decided.body
}

async function ingestIncome(organization: TestOrganization, entityId: string): Promise<void> {
  const months = ['05', '06', '07', '08', '09', '10']
  const transactions = months.flatMap((month) => [
    transaction(`salary-${month}`, `2026-${month}-01T08:00:00Z`, {
      amount: 3_000,
      direction: 'credit',
      category: 'salary',
    }),
    transaction(`rent-${month}`, `2026-${month}-03T08:00:00Z`, { amount: 900, direction: 'debit', category: 'rent' }),
  ])
  const ingested = await organization.post(
    `/v1/entities/${entityId}/transactions`,
    { transactions },
    { 'Idempotency-Key': crypto.randomUUID() },
  )
  assert.ok(ingested.status < 300, ingested.text)
}

function transaction(externalId: string, occurredAt: string, fields: object) {
  return { external_id: externalId, occurred_at: occurredAt, currency: 'EUR', ...fields }
}
