/** What single sign-on refuses although the identity provider, or the network before it, says so. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listOperators } from '../src/store/control/operators.ts'
import { foreignSignature, type Lies, signedWith, startForgingProvider } from './forging-provider.ts'
import { freePorts } from './service-process.ts'
import { startTestService } from './test-service.ts'

const port = (await freePorts()).console
const base = `http://127.0.0.1:${port}`
const provider = await startForgingProvider()
after(() => provider.close())
let clockAheadMs = 0
const api = await startTestService({
  nowMs: () => Date.now() + clockAheadMs,
  env: {
    CONSOLE_PORT: String(port),
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_ROLES: 'staff=viewer',
    OIDC_ORGANIZATION: 'Single sign-on',
  },
})
const { installation } = api.service
const { id: organizationId } = await api.newOrganization('Single sign-on')

/** Begins to sign in; what the browser holds when the provider sends it back. */
async function begin(): Promise<{ url: string; cookie: string }> {
  const begun = await fetch(`${base}/api/oidc/start`, { redirect: 'manual' })
  const [cookie] = begun.headers.getSetCookie()
  const sent = await fetch(begun.headers.get('location')!, { redirect: 'manual' })
  return { url: sent.headers.get('location')!, cookie: cookie!.split(';', 1)[0]! }
}

async function finish({ url, cookie }: { url: string; cookie: string }) {
  const response = await fetch(url, { redirect: 'manual', headers: { Cookie: cookie } })
  const hasSession = response.headers.getSetCookie().some((text) => /^verdigraph=./.test(text))
  return { status: response.status, hasSession, text: await response.text() }
}

async function signIn(lies: Lies = {}) {
  provider.lies = lies
  // Failures of a network are forgotten after an hour.
  clockAheadMs += 61 * 60_000
  return finish(await begin())
}

const emails = async () => (await listOperators(installation.storage.control, organizationId)).map(({ email }) => email)

const refusal = () =>
  api.logs
    .map((line) => JSON.parse(line) as { msg: string; err?: unknown })
    .findLast(({ msg }) => msg === 'sign-in through the provider refused')

const future = () => Math.floor((Date.now() + clockAheadMs) / 1_000) + 3_600 * 2

test('an honest ID token signs a person in', async () => {
  assert.deepEqual(await signIn().then(({ status, hasSession }) => [status, hasSession]), [200, true])
  assert.equal((await signIn({ claims: { at_hash: undefined } })).status, 200, 'at_hash is optional in this flow')
})

test('an ID token that the provider did not sign is refused', async () => {
  const refused: [string, Lies, RegExp][] = [
    ['another key', { signature: foreignSignature() }, /signature/],
    ['no signature', { header: { alg: 'none' }, signature: () => '' }, /alg/],
    ['the client secret', { header: { alg: 'HS256' }, signature: signedWith(provider.clientSecret) }, /alg/],
    ['other claims', { claims: { sub: 'owner' }, signature: () => 'AAAA', userInfo: { sub: 'owner' } }, /signature/],
    ['an unknown key', { header: { kid: 'unknown' }, signature: foreignSignature() }, /key|signature/],
  ]
  for (const [name, lies, why] of refused) {
    const { status, hasSession } = await signIn(lies)
    assert.deepEqual([status, hasSession], [401, false], name)
    assert.match(JSON.stringify(refusal()), why, name)
  }
})

