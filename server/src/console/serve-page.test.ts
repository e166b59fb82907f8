import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import Fastify from 'fastify'
import { readConfig } from '../config.ts'
import { addPage } from './serve-page.ts'

const folder = mkdtempSync(join(tmpdir(), 'verdigraph-page-'))
after(() => rmSync(folder, { recursive: true, force: true }))
mkdirSync(join(folder, 'dist/assets'), { recursive: true })
writeFileSync(join(folder, 'dist/fingerprint'), 'any')
writeFileSync(join(folder, 'dist/index.html'), '<script nonce="NONCE-OF-THIS-REQUEST"></script>')
writeFileSync(join(folder, 'dist/assets/index-abc.js'), 'console.log(1)')
writeFileSync(join(folder, 'secret.js'), 'secret')

function newServer(env: Record<string, string> = {}) {
  const app = Fastify()
  addPage(app, { config: readConfig(env), logger: app.log, builds: false, folder })
  app.get('/healthz', () => ({ status: 'ok' }))
  return app
}

test('a document carries a new nonce in its tags and its policy, and is never stored', async () => {
  const app = newServer()
  const nonces = new Set<string>()
  for (const url of ['/', '/org_1/sandbox/webhooks?state=failed']) {
    const { statusCode, headers, body } = await app.inject({ url })
    assert.equal(statusCode, 200)
    const nonce = /<script nonce="([^"]+)">/.exec(body)![1]!
    assert.ok(String(headers['content-security-policy']).includes(`script-src 'self' 'nonce-${nonce}'`))
    assert.doesNotMatch(String(headers['content-security-policy']), /unsafe/)
    assert.equal(headers['cache-control'], 'no-store')
    nonces.add(nonce)
  }
  assert.equal(nonces.size, 2)
})

test('assets are kept by browsers for a year, and are compressed where the client takes it', async () => {
  const app = newServer()
  const plain = await app.inject({ url: '/assets/index-abc.js' })
  assert.equal(plain.body, 'console.log(1)')
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
  const zipped = await app.inject({ url: '/assets/index-abc.js', headers: { 'accept-encoding': 'br, gzip' } })
  assert.equal(zipped.headers['content-encoding'], 'gzip')
})

test('no path leads out of the page, and a missing script is not answered by a document', async () => {
  const app = newServer()
  for (const url of ['/assets/../../secret.js', '/assets/%2e%2e/%2e%2e/secret.js', '/assets/gone.js', '/fingerprint'])
    assert.doesNotMatch((await app.inject({ url })).body, /secret$|any$/, url)
  assert.equal((await app.inject({ url: '/assets/gone.js' })).statusCode, 404)
})

test('other routes and methods are untouched', async () => {
  const app = newServer()
  assert.deepEqual((await app.inject({ url: '/healthz' })).json(), { status: 'ok' })
  assert.equal((await app.inject({ method: 'POST', url: '/anything' })).statusCode, 404)
})

test('browsers are told to stay on https only where the console is reached by https', async () => {
  const plain = await newServer().inject({ url: '/' })
  assert.equal(plain.headers['strict-transport-security'], undefined)
  const secure = await newServer({ CONSOLE_BASE_URL: 'https://console.example' }).inject({ url: '/' })
  assert.equal(secure.headers['strict-transport-security'], 'max-age=31536000')
})
