import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const { body: entity } = await acme.post('/v1/entities', { external_id: 'victim' })

let requests = 0
function raw(path: string, rawBody: string | Uint8Array, headers: Record<string, string> = {}) {
  return api.request('sandbox', path, {
    method: 'POST',
    key: acme.keys.sandbox,
    rawBody,
    headers: { 'Idempotency-Key': `k-${requests++}`, ...headers },
  })
}

function assertRefused(
  answer: { status: number; text: string; body: { error: { code: string } } },
  code: string,
): void {
  assert.deepEqual([answer.status, answer.body.error.code], [400, code], answer.text)
}

test('SQL in a text or a path is never executed', async () => {
  const evil = `'; DROP TABLE entities; -- " \\ $1 {}`
  const created = await acme.post('/v1/entities', {
    external_id: evil,
    display_name: evil,
    metadata: { [evil.slice(0, 40)]: evil },
  })
  assert.equal(created.status, 201)
  assert.deepEqual((await acme.post('/v1/entities', { external_id: evil })).body, created.body)
  for (const path of [
    `/v1/entities/${encodeURIComponent(evil)}`,
    "/v1/entities/' OR 1=1",
    '/v1/entities/%00',
    '/v1/entities/..%2f..%2fetc',
  ]) {
    assert.equal((await acme.get(path)).status, 404, path)
  }
})

test('__proto__, constructor and prototype are refused as names, and no prototype is polluted', async () => {
  for (const name of ['__proto__', 'constructor', 'prototype', '\\u005f_proto__']) {
    assertRefused(await raw('/v1/entities', `{"external_id":"p","metadata":{"${name}":"x"}}`), 'validation_failed')
    assertRefused(await raw('/v1/entities', `{"external_id":"p","${name}":{"polluted":true}}`), 'validation_failed')
  }
  assertRefused(
    await raw(
      `/v1/entities/${entity.id}/feature-snapshots`,
      '{"source":"s","as_of":"2026-01-01T00:00:00Z","features":{"constructor":1}}',
    ),
    'validation_failed',
  )
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})

test('NUL characters and lone surrogates are refused in values and in names', async () => {
  for (const text of ['a\\u0000b', '\\ud800', '\\udc00x', 'x\\ud83d']) {
    assertRefused(await raw('/v1/entities', `{"external_id":"${text}"}`), 'validation_failed')
    assertRefused(await raw('/v1/entities', `{"external_id":"n","metadata":{"${text}":"x"}}`), 'validation_failed')
  }
  const astral = await raw('/v1/entities', '{"external_id":"\\ud83d\\ude00 emoji"}')
  assert.equal(astral.status, 201, 'a complete surrogate pair is accepted')
})

test('a body that is not UTF-8 or not JSON is refused, with the line and column of the first error', async () => {
  assertRefused(await raw('/v1/entities', new Uint8Array([0x7b, 0xff, 0x7d])), 'malformed_json')
  const refused = await raw('/v1/entities', '{\n  "external_id": "a" "b"\n}')
  assertRefused(refused, 'malformed_json')
  assert.match(refused.body.error.message, /line 2, column 22/)
  for (const text of ['{', '[1,]', '{"a":1}{"b":2}', "{'a':1}", '\ufeff', 'NaN', '{"a":01}'])
    assertRefused(await raw('/v1/entities', text), 'malformed_json')
})

test('an amount that is zero or too large, or a number that cannot be stored exactly, is refused', async () => {
  for (const amount of [
    '1e999',
    '-1e999',
    '1e13',
    '9'.repeat(400),
    '0.00001',
    '1e-320',
    '123456789012.1234',
    '-0',
    '0',
  ]) {
    const body = `{"transactions":[{"external_id":"n","occurred_at":"2026-01-01T00:00:00Z","amount":${amount},"currency":"EUR","direction":"debit"}]}`
    assertRefused(await raw(`/v1/entities/${entity.id}/transactions`, body), 'validation_failed')
  }
  assertRefused(
    await raw(
      `/v1/entities/${entity.id}/feature-snapshots`,
      '{"source":"s","as_of":"2026-01-01T00:00:00Z","features":{"x":1e999}}',
    ),
    'validation_failed',
  )
})

test('a time that in UTC falls into the year 10000 or before 1900, or has a leap second, is refused', async () => {
  for (const time of [
    '9999-12-31T23:59:59-01:00',
    '1899-12-31T23:59:59Z',
    '1900-01-01T00:30:00+01:00',
    '2026-06-30T23:59:60Z',
  ]) {
    assertRefused(
      await acme.post(`/v1/entities/${entity.id}/feature-snapshots`, { source: 's', as_of: time, features: { a: 1 } }),
      'validation_failed',
    )
    assertRefused(
      await acme.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing', expires_at: time }),
      'validation_failed',
    )
  }
})

test('JSON ten thousand levels deep is refused, with and without reserved names inside', async () => {
  const depth = 10_000
  assertRefused(await raw('/v1/entities', '['.repeat(depth) + ']'.repeat(depth)), 'validation_failed')
  assertRefused(
    await raw('/v1/entities', `{"external_id":"d","metadata":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`),
    'validation_failed',
  )
  assertRefused(
    await raw(
      '/v1/entities',
      `{"external_id":"d","metadata":${'{"a":'.repeat(depth)}{"__proto__":1}${'}'.repeat(depth)}}`,
    ),
    'validation_failed',
  )
})

test('one refusal names every value of the wrong type', async () => {
  const refused = await acme.post('/v1/entities', {
    external_id: 7,
    type: 'robot',
    country: 'germany',
    metadata: { k: 1 },
    surprise: true,
  })
  assertRefused(refused, 'validation_failed')
  assert.deepEqual(refused.body.error.details.map(({ param }: { param: string }) => param).sort(), [
    '/country',
    '/external_id',
    '/metadata/k',
    '/surprise',
    '/type',
  ])
})

test('a body that is no object, and values that are too long or too many, are refused', async () => {
  for (const body of [[], 'text', 7, null, true])
    assertRefused(await acme.post('/v1/entities', body), 'validation_failed')
  assertRefused(await acme.post('/v1/entities', { external_id: 'x'.repeat(256) }), 'validation_failed')
  assertRefused(await acme.post('/v1/entities', { external_id: '' }), 'validation_failed')
  assertRefused(
    await acme.post('/v1/entities', {
      external_id: 'm',
      metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, 'v'])),
    }),
    'validation_failed',
  )
})

test('a refusal reveals no stack trace, SQL or library', async () => {
  for (const answer of [
    await raw('/v1/entities', '{"external_id":1}'),
    await acme.get('/v1/entities/ent_x'),
    await acme.get('/nowhere'),
  ]) {
    assert.doesNotMatch(answer.text, /\bat \w+[.(]|node:|\.ts|SELECT|INSERT|ajv|TypeBox|fastify|postgres/i)
  }
})
