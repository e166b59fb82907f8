/** What the console reads of a request, and before which checks: one process serves all three ports. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { ConsoleClient, signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization('Acme')
const viewer = await signedInOperator(api, { organizationId: acme.id, email: 'vic@example.com', role: 'viewer' })
const stranger = new ConsoleClient(api)

/** The status of the answer to a request whose body is announced and never sent. */
function statusWithoutBody(path: string, cookie?: string): Promise<number> {
  const { hostname, port, origin } = new URL(stranger.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', reject)
    socket.once('data', (bytes) => {
      socket.destroy()
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(bytes))?.[1]))
    })
    const headers = [`Origin: ${origin}`, 'Content-Type: application/json', 'Content-Length: 50000']
    if (cookie) headers.push(`Cookie: ${cookie}`)
    socket.write(`POST /api/${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${headers.join('\r\n')}\r\n\r\n`)
  })
}

test('a caller without a session, a foreign operator and a role without the permission are answered before the body', async () => {
  assert.equal(await statusWithoutBody('account/account.show'), 401)
  assert.equal(await statusWithoutBody(`${acme.id}/sandbox/policies.check`), 401)
  assert.equal(await statusWithoutBody('open/no.such'), 404)
  assert.equal(await statusWithoutBody('org_unknown/sandbox/policies.check', viewer.cookie), 404)
  assert.equal(await statusWithoutBody(`${acme.id}/sandbox/api-keys.create`, viewer.cookie), 403)
})

test('the console bounds bodies as the API does, before it parses them', async () => {
  const nested = (brackets: number) => '['.repeat(brackets) + ']'.repeat(brackets)
  const cases: [string, RegExp][] = [
    [nested(32_000), /nested more than 32 levels/],
    [`{"email":${nested(30_000)},"password":"x"}`, /nested more than 32 levels/],
    [`[${'1,'.repeat(30_000)}1]`, /more than 16000 values/],
    [`{${Array.from({ length: 1_001 }, (_, n) => `"a${n}":1`).join()}}`, /more than 1000 fields/],
    ['{"email":"a@example.com","email":"b@example.com","password":"x"}', /email is there twice/],
    ['{"__proto__":{"email":"a@example.com"},"password":"x"}', /__proto__ cannot be used/],
    ['{"email":"a\\u0000b@example.com","password":"x"}', /NUL characters/],
    ['{"email"', /not valid JSON/],
  ]
  for (const [body, message] of cases) {
    const answer = await stranger.call('open/sign-in.give-password', body)
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'malformed'], body.slice(0, 60))
    assert.match(answer.body.error.message, message)
  }
  const operators = await viewer.call(`${acme.id}/sandbox/decisions.list`, nested(250_000))
  assert.match(operators.body.error.message, /nested more than 32 levels/)
  const compressed = await stranger.call('open/sign-in.give-password', '{}', { 'Content-Encoding': 'gzip' })
  assert.match(compressed.body.error.message, /compressed or not in UTF-8/)
})
