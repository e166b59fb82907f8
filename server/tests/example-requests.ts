/** One valid request for every endpoint of the route table, so that tests can be generated from it. */
import type { AnyEndpoint } from '../src/http/define-endpoint.ts'
import { routes } from '../src/http/routes.ts'

/** A request that succeeds for whoever may make it. */
export interface ExampleRequest {
  endpoint: AnyEndpoint
  method: string
  path: string
  body?: unknown
  headers: Record<string, string>
}

/** Ids of existing things, by the name of the path parameter that takes them. */
export type ExampleIds = Record<string, string>

const BODIES: Record<string, (ids: ExampleIds) => unknown> = {
  createEntity: () => ({ external_id: `example-${unique()}` }),
  createIdentityLink: () => ({
    identifier: { type: 'email', value: `${unique()}@example.com` },
    verification: { status: 'unverified' },
  }),
  recordConsent: () => ({ purpose: 'credit_underwriting' }),
  ingestTransactions: () => ({
    transactions: [
      {
        external_id: `t-${unique()}`,
        occurred_at: '2026-10-01T00:00:00Z',
        amount: 10,
        currency: 'EUR',
        direction: 'credit',
      },
    ],
  }),
  underwrite: ({ entity_id }) => ({ entity_id, product: 'credit_line', requested_amount: 1000, currency: 'EUR' }),
  submitReview: () => ({ verdict: 'approve', reviewer: { id: 'u-1' }, reason: 'Papers seen.' }),
  recordOutcome: () => ({ type: 'repaid', occurred_at: '2026-10-01T00:00:00Z' }),
  submitFeatureSnapshot: () => ({ source: 'test', as_of: '2026-10-01T00:00:00Z', features: { a: 1 } }),
}

let count = 0
function unique(): string {
  return `${process.pid}-${count++}`
}

/** Makes a valid request for each endpoint, with the given ids in its path. */
export function exampleRequests(ids: ExampleIds): ExampleRequest[] {
  return routes.map((endpoint) => {
    const body = BODIES[endpoint.operationId]?.(ids)
    if (endpoint.body && body === undefined) throw new Error(`there is no example body for ${endpoint.operationId}`)
    return {
      endpoint,
      method: endpoint.method,
      path: endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? `no-example-for-${name}`),
      ...(body !== undefined && { body }),
      headers: endpoint.method === 'POST' ? { 'Idempotency-Key': unique() } : {},
    }
  })
}
