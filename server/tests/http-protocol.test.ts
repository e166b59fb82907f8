/** How the API speaks HTTP: status codes, headers, methods and bodies that no endpoint handles itself. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { routes } from '../src/api/routes.ts'
import { idPattern } from '../src/core/id-format.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()

test('every answer has a request id in its headers, and an error repeats it in its body', async () => {
  const found = await acme.get('/v1/usage')
  assert.match(found.headers.get('request-id')!, new RegExp(idPattern('req')))
  for (const path of ['/v1/entities/ent_x', '/nowhere', '/%zz']) {
    const refused = await acme.get(path)
    assert.equal(refused.status, 404)
    assert.equal(refused.body.error.request_id, refused.headers.get('request-id'))
  }
})

test('a wrong method on a known path gets 405 with the allowed methods', async () => {
  for (const endpoint of routes) {
    const path = endpoint.path.replace(/\{\w+\}/g, 'x')
    const refused = await api.request('sandbox', path, { method: 'DELETE', key: acme.keys.sandbox })
    assert.deepEqual([refused.status, refused.body.error.code], [405, 'method_not_allowed'], path)
    assert.ok(refused.headers.get('allow')!.split(', ').includes(endpoint.method))
  }
  assert.equal((await api.request('sandbox', '/openapi.json', { method: 'POST' })).status, 405)
  assert.equal((await api.request('sandbox', '/v1/usage', { method: 'HEAD', key: acme.keys.sandbox })).status, 200)
})

test('a body over 1 MiB gets 413, and a smaller one is validated', async () => {
  const body = { external_id: 'large', metadata: { k: 'x'.repeat(1024 * 1024) } }
  const refused = await acme.post('/v1/entities', body)
  assert.deepEqual([refused.status, refused.body.error.code], [413, 'body_too_large'])
  assert.equal((await acme.post('/v1/entities', { ...body, metadata: { k: 'x'.repeat(1024 * 1000) } })).status, 400)
})

test('a client that reads only after it has sent everything gets the whole 413', async () => {
  const size = 20 * 1024 * 1024
  const head = [
    'POST /v1/entities HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${acme.keys.sandbox}`,
    'Content-Type: application/json',
  ]
  const chunked = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`
  for (const request of [
    `${[...head, `Content-Length: ${size}`].join('\r\n')}\r\n\r\n${'x'.repeat(size)}`,
    `${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n${chunked}`,
  ]) {
    for (let attempt = 0; attempt < 3; attempt++) {
      const [answer = '', next = ''] = (
        await sendThenRead(`${request}GET /v1/usage HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      ).split(/(?=HTTP\/1\.1 )/)
      assert.match(answer, /^HTTP\/1\.1 413 [\s\S]*"code":"body_too_large"[\s\S]*}$/)
      assert.match(next, /^HTTP\/1\.1 401 /, 'the connection can be used again')
    }
  }
})

test('a content type other than JSON gets 415', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense']) {
    const refused = await api.request('sandbox', '/v1/entities', {
      method: 'POST',
      key: acme.keys.sandbox,
      rawBody: '{"external_id":"x"}',
      headers: { 'Content-Type': type },
    })
    assert.deepEqual([refused.status, refused.body.error.code], [415, 'unsupported_media_type'], type)
  }
  const charset = await api.request('sandbox', '/v1/entities', {
    method: 'POST',
    key: acme.keys.sandbox,
    rawBody: '{"external_id":"charset"}',
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
  })
  assert.equal(charset.status, 201)
})

test('a compressed body, and one in a charset other than UTF-8, gets 415', async () => {
  const send = (headers: Record<string, string>, rawBody: string | Uint8Array) =>
    api.request('sandbox', '/v1/entities', { method: 'POST', key: acme.keys.sandbox, rawBody, headers })
  const text = '{"external_id":"encoded"}'
  const compressed = await send({ 'Content-Encoding': 'gzip' }, gzipSync(text))
  assert.deepEqual([compressed.status, compressed.body.error.code], [415, 'unsupported_media_type'])
  const latin = await send({ 'Content-Type': 'application/json; charset=iso-8859-1' }, text)
  assert.deepEqual([latin.status, latin.body.error.code], [415, 'unsupported_media_type'])
  assert.equal((await send({ 'Content-Encoding': 'identity' }, text)).status, 201)
})

test('an empty body with a JSON content type is refused only by an endpoint that needs a body', async () => {
  const headers = { 'Content-Type': 'application/json' }
  assert.equal(
    (await api.request('sandbox', '/v1/entities', { method: 'POST', key: acme.keys.sandbox, headers })).body.error
      .message,
    'A JSON body is required.',
  )
  assert.equal((await api.request('sandbox', '/v1/usage', { key: acme.keys.sandbox, headers })).status, 200)
})

test('an endpoint without a body accepts an empty body and an empty object, and nothing else', async () => {
  const headers = { 'Content-Type': 'application/json' }
  for (const rawBody of ['', '{}']) {
    const answer = await api.request('sandbox', '/v1/webhook-test', {
      method: 'POST',
      key: acme.keys.sandbox,
      rawBody,
      headers,
    })
    assert.deepEqual([answer.status, answer.body.endpoints], [202, []], JSON.stringify(rawBody))
  }
  assert.equal((await acme.post('/v1/webhook-test', { surprise: 1 })).status, 400)
})

test('every answer has the rate limit in its headers', async () => {
  const found = await acme.get('/v1/usage')
  assert.match(found.headers.get('ratelimit-policy')!, /^"default";q=\d+;w=\d+$/)
  assert.match(found.headers.get('ratelimit')!, /^"default";r=\d+;t=\d+$/)
})

test('malformed HTTP gets 400 or 431, and the connection is closed', async () => {
  for (const [request, status, code] of [
    ['nonsense\r\n\r\n', '400 Bad Request', 'malformed_request'],
    [
      'GET /v1/usage HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      '400 Bad Request',
      'malformed_request',
    ],
    [`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, '431 Request Header Fields Too Large', 'headers_too_large'],
  ] as const) {
    const answer = await exchange(request)
    assert.equal(answer.split('\r\n')[0], `HTTP/1.1 ${status}`)
    assert.match(answer, /Connection: close/i)
    const { error } = JSON.parse(answer.split('\r\n\r\n')[1]!)
    assert.deepEqual([error.code, error.docs], [code, `docs/reference/error-codes.md#${code}`])
  }
})

test('a request of HTTP/1.1 without the header Host is told so, and one of HTTP/1.0 needs none', async () => {
  const without = (version: string) =>
    exchange(`GET /v1/usage HTTP/${version}\r\nConnection: close\r\nAuthorization: Bearer ${acme.keys.sandbox}\r\n\r\n`)
  const refused = await without('1.1')
  assert.match(refused, /^HTTP\/1\.1 400 /)
  assert.match(
    refused,
    /"code":"malformed_request","message":"The header Host is missing, which HTTP\/1\.1 requires\."/,
  )
  assert.match(await without('1.0'), /^HTTP\/1\.1 200 /)
})

test('a request with two Authorization headers gets 401, whichever of them is valid', async () => {
  const valid = `Authorization: Bearer ${acme.keys.sandbox}`
  for (const second of [valid, 'authorization: Bearer sk_sandbox_other', 'AUTHORIZATION: Basic eDp5']) {
    for (const headers of [
      [valid, second],
      [second, valid],
    ]) {
      const answer = await exchange(
        `GET /v1/usage HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers.join('\r\n')}\r\n\r\n`,
      )
      assert.match(answer, /^HTTP\/1\.1 401 /)
      assert.match(answer, /has 2 Authorization headers/)
    }
  }
})

test('pipelined requests are answered in order, one at a time', async () => {
  const paths = ['/v1/usage', '/nowhere', '/openapi.json', '/v1/usage']
  const requests = paths.map((path, index) =>
    [
      `GET ${path} HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${acme.keys.sandbox}`,
      ...(index === 3 ? ['Connection: close'] : []),
    ].join('\r\n'),
  )
  const answer = await exchange(requests.map((request) => `${request}\r\n\r\n`).join(''))
  assert.deepEqual(
    [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status),
    ['200', '404', '200', '200'],
  )
})

test('a client that pipelines more requests than it may is cut off, and others are answered', async () => {
  const flood = 'GET /v1/usage HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(400)
  const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(flood)))
  for (const answer of answers) assert.ok(answer.split('HTTP/1.1 401').length - 1 <= 33)
  assert.equal((await acme.get('/v1/usage')).status, 200)
})

/** Sends bytes, and reads nothing before all of them were handed to the operating system. */
function sendThenRead(bytes: string): Promise<string> {
  const { hostname, port } = new URL(api.url('sandbox'))
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes, () => socket.resume()))
    socket.pause()
    socket
      .on('data', (data) => (text += data))
      .on('close', () => resolve(text))
      .on('error', () => {}) // Cut off: 'close' follows.
  })
}

/** Sends bytes and collects the answer until the server closes the connection. */
function exchange(bytes: string): Promise<string> {
  const { hostname, port } = new URL(api.url('sandbox'))
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket
      .on('data', (data) => (text += data))
      .on('close', () => resolve(text))
      .on('error', () => {}) // Cut off: 'close' follows.
  })
}
