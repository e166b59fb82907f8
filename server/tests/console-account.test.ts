/** What a person does with their account: password, two-factor, passkeys, sessions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listPasskeys } from '../src/store/control/passkeys.ts'
import { Authenticator } from './authenticator.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { addPasskeyRow, rewriteRow } from './people.ts'
import { startTestService } from './test-service.ts'

let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization('Acme')
const { installation } = api.service
const person = (email: string) => signedInOperator(api, { organizationId: acme.id, email, role: 'reviewer' })

async function entriesOf(operatorId: string): Promise<[string, unknown][]> {
  const trail = { organizationId: acme.id, trailId: operatorId, beforeSeq: undefined, limit: 100 }
  const entries = await installation.stores.production.auditLog.trail(trail)
  return entries.reverse().map(({ type, data }) => [type, JSON.parse(data)])
}

/** Turns two-factor on, and returns the authenticator app and the recovery codes. */
async function enable(browser: ConsoleClient) {
  const begun = await browser.call('account/two-factor.begin', { password: PASSWORD })
  assert.equal(begun.status, 200, JSON.stringify(begun.body))
  const app = new Authenticator(begun.body.secret)
  const confirmed = await browser.call('account/two-factor.confirm', { code: app.next(nowMs) })
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  return { app, recoveryCodes: confirmed.body.recovery_codes as string[] }
}

test('changing the password takes the current one, refuses weak ones, and ends the other sessions', async () => {
  const ada = await person('ada@example.com')
  const other = new ConsoleClient(api)
  await other.signIn('ada@example.com')
  const change = (current_password: string, new_password: string) =>
    ada.call('account/account.change-password', { current_password, new_password })
  const wrong = await change('not the password', 'another green ledger 43')
  assert.match(wrong.body.error.message, /not your password/)
  assert.match((await change(PASSWORD, 'Password1234')).body.error.message, /attackers/)
  assert.equal((await other.call('account/account.show')).status, 200)
  assert.deepEqual((await change(PASSWORD, 'another green ledger 43')).body, { sessions_ended: 1 })
  assert.equal((await other.call('account/account.show')).status, 401)
  assert.equal((await ada.call('account/account.show')).status, 200)
  assert.equal((await new ConsoleClient(api).signIn('ada@example.com')).status, 401)
  assert.equal((await new ConsoleClient(api).signIn('ada@example.com', 'another green ledger 43')).status, 200)
  assert.ok(
    (await entriesOf(ada.operatorId)).some(([type, data]) => {
      return type === 'operator.password_changed' && (data as { sessions_ended: number }).sessions_ended === 1
    }),
  )
})

test('the notation of numbers is kept with the account, and each change is on the audit log', async () => {
  const nora = await person('nora@example.com')
  const notation = async () => (await nora.call('account/account.show')).body.account.number_notation
  const choose = (next: string | null) => nora.call('account/account.set-number-notation', { notation: next })
  assert.equal(await notation(), null, 'by the locale of the browser')
  assert.equal((await choose('roman')).status, 400)
  assert.equal((await choose('point_comma')).status, 200)
  assert.equal((await choose('point_comma')).status, 200, 'the same again changes nothing')
  assert.equal(await notation(), 'point_comma')
  assert.equal((await choose(null)).status, 200)
  assert.equal(await notation(), null)
  const changes = (await entriesOf(nora.operatorId)).filter(([type]) => type === 'operator.number_notation_changed')
  assert.deepEqual(
    changes.map(([, data]) => data),
    [
      { from: null, to: 'point_comma' },
      { from: 'point_comma', to: null },
    ],
  )
})

