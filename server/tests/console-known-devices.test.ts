/** Strangers who guess a password lock each other out, and not the person in a browser that is known. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Authenticator } from './authenticator.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

const DAY_MS = 24 * 3_600_000
let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization('Acme')
const person = (email: string) => signedInOperator(api, { organizationId: acme.id, email, role: 'owner' })

/** Guesses of a stranger until the e-mail is locked. */
async function lockOut(email: string): Promise<void> {
  for (let tries = 0; tries < 5; tries++) assert.equal((await strange(email, 'guess')).status, 401)
  assert.equal((await strange(email)).status, 429, 'the right password of a stranger is refused too')
}
const strange = (email: string, password = PASSWORD) => new ConsoleClient(api).signIn(email, password)
const laterOn = () => {
  nowMs += 2 * 3_600_000 // failures are forgotten after an hour
}

test('five wrong passwords of a stranger keep the person out of no browser in which they have signed in', async () => {
  const ada = await person('ada@example.com')
  await ada.call('account/sign-in.end')
  await lockOut('ada@example.com')
  assert.equal((await ada.signIn('ada@example.com')).status, 200)
  assert.equal((await strange('ada@example.com')).status, 429, 'her success does not give the stranger more tries')
  assert.equal((await ada.call('account/sign-in.end')).status, 200)
  assert.equal((await ada.signIn('ada@example.com')).status, 200, 'the browser stays known')
})

test('a network that strangers locked does not keep a known browser out', async () => {
  laterOn()
  const bea = await person('bea@example.com')
  await Promise.all(Array.from({ length: 40 }, (_, index) => strange(`guess-${index}@example.com`, 'guess')))
  assert.equal((await strange('bea@example.com')).status, 429)
  assert.equal((await bea.signIn('bea@example.com')).status, 200)
})

test('a person whom a stranger locked out confirms with the password in the open session', async () => {
  laterOn()
  const cai = await person('cai@example.com')
  cai.device = undefined
  await lockOut('cai@example.com')
  const changed = { current_password: PASSWORD, new_password: 'another green ledger 43' }
  assert.equal((await cai.call('account/account.change-password', changed)).status, 200)
})

test('a stolen device cookie has five tries of its own, for the e-mail that it was made for', async () => {
  laterOn()
  const dan = await person('dan@example.com')
  await person('eva@example.com')
  const thief = new ConsoleClient(api)
  const guess = async (email: string) => {
    thief.device = dan.device
    return (await thief.signIn(email, 'guess')).status
  }
  await lockOut('eva@example.com')
  assert.equal(await guess('eva@example.com'), 429, 'it gives no try for another person')
  const statuses: number[] = []
  for (let tries = 0; tries < 6; tries++) statuses.push(await guess('dan@example.com'))
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429])
  const trail = { organizationId: acme.id, trailId: dan.operatorId, beforeSeq: undefined, limit: 10 }
  const entries = await api.service.installation.stores.production.auditLog.trail(trail)
  assert.ok(
    entries.some(({ type }) => type === 'operator.sign_in_locked'),
    'the lock is on the audit log',
  )
})

test('two-factor codes count for a known browser in the same way', async () => {
  laterOn()
  const email = 'fay@example.com'
  const fay = await person(email)
  const { secret } = (await fay.call('account/two-factor.begin', { password: PASSWORD })).body
  const app = new Authenticator(secret)
  await fay.call('account/two-factor.confirm', { code: app.next(nowMs) })
  await fay.call('account/sign-in.end')
  await lockOut(email)
  const give = async (code: string) => {
    const { challenge } = (await fay.signIn(email)).body
    return (await fay.call('open/sign-in.give-code', { challenge, code })).status
  }
  assert.equal(await give(app.next(nowMs)), 200)
  assert.equal((await strange(email)).status, 429)
  const { challenge } = (await fay.signIn(email)).body
  const statuses: number[] = []
  for (let tries = 0; tries < 5; tries++)
    statuses.push((await fay.call('open/sign-in.give-code', { challenge, code: '000000' })).status)
  assert.deepEqual(statuses, [401, 401, 401, 401, 429], 'the password and four codes')
})

test('a browser is known for half a year, for up to four people, by a cookie that no script reads', async () => {
  laterOn()
  const browser = new ConsoleClient(api)
  const emails = ['g1@example.com', 'g2@example.com', 'g3@example.com', 'g4@example.com', 'g5@example.com']
  for (const email of emails) {
    await person(email)
    const set = (await browser.signIn(email)).headers.getSetCookie().find((text) => text.includes('device'))
    assert.match(set!, /^verdigraph-device=[\w.-]+; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Lax$/)
  }
  const signIn = async (email: string) => {
    const known = new ConsoleClient(api)
    known.device = browser.device
    return (await known.signIn(email)).status
  }
  for (const email of emails) await lockOut(email)
  assert.deepEqual([await signIn('g1@example.com'), await signIn('g2@example.com')], [429, 200])
  nowMs += 180 * DAY_MS
  await lockOut('g5@example.com')
  assert.equal(await signIn('g5@example.com'), 429)
})
