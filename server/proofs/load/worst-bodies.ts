/** Bodies of legal size that cost the most to read, to check, to refuse or to record, for every endpoint with a body. */
import { CURRENCIES } from '../../src/core/schema/iso-codes.ts'
import { exampleTransaction } from '../../tests/example-transaction.ts'

/** A request that costs as much as its endpoint allows. */
export interface WorstRequest {
  name: string
  path: string
  body: string
}

const BYTES = 1024 * 1024
const list = (length: number, item: (index: number) => string) => Array.from({ length }, (_, i) => item(i)).join(',')
/** As many items as fit into the largest body. */
const full = (item: string) => list(Math.floor((BYTES - 100) / (item.length + 1)), () => item)

/** Shapes of JSON that are costly whatever the endpoint is; most of them it refuses. */
const HOSTILE_SHAPES: Record<string, string> = {
  'empty objects': `{"transactions":[${full('{}')}]}`,
  'empty arrays in a field': `{"conditions":[${full('[]')}]}`,
  'numbers in a field': `{"data_categories":[${full('1')}]}`,
  'distinct names': `{"features":{${list(80_000, (i) => `"N${i}":0`)}}}`,
  'distinct shapes': `{"transactions":[${list(70_000, (i) => `{"n${i}":0}`)}]}`,
  'names up to the bound': `{"metadata":{${list(1_000, (i) => `"${i}${'n'.repeat(1_000)}":[]`)}}}`,
  'unknown fields up to the bound': `{${list(1_000, (i) => `"field ${i}":0`)}}`,
  'wrong elements up to the bound': `{"transactions":[${list(1_000, () => `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"amount":{},"currency":[]}`)}]}`,
  'deep arrays': `${'['.repeat(BYTES / 2 - 10)}${']'.repeat(BYTES / 2 - 10)}`,
  'deep objects': `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`,
  'one long text': `{"external_id":"${' '.repeat(BYTES - 100)}"}`,
  'one long name': `{"${'~/'.repeat(BYTES / 2 - 100)}":1}`,
  'one long number': `{"amount":1${'0'.repeat(BYTES - 100)}}`,
  'escaped text': `{"external_id":"${'\\u0000'.repeat(170_000)}"}`,
  'escaped quotes': `{"external_id":"${'\\"'.repeat(BYTES / 2 - 100)}"}`,
  'line breaks before an error': `${'\n'.repeat(BYTES - 100)}x`,
  'a reserved name at the end': `{"transactions":[${list(7_000, () => '{}')},{"__proto__":1}]}`,
  'a name twice at the end': `{"transactions":[${list(7_000, () => '{}')},{"a":1,"a":2}]}`,
}

/** Every hostile shape for each of the endpoints that take a body. */
export function hostileRequests(ids: { entity: string; decision: string }): WorstRequest[] {
  const paths = [
    '/v1/entities',
    ...['identity-links', 'consents', 'transactions', 'feature-snapshots'].map(
      (part) => `/v1/entities/${ids.entity}/${part}`,
    ),
    '/v1/underwrite',
    ...['reviews', 'outcomes'].map((part) => `/v1/decisions/${ids.decision}/${part}`),
    '/v1/webhook-test',
  ]
  // Parsing comes before the endpoint is known, so not every shape has to meet every endpoint.
  return paths.flatMap((path, index) =>
    Object.entries(HOSTILE_SHAPES)
      .filter((_, shape) => shape % 3 === index % 3 || path.endsWith('transactions') || path.endsWith('snapshots'))
      .map(([name, body]) => ({ name, path, body })),
  )
}

const CURRENCY_CODES = [...CURRENCIES]

/**
 * Valid requests that are as large as their endpoint allows, and spread an entity's state as widely as they can; each
 * round has new transactions.
 */
export function largestRequests(entityId: string, round: number): WorstRequest[] {
  // Eight currencies on each of 400 days: as many days as an entity can have.
  const at = (place: number) => new Date(Date.UTC(2025, 5, 1 + (Math.floor(place / 8) % 400))).toISOString()
  const transactions = (batch: number) =>
    Array.from({ length: 1_000 }, (_, index) => ({
      ...exampleTransaction(`worst-${round}-${batch}-${index}-${'i'.repeat(200)}`),
      occurred_at: at(batch * 1_000 + index),
      currency: CURRENCY_CODES[index % 8],
      balance_after: -12345.6789,
      category: 'c'.repeat(100),
      description: 'd'.repeat(500),
    }))
  const snapshot = (batch: number) => ({
    source: 's'.repeat(100),
    as_of: '2026-10-01T00:00:00Z',
    features: Object.fromEntries(
      Array.from({ length: 170 }, (_, index) => [`f${batch}_${index}_${'n'.repeat(50)}`, 'v'.repeat(500)]),
    ),
  })
  return [
    ...[0, 1, 2, 3, 4, 5].map((batch) => ({
      name: '1,000 transactions',
      path: `/v1/entities/${entityId}/transactions`,
      body: JSON.stringify({ transactions: transactions(batch) }),
    })),
    ...[0, 1, 2].map((batch) => ({
      name: '170 features',
      path: `/v1/entities/${entityId}/feature-snapshots`,
      body: JSON.stringify(snapshot(batch)),
    })),
  ]
}
