/** Applicants of whom everything but their bank data is known: two verified identifiers and a consent. */
import assert from 'node:assert/strict'
import type { TestOrganization } from './test-service.ts'

/** A transaction as tests write it. */
export interface BookedTransaction {
  external_id: string
  occurred_at: string
  amount: number
  currency: string
  direction: 'credit' | 'debit'
  balance_after?: number
  account?: object
  category?: string
  counterparty?: { name: string }
}

let applicants = 0

/** Creates a verified applicant; returns their id, and the calls that tests make about them. */
export async function verifiedApplicant(organization: Pick<TestOrganization, 'post'>, now: string) {
  const number = applicants++
  const post = async (path: string, body: unknown, status = 201) => {
    const answer = await organization.post(path, body, { 'Idempotency-Key': crypto.randomUUID() })
    assert.equal(answer.status, status, answer.text)
    return answer.body
  }
  const { id } = await post('/v1/entities', { external_id: `applicant-${crypto.randomUUID()}`, type: 'person' })
  const verification = { status: 'verified', method: 'document', verified_at: now }
  for (const type of ['government_id', 'tax_id'])
    await post(`/v1/entities/${id}/identity-links`, {
      identifier: { type, value: `DE-${type}-${process.pid}-${number}` },
      verification,
    })
  await post(`/v1/entities/${id}/consents`, {
    purpose: 'credit_underwriting',
    status: 'granted',
    data_categories: ['identity', 'transactions', 'features', 'graph'],
    granted_at: now,
  })
  return {
    id: id as string,
    ingest: (body: object, status = 201) => post(`/v1/entities/${id}/transactions`, body, status),
    /** Asks for one and the same credit, so that an earlier offer is replaced and does not count. */
    decide: (requested_amount: number) =>
      post('/v1/underwrite', {
        entity_id: id,
        product: 'default',
        requested_amount,
        currency: 'EUR',
        reference: 'one',
      }),
  }
}

const DAY_MS = 86_400_000

/** Movements by how many days ago they were, out of the account if the amount is negative. */
export type Movements = readonly (readonly [
  daysAgo: number,
  name: string,
  amount: number,
  category?: string | undefined,
])[]

/** The same movement every 30 days over a year, the last of them some days ago. */
export function monthly(daysAgo: number, name: string, amount: number, category?: string): Movements {
  return Array.from({ length: 12 }, (_, month) => [daysAgo + month * 30, name, amount, category] as const)
}

/** Books movements on an account, oldest first, with the balance after each if it starts from one. */
export function booked(
  movements: Movements,
  { now, id, opening, account }: { now: string; id: string; opening?: number; account?: object },
): BookedTransaction[] {
  let cents = Math.round((opening ?? 0) * 100)
  return movements
    .toSorted(([a], [b]) => b - a)
    .map(([daysAgo, name, amount, category], index) => {
      cents += Math.round(amount * 100)
      return {
        external_id: `${id}-${index}`,
        occurred_at: new Date(Date.parse(now) - daysAgo * DAY_MS).toISOString(),
        amount: Math.abs(amount),
        currency: 'EUR',
        direction: amount > 0 ? 'credit' : 'debit',
        ...(opening !== undefined && { balance_after: cents / 100 }),
        ...(account && { account }),
        ...(category && { category }),
        counterparty: { name },
      }
    })
}