test('wrong current passwords lock the session that sends them, so that an open browser cannot be used to guess', async () => {
  const eve = await person('eve@example.com')
  const guess = () => eve.call('account/account.change-password', { current_password: 'guess', new_password: 'x' })
  for (let tries = 0; tries < 5; tries++) assert.equal((await guess()).status, 401)
  assert.equal((await guess()).status, 429)
  const right = { current_password: PASSWORD, new_password: 'another green ledger 43' }
  assert.equal((await eve.call('account/account.change-password', right)).status, 429)
  const elsewhere = new ConsoleClient(api)
  assert.equal((await elsewhere.signIn('eve@example.com')).status, 200, 'her sign-in goes on elsewhere')
  assert.equal((await elsewhere.call('account/account.change-password', right)).status, 200)
  assert.ok((await entriesOf(eve.operatorId)).some(([type]) => type === 'operator.sign_in_locked'))
})

test('with two-factor a password alone does not sign in; each code works once', async () => {
  const bob = await person('bob@example.com')
  assert.match((await bob.call('account/two-factor.begin')).body.error.message, /Enter your password/)
  const { app } = await enable(bob)
  nowMs += 60_000
  const browser = new ConsoleClient(api)
  const first = await browser.signIn('bob@example.com')
  assert.equal(first.body.code_needed, true)
  assert.equal(browser.cookie, undefined)
  assert.equal((await browser.call('account/account.show')).status, 401)
  const { challenge } = first.body
  const give = (code: string, token = challenge) => browser.call('open/sign-in.give-code', { challenge: token, code })
  assert.equal((await give('000000')).status, 401)
  assert.equal((await give(app.next(nowMs), 'A'.repeat(43))).status, 401, 'another challenge')
  const code = app.next(nowMs)
  const [one, two] = await Promise.all([give(code), give(code)])
  assert.deepEqual([one.status, two.status].sort(), [200, 401], 'at the same moment, a code works once')
  assert.equal((await browser.call('account/account.show')).status, 200)
  assert.equal((await give(code)).status, 401, 'the challenge has ended')

  const replay = new ConsoleClient(api)
  const again = await replay.signIn('bob@example.com')
  const replayed = await replay.call('open/sign-in.give-code', { challenge: again.body.challenge, code })
  assert.deepEqual([replayed.status, replay.cookie], [401, undefined])
  nowMs += 10 * 60_000
  const late = await replay.call('open/sign-in.give-code', { challenge: again.body.challenge, code: app.next(nowMs) })
  assert.deepEqual([late.status, late.body.error.code], [401, 'challenge_ended'])
  const methods = (await entriesOf(bob.operatorId)).flatMap(([type, data]) =>
    type === 'operator.signed_in' ? [(data as { method: string }).method] : [],
  )
  assert.deepEqual(methods, ['password', 'password_and_code'])
})

test('guessing codes locks the e-mail, although the password is right', async () => {
  const carl = await person('carl@example.com')
  const { app } = await enable(carl)
  nowMs += 60_000
  const browser = new ConsoleClient(api)
  const { challenge } = (await browser.signIn('carl@example.com')).body
  const statuses: number[] = []
  for (let tries = 0; tries < 6; tries++)
    statuses.push((await browser.call('open/sign-in.give-code', { challenge, code: '000000' })).status)
  assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429])
  const right = await browser.call('open/sign-in.give-code', { challenge, code: app.next(nowMs) })
  assert.equal(right.status, 429)
})

test('confirming the password in an open session gives no more tries for codes', async () => {
  nowMs += 61 * 60_000 // the failures of this address are forgotten
  const kit = await person('kit@example.com')
  await enable(kit)
  nowMs += 60_000
  const browser = new ConsoleClient(api)
  const { challenge } = (await browser.signIn('kit@example.com')).body
  const guess = async () => (await browser.call('open/sign-in.give-code', { challenge, code: '000000' })).status
  assert.deepEqual([await guess(), await guess(), await guess()], [401, 401, 401])
  const confirmed = await kit.call('account/two-factor.begin', { password: PASSWORD })
  assert.match(confirmed.body.error.message, /on already/)
  assert.deepEqual([await guess(), await guess()], [401, 429])

  const inSession = async () => (await kit.call('account/two-factor.end', { code: '000000' })).status
  assert.deepEqual([await inSession(), await inSession(), await inSession()], [401, 401, 401])
  await kit.call('account/two-factor.begin', { password: PASSWORD })
  assert.deepEqual([await inSession(), await inSession(), await inSession()], [401, 401, 429])
})

