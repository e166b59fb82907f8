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
    // Without the request id, whose random letters can spell the name of a library.
    assert.doesNotMatch(
      answer.text.replace(/req_\w+/, ''),
      /\bat \w+[.(]|node:|\.ts|SELECT|INSERT|ajv|TypeBox|fastify|postgres/i,
    )
  }
})

test('a body with too many values is refused before its elements are validated, in a short answer', async () => {
  const path = `/v1/entities/${entity.id}/transactions`
  const many = await raw(path, `{"transactions":[${Array(349_485).fill('{}').join(',')}]}`)
  assertRefused(many, 'validation_failed')
  assert.match(many.body.error.message, /more than 16000 values/)
  assert.equal(many.body.error.details.length, 1)

  const tooLong = await raw(path, `{"transactions":[${Array(1_001).fill('{}').join(',')}]}`)
  assert.deepEqual(tooLong.body.error.details, [
    { param: '/transactions', message: 'transactions must have at most 1000 items.' },
  ])
  const conditions = await raw('/v1/decisions/dec_x/reviews', `{"conditions":[${Array(2_000).fill('{}').join(',')}]}`)
  assert.deepEqual(
    conditions.body.error.details.map(({ param }: { param: string }) => param),
    ['/conditions'],
  )
  const features = Array.from({ length: 900 }, (_, index) => `"Bad ${index}":[]`).join(',')
  const named = await raw(`/v1/entities/${entity.id}/feature-snapshots`, `{"features":{${features}}}`)
  assert.deepEqual(
    named.body.error.details.map(({ param }: { param: string }) => param),
    ['/features'],
  )
})

test('a refusal lists the first 100 violations and says how many more there are', async () => {
  const refused = await raw(
    `/v1/entities/${entity.id}/transactions`,
    `{"transactions":[${Array(1_000).fill('{}').join(',')}]}`,
  )
  assertRefused(refused, 'validation_failed')
  assert.equal(refused.body.error.details.length, 100)
  assert.equal(refused.body.error.message, 'transactions[0].external_id is required. (and 4999 more)')

  const future = {
    external_id: 'f',
    amount: 1,
    currency: 'EUR',
    direction: 'debit',
    occurred_at: '2999-01-01T00:00:00Z',
  }
  const late = await raw(
    `/v1/entities/${entity.id}/transactions`,
    JSON.stringify({ transactions: Array(300).fill(future) }),
  )
  assert.equal(late.body.error.details.length, 100, late.text)
  assert.match(late.body.error.message, /^transactions\[0\]\.occurred_at .* \(and 299 more\)$/)

  const fields = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`field_${index}`, 1]))
  assert.equal((await acme.post('/v1/entities', fields)).body.error.details.length, 100)
})

test('a refusal repeats little of a long name', async () => {
  for (const name of ['n'.repeat(500_000), '~/'.repeat(250_000), '😀'.repeat(100_000)]) {
    for (const body of [`{"${name}":1}`, `{"external_id":"x","metadata":{"${name}":1}}`, `{"${name}":1,"${name}":2}`]) {
      const refused = await raw('/v1/entities', body)
      assertRefused(refused, 'validation_failed')
      assert.ok(refused.text.length < 2_000, `${refused.text.length} characters`)
    }
  }
})

test('a member that is in one object twice is refused with its place, however its name is written', async () => {
  for (const [body, param] of [
    ['{"external_id":"a","external_id":"b"}', '/external_id'],
    ['{"external_id":"a","external\\u005fid":"a"}', '/external_id'],
    ['{"external_id":"a","metadata":{"k":"1","other":"\\"k\\":","k" : "2"}}', '/metadata/k'],
    ['{"external_id":"a","metadata":{"a/b":"1","a/b":"2"}}', '/metadata/a~1b'],
  ] as const) {
    const refused = await raw('/v1/entities', body)
    assertRefused(refused, 'validation_failed')
    assert.equal(refused.body.error.param, param)
    assert.match(refused.body.error.message, /twice/)
  }
  const nested = await raw(
    `/v1/entities/${entity.id}/transactions`,
    '{"transactions":[{"amount":1},{"amount":1,"amount":2}]}',
  )
  assert.equal(nested.body.error.param, '/transactions/1/amount')
  const repeatedElsewhere = '{"external_id":"twice","metadata":{"external_id":"{\\"a\\":1,\\"a\\":2}","metadata":"x"}}'
  assert.equal((await raw('/v1/entities', repeatedElsewhere)).status, 201)
})

test('an entity keeps all of its 512 features, and more are refused by name', async () => {
  const { body: measured } = await acme.post('/v1/entities', { external_id: 'measured' })
  const submit = (from: number, to: number) =>
    acme.post(`/v1/entities/${measured.id}/feature-snapshots`, {
      source: 's',
      as_of: '2026-01-01T00:00:00Z',
      features: Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`f${from + index}`, 1])),
    })
  for (const [from, to] of [
    [0, 200],
    [200, 400],
    [400, 512],
  ] as const)
    assert.equal((await submit(from, to)).status, 201)
  const refused = await submit(511, 513)
  assertRefused(refused, 'validation_failed')
  assert.equal(refused.body.error.param, '/features')
  assert.match(refused.body.error.message, /513.*512/)
  assert.equal((await submit(0, 200)).status, 201, 'features that the entity has are accepted')
})
