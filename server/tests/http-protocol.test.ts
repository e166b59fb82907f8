import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { routes } from '../src/http/routes.ts'
import { idPattern } from '../src/ids/ids.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()

test('every answer carries a request id, which an error repeats', async () => {
  const found = await acme.get('/v1/usage')
  assert.match(found.headers.get('request-id')!, new RegExp(idPattern('req')))
  for (const path of ['/v1/entities/ent_x', '/nowhere', '/%zz']) {
    const refused = await acme.get(path)
    assert.equal(refused.status, 404)
    assert.equal(refused.body.error.request_id, refused.headers.get('request-id'))
  }
})

test('a wrong method on a known path is a 405 that lists the right ones', async () => {
  for (const endpoint of routes) {
    const path = endpoint.path.replace(/\{\w+\}/g, 'x')
    const refused = await api.request('sandbox', path, { method: 'DELETE', key: acme.keys.sandbox })
    assert.deepEqual([refused.status, refused.body.error.code], [405, 'method_not_allowed'], path)
    assert.ok(refused.headers.get('allow')!.split(', ').includes(endpoint.method))
  }
  assert.equal((await api.request('sandbox', '/openapi.json', { method: 'POST' })).status, 405)
  assert.equal((await api.request('sandbox', '/v1/usage', { method: 'HEAD', key: acme.keys.sandbox })).status, 200)
})

test('a body over 1 MiB is a 413, one under it is read', async () => {
  const body = { external_id: 'large', metadata: { k: 'x'.repeat(1024 * 1024) } }
  const refused = await acme.post('/v1/entities', body)
  assert.deepEqual([refused.status, refused.body.error.code], [413, 'body_too_large'])
  assert.equal((await acme.post('/v1/entities', { ...body, metadata: { k: 'x'.repeat(1024 * 1000) } })).status, 400)
})

test('a body that is not JSON is a 415, whatever it holds', async () => {
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

test('an empty JSON body is legal, and refused only where a body is needed', async () => {
  const headers = { 'Content-Type': 'application/json' }
  assert.equal(
    (await api.request('sandbox', '/v1/entities', { method: 'POST', key: acme.keys.sandbox, headers })).body.error
      .message,
    'A JSON body is required.',
  )
  assert.equal((await api.request('sandbox', '/v1/usage', { key: acme.keys.sandbox, headers })).status, 200)
})

test('a request that takes no body may come with an empty one, in any form', async () => {
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

test('the rate limit is told with every answer', async () => {
  const found = await acme.get('/v1/usage')
  assert.match(found.headers.get('ratelimit-policy')!, /^"default";q=\d+;w=\d+$/)
  assert.match(found.headers.get('ratelimit')!, /^"default";r=\d+;t=\d+$/)
})

test('HTTP that cannot be read is refused and the connection closed', async () => {
  const { hostname, port } = new URL(api.url('sandbox'))
  for (const request of [
    'nonsense\r\n\r\n',
    'GET /v1/usage HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
    `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  ]) {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(Number(port), hostname, () => socket.write(request))
      socket
        .on('data', (data) => (text += data))
        .on('end', () => resolve(text))
        .on('error', reject)
    })
    assert.match(answer, /^HTTP\/1\.1 4\d\d /)
    assert.match(answer, /Connection: close/i)
  }
})

test('the log has one JSON line for each request, with its id and without its secrets', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'logged-external-id' })
  const answer = await acme.post(`/v1/entities/${entity.id}/identity-links`, {
    identifier: { type: 'phone', value: '+491701234567' },
    verification: { status: 'verified' },
  })
  const line = api.logs
    .map((text) => JSON.parse(text))
    .find(({ request_id }) => request_id === answer.headers.get('request-id'))
  assert.equal(line.status, 201)
  assert.equal(line.route, '/v1/entities/:entity_id/identity-links')
  const everything = api.logs.join('')
  for (const secret of [acme.keys.sandbox, '+491701234567', 'logged-external-id'])
    assert.ok(!everything.includes(secret))
})

test('the console port says whether the process and its databases are well', async () => {
  const get = async (path: string) => fetch(api.service.urls.console + path)
  assert.equal((await get('/healthz')).status, 200)
  assert.deepEqual(await (await get('/readyz')).json(), { status: 'ready' })
  assert.match(
    await (await get('/metrics')).text(),
    /verdigraph_http_requests_total\{environment="sandbox",method="POST",route="\/v1\/entities",status="201"\} \d+/,
  )
  assert.match(await (await get('/')).text(), /<title>Verdigraph<\/title>/)
})