test('a sign-in that the old password began does not survive its change', async () => {
  const lou = await person('lou@example.com')
  const { app } = await enable(lou)
  nowMs += 60_000
  const thief = new ConsoleClient(api)
  const { challenge } = (await thief.signIn('lou@example.com')).body
  const passwords = { current_password: PASSWORD, new_password: 'another green ledger 43' }
  assert.equal((await lou.call('account/account.change-password', passwords)).status, 200)
  const late = await thief.call('open/sign-in.give-code', { challenge, code: app.next(nowMs) })
  assert.deepEqual([late.status, late.body.error.code], [401, 'challenge_ended'])
})

test('a recovery code stands in for the app once; new ones replace the old; turning two-factor off takes a code', async () => {
  const dan = await person('dan@example.com')
  const { app, recoveryCodes } = await enable(dan)
  assert.equal(new Set(recoveryCodes).size, 10)
  nowMs += 60_000
  const signIn = async (code: string) => {
    const browser = new ConsoleClient(api)
    const { challenge } = (await browser.signIn('dan@example.com')).body
    return (await browser.call('open/sign-in.give-code', { challenge, code })).status
  }
  assert.equal(await signIn(recoveryCodes[0]!.toUpperCase().replace('-', ' ')), 200)
  assert.equal(await signIn(recoveryCodes[0]!), 401)
  assert.equal((await dan.call('account/account.show-security')).body.two_factor.recovery_codes_left, 9)
  nowMs += 61 * 60_000 // the failed sign-in is forgotten
  const renewed = await dan.call('account/two-factor.renew-recovery-codes', { code: app.next(nowMs) })
  assert.equal(await signIn(recoveryCodes[1]!), 401)
  assert.equal(await signIn(renewed.body.recovery_codes[1]), 200)
  assert.equal((await dan.call('account/two-factor.end', { code: '000000' })).status, 401)
  assert.equal((await dan.call('account/two-factor.end', { code: app.next(nowMs) })).status, 200)
  assert.equal((await new ConsoleClient(api).signIn('dan@example.com')).body.code_needed, false)
  const types = (await entriesOf(dan.operatorId)).map(([type]) => type)
  for (const type of ['two_factor_enabled', 'recovery_code_used', 'recovery_codes_replaced', 'two_factor_disabled'])
    assert.ok(types.includes(`operator.${type}`), type)
})

test('the secrets of two-factor are stored encrypted or hashed', async () => {
  const fay = await person('fay@example.com')
  const begun = await fay.call('account/two-factor.begin', { password: PASSWORD })
  const app = new Authenticator(begun.body.secret)
  const confirmed = await fay.call('account/two-factor.confirm', { code: app.next(nowMs) })
  const { control } = installation.storage
  const rows = JSON.stringify([
    await control.query('SELECT * FROM account_codes'),
    await control.query('SELECT * FROM recovery_codes'),
  ])
  assert.ok(rows.includes(fay.accountId))
  for (const secret of [begun.body.secret, ...confirmed.body.recovery_codes])
    assert.ok(!rows.includes(secret) && !rows.includes(secret.replace('-', '')))
  const again = await fay.call('account/two-factor.begin', { password: PASSWORD })
  assert.match(again.body.error.message, /on already/)
})

