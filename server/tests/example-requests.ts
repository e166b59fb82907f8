/** One valid request for every endpoint of the route table, from which tests are generated. */
import type { AnyEndpoint } from '../src/api/define-endpoint.ts'
import { routes } from '../src/api/routes.ts'
import { exampleTransaction } from './example-transaction.ts'

/** A request that succeeds with a key that has the scope of the endpoint. */
export interface ExampleRequest {
  endpoint: AnyEndpoint
  method: string
  path: string
  body?: unknown
  headers: Record<string, string>
}

/** Existing ids, by the name of their path parameter. */
export type ExampleIds = Record<string, string>

const BODIES: Record<string, (ids: ExampleIds) => unknown> = {
  createEntity: () => ({ external_id: `example-${unique()}` }),
  createIdentityLink: () => ({
    identifier: { type: 'email', value: `${unique()}@example.com` },
    verification: { status: 'unverified' },
  }),
  recordConsent: () => ({ purpose: 'credit_underwriting' }),
  ingestTransactions: () => ({ transactions: [exampleTransaction(`t-${unique()}`)] }),
  underwrite: ({ entity_id }) => ({ entity_id, product: 'credit_line', requested_amount: 1000, currency: 'EUR' }),
  submitReview: () => ({ verdict: 'approve', reviewer: { id: 'u-1' }, reason: 'Documents checked.' }),
  recordOutcome: () => ({ type: 'funded', occurred_at: new Date().toISOString() }),
  submitFeatureSnapshot: () => ({ source: 'test', as_of: '2026-10-01T00:00:00Z', features: { a: 1 } }),
}

let count = 0
function unique(): string {
  return `${process.pid}-${count++}`
}

/** Builds a valid request for each endpoint, with the given ids in its path. */
export function exampleRequests(ids: ExampleIds): ExampleRequest[] {
  return routes.map((endpoint) => {
    const body = BODIES[endpoint.operationId]?.(ids)
    if (endpoint.body && body === undefined) throw new Error(`add an example body for ${endpoint.operationId}`)
    return {
      endpoint,
      method: endpoint.method,
      path: endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => {
        const id = ids[name]
        if (id === undefined) throw new Error(`add an example of ${name} for ${endpoint.operationId}`)
        return id
      }),
      ...(body !== undefined && { body }),
      headers: endpoint.method === 'POST' ? { 'Idempotency-Key': unique() } : {},
    }
  })
}
