/** Sessions of the console: who gets one, how it ends, and which requests are refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'owner' })
const HOUR_MS = 3_600_000

test('a person signs in with e-mail and password, sees their organizations, and signs out on the server', async () => {
  const browser = new ConsoleClient(api)
  assert.equal((await browser.call('account/account.show')).status, 401)
  const signedIn = await browser.signIn(' Ada@Example.com ')
  assert.equal(signedIn.status, 200)
  const [cookie] = signedIn.headers.getSetCookie()
  assert.match(cookie!, /^verdigraph=[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Strict$/)
  const me = await browser.call('account/account.show')
  assert.equal(me.body.account.email, 'ada@example.com')
  assert.deepEqual(
    me.body.organizations.map(({ id, role }: { id: string; role: string }) => [id, role]),
    [[acme.id, 'owner']],
  )
  assert.ok(me.body.organizations[0].permissions.includes('manage operators'))

  const stolen = browser.cookie!
  assert.equal((await browser.call('account/sign-in.end')).status, 200)
  assert.equal(browser.cookie, undefined)
  assert.equal((await browser.call('account/account.show', {}, { Cookie: stolen })).status, 401)
  assert.equal((await ada.call('account/account.show')).status, 200, 'another session of the account goes on')
})

test('requests of other sites are refused before anything is read', async () => {
  const foreign: Record<string, string>[] = [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: '' },
    { Origin: `${ada.url}.evil.example` },
    { Origin: ada.url.replace('http:', 'https:') },
    { Origin: 'http://127.0.0.1:1' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
  ]
  for (const headers of foreign) {
    const answer = await ada.call('account/account.show', {}, headers)
    assert.equal(answer.status, 403, JSON.stringify(headers))
    assert.equal(answer.body.error.code, 'cross_site')
  }
  const local = ada.url.replace('127.0.0.1', 'localhost')
  assert.equal((await ada.call('account/account.show', {}, { Origin: local })).status, 200)
  const form = await ada.call('account/account.show', 'a=b', { 'Content-Type': 'application/x-www-form-urlencoded' })
  assert.equal(form.status, 400)
  assert.equal((await ada.call('account/account.show', '{}', { 'Content-Type': 'text/plain' })).status, 400)
})

test('every answer has a request id, is not cached, and says what is wrong', async () => {
  const cases: [string, unknown, number, string][] = [
    ['account/account.show', { unknown: 1 }, 400, 'validation_failed'],
    ['account/account.show', '{', 400, 'malformed'],
    ['account/account.show', { text: 'x'.repeat(70_000) }, 413, 'too_large'],
    ['account/no.such', {}, 404, 'not_found'],
    ['account/toString', {}, 404, 'not_found'],
    ['open/account.show', {}, 404, 'not_found'],
    [`${acme.id}/sandbox/account.show`, {}, 404, 'not_found'],
    ['elsewhere', {}, 404, 'not_found'],
  ]
  for (const [path, input, status, code] of cases) {
    const { status: got, body, headers } = await ada.call(path, input)
    assert.deepEqual([got, body.error.code], [status, code], path)
    assert.match(body.error.request_id, /^req_/)
    assert.equal(headers.get('request-id'), body.error.request_id)
    assert.equal(headers.get('cache-control'), 'no-store')
  }
})

test('a wrong password and an unknown e-mail get the same answer', async () => {
  const browser = new ConsoleClient(api)
  const wrong = await browser.signIn('ada@example.com', 'not the password')
  const unknown = await browser.signIn('unknown-person@example.com', 'not the password')
  for (const { status, body } of [wrong, unknown]) {
    assert.equal(status, 401)
    assert.equal(body.error.message, 'The e-mail or the password is not right.')
  }
  assert.equal(browser.cookie, undefined)
  assert.equal((await browser.signIn('ada@example.com')).status, 200, 'a success forgets the failure')
})

test('five failures lock an e-mail, known or not, also at the same moment; the lock ends and is on the audit log', async () => {
  const eve = await signedInOperator(api, { organizationId: acme.id, email: 'eve@example.com', role: 'viewer' })
  for (const email of ['eve@example.com', 'unknown@example.com']) {
    const guesses = await Promise.all(Array.from({ length: 12 }, () => new ConsoleClient(api).signIn(email, 'guess')))
    assert.equal(guesses.filter(({ status }) => status === 401).length, 5, email)
    assert.equal(guesses.filter(({ status }) => status === 429).length, 7, email)
    const locked = await new ConsoleClient(api).signIn(email)
    assert.deepEqual([locked.status, locked.body.error.code], [429, 'throttled'])
    assert.match(locked.body.error.message, /refused for a minute/)
  }
  assert.equal((await eve.call('account/account.show')).status, 200, 'the open session goes on')
  const trail = { organizationId: acme.id, trailId: eve.operatorId, beforeSeq: undefined, limit: 100 }
  const entries = await api.service.installation.stores.production.auditLog.trail(trail)
  const lock = entries.find(({ type }) => type === 'operator.sign_in_locked')
  assert.deepEqual(JSON.parse(lock!.data), { failures: 5, locked_until: new Date(nowMs + 60_000).toISOString() })
  nowMs += 60_001
  assert.equal((await new ConsoleClient(api).signIn('eve@example.com', 'guess')).status, 401)
  nowMs += 60_001
  assert.equal((await new ConsoleClient(api).signIn('eve@example.com')).status, 429, 'each further failure doubles it')
  nowMs += 60_001
  assert.equal((await new ConsoleClient(api).signIn('eve@example.com', PASSWORD)).status, 200)
})

test('an address that guesses at many accounts is locked', async () => {
  nowMs += 2 * HOUR_MS
  const guess = (name: number) => new ConsoleClient(api).signIn(`guess-${name}@example.com`, 'guess')
  const guesses = await Promise.all(Array.from({ length: 40 }, (_, index) => guess(index)))
  assert.equal(guesses.filter(({ status }) => status === 401).length, 30)
  const { control } = api.service.installation.storage
  const counted = await control.query(
    "SELECT subject FROM sign_in_failures WHERE subject LIKE 'email %' AND last_at = $1",
    [new Date(nowMs).toISOString()],
  )
  assert.equal(counted.length, 30, 'a locked address adds no rows')
  assert.equal((await new ConsoleClient(api).signIn('ada@example.com')).status, 429)
  nowMs += 60_001
  assert.equal((await new ConsoleClient(api).signIn('ada@example.com')).status, 200)
})

test('a planted cookie does not become a session, and signing in again ends the earlier session', async () => {
  const browser = new ConsoleClient(api)
  const planted = `verdigraph=${'A'.repeat(43)}`
  browser.cookie = planted
  assert.equal((await browser.call('account/account.show')).status, 401)
  await browser.signIn('ada@example.com')
  const first = browser.cookie!
  assert.notEqual(first, planted)
  assert.equal((await browser.call('account/account.show', {}, { Cookie: planted })).status, 401)
  await browser.signIn('ada@example.com')
  assert.equal((await browser.call('account/account.show', {}, { Cookie: first })).status, 401)
  assert.equal((await browser.call('account/account.show')).status, 200)
})

test('a session ends after twelve hours without a request, and after fourteen days in any case', async () => {
  const idle = new ConsoleClient(api)
  await idle.signIn('ada@example.com')
  nowMs += 12 * HOUR_MS - 60_000
  assert.equal((await idle.call('account/account.show')).status, 200)
  nowMs += 12 * HOUR_MS - 60_000
  assert.equal((await idle.call('account/account.show')).status, 200, 'a request extends it')
  nowMs += 12 * HOUR_MS
  assert.equal((await idle.call('account/account.show')).status, 401)

  const busy = new ConsoleClient(api)
  await busy.signIn('ada@example.com')
  for (let hours = 0; hours + 11 < 14 * 24; hours += 11) {
    nowMs += 11 * HOUR_MS
    assert.equal((await busy.call('account/account.show')).status, 200)
  }
  nowMs += 11 * HOUR_MS
  assert.equal((await busy.call('account/account.show')).status, 401)
})

test('the database holds neither the token of a session nor a password', async () => {
  const browser = new ConsoleClient(api)
  await browser.signIn('ada@example.com')
  const { control } = api.service.installation.storage
  const rows = JSON.stringify([
    await control.query('SELECT * FROM sessions'),
    await control.query('SELECT * FROM accounts'),
  ])
  assert.ok(rows.includes('argon2id'))
  assert.ok(!rows.includes(browser.cookie!.split('=')[1]!) && !rows.includes(PASSWORD))
})

test('text that cannot be stored, reserved names and impossible years are refused, not an error of the service', async () => {
  const { id: organizationId } = await api.newOrganization()
  const uma = await signedInOperator(api, { organizationId, email: 'uma@example.com', role: 'owner' })
  for (const text of ['a\\u0000b', 'a\\ud800b'])
    for (const [path, input] of [
      ['open/sign-in.give-password', `{"email":"${text}","password":"x"}`],
      ['open/invitation.show', `{"token":"${text}"}`],
      ['account/account.rename', `{"name":"${text}"}`],
      [`${organizationId}/production/usage.show`, `{"from":"2026-01-01","to":"2026-01-02","key":"${text}"}`],
    ] as const) {
      const refused = await uma.call(path, input)
      assert.deepEqual([refused.status, refused.body.error.code], [400, 'malformed'], path)
    }
  assert.equal((await uma.call('a%00b/production/usage.show', {})).status, 400)
  const years = { from: '0000-01-01', to: '0000-01-02' }
  const usage = await uma.call(`${organizationId}/production/usage.show`, years)
  assert.deepEqual([usage.status, usage.body.error.code], [400, 'validation_failed'])
})