test('a person sees and ends their own sessions only', async () => {
  const gil = await person('gil@example.com')
  const phone = new ConsoleClient(api)
  const userAgent =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1'
  await phone.call(
    'open/sign-in.give-password',
    { email: 'gil@example.com', password: PASSWORD },
    { 'User-Agent': userAgent },
  )
  const { sessions } = (await gil.call('account/account.list-sessions')).body
  assert.deepEqual(
    sessions.map((session: Record<string, unknown>) => [session.device, session.is_this_one, session.address]),
    [
      ['Safari on iPhone', false, '127.0.0.1'],
      ['Another program', true, '127.0.0.1'],
    ],
  )
  const hal = await person('hal@example.com')
  const foreign = await hal.call('account/account.end-session', { session_id: sessions[0].id })
  assert.equal(foreign.status, 404)
  assert.equal((await phone.call('account/account.show')).status, 200)
  assert.equal((await gil.call('account/account.end-session', { session_id: sessions[0].id })).status, 200)
  assert.equal((await phone.call('account/account.show')).status, 401)
  await phone.signIn('gil@example.com')
  assert.deepEqual((await gil.call('account/account.end-other-sessions')).body, { ended: 1 })
  assert.equal((await phone.call('account/account.show')).status, 401)
  const own = (await gil.call('account/account.show')).body.session_id
  assert.equal((await gil.call('account/account.end-session', { session_id: own })).status, 200)
  assert.equal(gil.cookie, undefined)
})

test('on an IP address the console says why passkeys are impossible; a forged answer of a passkey is refused', async () => {
  const ida = await person('ida@example.com')
  const { body } = await ida.call('account/account.show-security')
  assert.match(body.passkeys_impossible, /Open http:\/\/localhost:\d+ to use them/)
  assert.equal((await ida.call('account/passkeys.begin', { password: PASSWORD })).status, 400)
  const local = { Origin: ida.url.replace('127.0.0.1', 'localhost') }
  assert.equal((await ida.call('account/account.show-security', {}, local)).body.passkeys_impossible, null)
  const begun = await ida.call('account/passkeys.begin', { password: PASSWORD }, local)
  assert.equal(begun.body.options.rp.id, 'localhost')
  assert.equal(begun.body.options.authenticatorSelection.userVerification, 'required')
  const clientData = { type: 'webauthn.create', challenge: begun.body.options.challenge, origin: local.Origin }
  const forged = {
    id: 'AAAA',
    rawId: 'AAAA',
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: Buffer.from(JSON.stringify(clientData)).toString('base64url'),
      attestationObject: 'o2NmbXRkbm9uZQ',
    },
  }
  const added = await ida.call('account/passkeys.add', { name: 'Key', response: forged }, local)
  assert.equal(added.status, 400)
  assert.deepEqual((await ida.call('account/account.show-security')).body.passkeys, [])
  const signIn = await new ConsoleClient(api).call('open/sign-in.give-passkey', { response: forged }, local)
  assert.equal(signIn.status, 401)
})

test('a passkey that is the only way to sign in is not removed; one of another account is not found', async () => {
  const jon = await person('jon@example.com')
  const { installation } = api.service
  const { control } = installation.storage
  const addKey = async (id: string) => {
    const passkey = { id, account_id: jon.accountId, credential_id: id, public_key: 'AAAA', sign_count: 0 }
    const now = new Date().toISOString()
    await addPasskeyRow(installation, { ...passkey, transports: '', name: 'Key', created_at: now, last_used_at: null })
  }
  const remove = async (client: ConsoleClient, id: string) => {
    const { status, body } = await client.call('account/passkeys.remove', { passkey_id: id })
    return [status, body.error?.message ?? '']
  }
  const [first, second] = ['pky_06fk3v8tz9y7q2m4n6p8r0s1t3', 'pky_06fk3v8tz9y7q2m4n6p8r0s1t4'] as const
  await addKey(first)
  await addKey(second)
  assert.equal((await remove(await person('kim@example.com'), first))[0], 404)
  await rewriteRow(installation, { table: 'accounts', id: jon.accountId }, { password_hash: null })
  assert.equal((await remove(jon, first))[0], 200)
  const [status, message] = await remove(jon, second)
  assert.equal(status, 409)
  assert.match(message, /only way to sign in/)
  assert.equal((await listPasskeys(control, jon.accountId)).length, 1)
  await rewriteRow(installation, { table: 'accounts', id: jon.accountId }, { password_hash: 'x' })
  assert.equal((await remove(jon, second))[0], 200)
})