test('an ID token of another client, issuer, sign-in, person, access token or time is refused', async () => {
  const pastSeconds = Math.floor(Date.now() / 1_000) - 3_600
  const refused: [string, () => Lies, RegExp][] = [
    ['another access token', () => ({ claims: { at_hash: 'x'.repeat(22) } }), /at_hash/],
    ['a hash that is no text', () => ({ claims: { at_hash: 7 } }), /at_hash/],
    ['the future', () => ({ claims: { iat: future(), exp: future() + 300 } }), /iat/],
    ['the past', () => ({ claims: { exp: pastSeconds } }), /exp/],
    ['another client', () => ({ claims: { aud: 'another' } }), /aud/],
    ['several clients', () => ({ claims: { aud: ['verdigraph', 'another'] } }), /aud/],
    ['another issuer', () => ({ claims: { iss: 'https://login.example.com' } }), /iss/],
    ['another sign-in', () => ({ claims: { nonce: 'another' } }), /nonce/],
    ['another person than the access token', () => ({ userInfo: { sub: 'another' } }), /sub/],
  ]
  for (const [name, lies, why] of refused) {
    const { status, hasSession } = await signIn(lies())
    assert.deepEqual([status, hasSession], [401, false], name)
    assert.match(JSON.stringify(refusal()), why, name)
  }
})

test('a callback serves once, also at the same moment and although the provider takes its code again', async () => {
  provider.lies = {}
  const one = await begin()
  assert.equal((await finish(one)).status, 200)
  const again = await finish(one)
  assert.deepEqual([again.status, again.hasSession], [400, false])
  assert.match(again.text, /used already/)
  const other = await begin()
  const both = await Promise.all([finish(other), finish(other), finish(other)])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400, 400])
  const failed = await begin()
  provider.lies = { signature: foreignSignature() }
  assert.equal((await finish(failed)).status, 401)
  provider.lies = {}
  assert.equal((await finish(failed)).status, 400, 'a failed callback is used up too')
})

test('callbacks that fail are throttled by network, so that strangers fill no table', async () => {
  clockAheadMs += 61 * 60_000
  provider.lies = { signature: foreignSignature() }
  const statuses: number[] = []
  for (let tries = 0; tries < 32; tries++) statuses.push((await finish(await begin())).status)
  assert.deepEqual([statuses.slice(0, 30).every((status) => status === 401), statuses.slice(30)], [true, [429, 429]])
})

test('an e-mail counts as verified only where the same answer of the provider says so', async () => {
  const mixed = await signIn({
    claims: { sub: 'mixed', email: 'mixed@example.com', email_verified: true },
    userInfo: { sub: 'mixed', email: 'owner@example.com' },
  })
  assert.equal(mixed.status, 200)
  assert.ok(!(await emails()).includes('owner@example.com'))
  assert.ok((await emails()).includes('mixed@example.com'))
})

const HOSTILE_EMAILS = [
  'eve@example.com\nBcc: all@example.com',
  '<img src=x onerror=alert(1)>@example.com',
  'оwner@example.com', // Cyrillic о
  'owner@exam\u200bple.com',
  'an\u212Aa@example.com',
  'owner@example.com, eve@example.com',
]
test('an e-mail that is no plain address makes no operator, and the person is told', async () => {
  const before = await emails()
  for (const [index, email] of HOSTILE_EMAILS.entries()) {
    const sub = `hostile-${index}`
    const answer = await signIn({ claims: { sub, email }, userInfo: { sub } })
    assert.deepEqual([answer.status, answer.hasSession], [403, false], email)
    assert.match(answer.text, /e-mail address that this console does not accept/)
    assert.doesNotMatch(answer.text, /<img/)
  }
  assert.deepEqual(await emails(), before)
})

test('a name that people could take for another is replaced by the e-mail', async () => {
  for (const [index, name] of ['Olga\nOwner', '<b>Olga</b>', 'Оlga Owner', 'Olga\u202e'].entries()) {
    const sub = `named-${index}`
    const claims = { sub, email: `${sub}@example.com`, name }
    assert.equal((await signIn({ claims, userInfo: { sub } })).status, 200)
    const operators = await listOperators(installation.storage.control, organizationId)
    assert.equal(operators.find(({ email }) => email === `${sub}@example.com`)!.name, `${sub}@example.com`)
  }
})

test('a key that the provider changed to is used', async () => {
  provider.rotateKey()
  assert.equal((await signIn()).status, 200)
})
