/** How the API speaks HTTP: status codes, headers, methods and bodies that no endpoint handles itself. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { idPattern } from '../src/core/id-format.ts'
import { routes } from '../src/http/routes.ts'
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
  const { hostname, port } = new URL(api.url('sandbox'))
  for (const [request, status] of [
    ['nonsense\r\n\r\n', '400 Bad Request'],
    ['GET /v1/usage HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n', '400 Bad Request'],
    [`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, '431 Request Header Fields Too Large'],
  ] as const) {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(Number(port), hostname, () => socket.write(request))
      socket
        .on('data', (data) => (text += data))
        .on('end', () => resolve(text))
        .on('error', reject)
    })
    assert.equal(answer.split('\r\n')[0], `HTTP/1.1 ${status}`)
    assert.match(answer, /Connection: close/i)
  }
})
