/** How people get into the console: the link of the first start, and invitations. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeOperator } from '../src/admin/change-operators.ts'
import { acceptFirstLink, issueFirstLink } from '../src/admin/first-link.ts'
import { inviteOperator, withdrawInvitation } from '../src/admin/invitations.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { findOperatorById, listOperators } from '../src/store/control/operators.ts'
import { firstOrganizationId } from '../src/store/control/organizations.ts'
import { byOsUser, byService } from './acts.ts'
import { Authenticator } from './authenticator.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const { installation, firstRunText } = api.service
const HOUR_MS = 3_600_000
const tokenOf = (text: string) => /\/(?:welcome|invitation)#([\w-]{43})/.exec(text)![1]!

async function typesOf(organizationId: string, trailId: string): Promise<string[]> {
  const entries = await installation.stores.production.auditLog.trail({
    organizationId,
    trailId,
    beforeSeq: undefined,
    limit: 100,
  })
  return entries.reverse().map(({ type }) => type)
}

/** Invites a person and returns the token of the link. */
async function invite(organizationId: string, email: string, role = 'reviewer') {
  const sent = await inviteOperator(installation, byService(organizationId), { email, name: 'Grace', role })
  return { ...sent, token: tokenOf(sent.link) }
}

test('the link of the first start makes one owner, once, and is useless afterwards', async () => {
  const browser = new ConsoleClient(api)
  const token = tokenOf(firstRunText!)
  const file = readFileSync(join(installation.config.dataDir, 'first-run.txt'), 'utf8')
  assert.equal(tokenOf(file), token)
  assert.equal((await browser.call('open/welcome.check', { token })).status, 200)
  assert.equal((await browser.call('open/welcome.check', { token: 'guess' })).status, 404)

  const owner = { token, email: 'Ada@Example.com', name: 'Ada Lovelace', password: PASSWORD }
  for (const [field, value, words] of [
    ['password', 'short', /at least 12 characters/],
    ['password', 'Password1234!', /attackers try first/],
    ['password', 'ada@example.com', /e-mail/],
    ['email', 'no address', /not an email address/],
    ['name', '   ', /1 to 255 characters/],
  ] as const) {
    const refused = await browser.call('open/welcome.accept', { ...owner, [field]: value })
    assert.equal(refused.status, 400, value)
    assert.match(refused.body.error.message, words)
  }
  // Two people who open the link at the same moment.
  const answers = await Promise.all([
    browser.call('open/welcome.accept', owner),
    new ConsoleClient(api).call('open/welcome.accept', { ...owner, email: 'eve@example.com' }),
  ])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404])
  const organizationId = await firstOrganizationId(installation.storage.control)
  const winner = answers[0].status === 200 ? 'ada@example.com' : 'eve@example.com'
  const me = new ConsoleClient(api)
  await me.signIn(winner)
  const { organizations } = (await me.call('account/account.show')).body
  assert.deepEqual(
    organizations.map(({ id, role }: { id: string; role: string }) => [id, role]),
    [[organizationId, 'owner']],
  )
  assert.deepEqual(await typesOf(organizationId, organizations[0].operator_id), [
    'operator.joined',
    'operator.signed_in',
    'operator.signed_in',
  ])
  assert.equal((await browser.call('open/welcome.accept', { ...owner, email: 'b@example.com' })).status, 404)
  assert.equal((await browser.call('open/welcome.check', { token })).status, 404)
  await assert.rejects(issueFirstLink(installation), { code: 'owner_exists' })
})

test('a first link expires after 48 hours, and a new one replaces it, while there is no owner', async () => {
  const other = await startTestService({ nowMs: () => nowMs })
  const first = tokenOf(other.service.firstRunText!)
  const owner = { email: 'ada@example.com', name: 'Ada', password: PASSWORD }
  const accept = (token: string) => acceptFirstLink(other.service.installation, { ...owner, token })
  const ended = { code: 'first_link_ended' }
  const renewed = await issueFirstLink(other.service.installation)
  await assert.rejects(accept(first), ended, 'replaced')
  nowMs += 48 * HOUR_MS
  await assert.rejects(accept(tokenOf(renewed.link)), ended)
  const third = await issueFirstLink(other.service.installation)
  const organizationId = await firstOrganizationId(other.service.installation.storage.control)
  const added = { email: 'c@example.com', name: 'C', role: 'owner' }
  await addOperator(other.service.installation, byService(organizationId), added)
  await assert.rejects(accept(tokenOf(third.link)), ended, 'an owner whom the command line added ends it too')
})

test('an invitation makes an account with its e-mail and role, once, also at the same moment', async () => {
  const acme = await api.newOrganization('Acme')
  const { token, operator } = await invite(acme.id, 'Grace@Example.com')
  const shown = await new ConsoleClient(api).call('open/invitation.show', { token })
  assert.deepEqual(
    { ...shown.body, expires_at: undefined },
    {
      organization_name: 'Acme',
      email: 'grace@example.com',
      name: 'Grace',
      role: 'reviewer',
      expires_at: undefined,
      has_account: false,
      needs_code: false,
    },
  )
  const accept = { token, name: 'Grace Hopper', password: PASSWORD }
  const weak = await new ConsoleClient(api).call('open/invitation.accept', { ...accept, password: 'grace@example.com' })
  assert.equal(weak.status, 400)
  const browsers = [new ConsoleClient(api), new ConsoleClient(api), new ConsoleClient(api)]
  const answers = await Promise.all(browsers.map((browser) => browser.call('open/invitation.accept', accept)))
  const refused = answers.filter(({ status }) => status !== 200)
  // They find that the link was used, or that there is an account by now.
  assert.ok(refused.length === 2 && refused.every(({ status }) => status === 404 || status === 409))
  const winner = browsers[answers.findIndex(({ status }) => status === 200)]!
  const me = (await winner.call('account/account.show')).body
  assert.equal(me.account.name, 'Grace Hopper')
  assert.equal(me.organizations[0].operator_id, operator.id)
  assert.deepEqual(await typesOf(acme.id, operator.id), ['operator.invited', 'operator.joined', 'operator.signed_in'])
  assert.equal((await winner.call('open/invitation.show', { token })).status, 404, 'used')
})

test('an invitation expires after seven days, can be withdrawn, and a newer link replaces it', async () => {
  const acme = await api.newOrganization()
  const works = async (token: string) =>
    (await new ConsoleClient(api).call('open/invitation.show', { token })).status === 200
  const first = await invite(acme.id, 'one@example.com')
  const second = await invite(acme.id, 'one@example.com')
  assert.equal(second.operator.id, first.operator.id)
  assert.deepEqual([await works(first.token), await works(second.token)], [false, true])
  const withdraw = (reason: string) => withdrawInvitation(installation, byOsUser(acme.id, reason), first.operator)
  await assert.rejects(withdraw('  '), { code: 'reason_invalid' })
  assert.equal(await works(second.token), true)
  await withdraw('Sent to the wrong person.')
  assert.equal(await works(second.token), false)
  await assert.rejects(withdraw('Again.'), { code: 'invitation_not_open' })
  const third = await invite(acme.id, 'one@example.com')
  nowMs += 7 * 24 * HOUR_MS - 1
  assert.equal(await works(third.token), true)
  nowMs += 1
  assert.equal(await works(third.token), false)
  const late = await new ConsoleClient(api).call('open/invitation.accept', {
    token: third.token,
    name: 'One',
    password: PASSWORD,
  })
  assert.equal(late.status, 404)
})

test('a person with an account signs in to accept, and is then an operator of both organizations', async () => {
  const [acme, globex] = [await api.newOrganization(), await api.newOrganization('Globex')]
  const kay = await signedInOperator(api, { organizationId: acme.id, email: 'kay@example.com', role: 'admin' })
  const { token } = await invite(globex.id, 'kay@example.com')
  assert.equal((await kay.call('open/invitation.show', { token })).body.has_account, true)
  const refused = await new ConsoleClient(api).call('open/invitation.accept', { token, name: 'K', password: PASSWORD })
  assert.match(refused.body.error.message, /Sign in/)
  assert.equal((await new ConsoleClient(api).call('account/invitation.join', { token })).status, 401)
  assert.deepEqual((await kay.call('account/invitation.join', { token })).body, { organization_id: globex.id })
  assert.equal((await kay.call('account/invitation.join', { token })).status, 404)
  const { organizations } = (await kay.call('account/account.show')).body
  assert.deepEqual(
    organizations.map(({ id, role }: { id: string; role: string }) => [id, role]),
    [
      [acme.id, 'admin'],
      [globex.id, 'reviewer'],
    ],
  )
  const second = await invite(globex.id, 'kay.two@example.com')
  const twice = await kay.call('account/invitation.join', { token: second.token })
  assert.match(twice.body.error.message, /operator of Globex already/)
})

test('an operator whom the command line added gets an account by an invitation, with the role they have', async () => {
  const acme = await api.newOrganization()
  const act = byService(acme.id)
  const lin = { email: 'lin@example.com', name: 'Lin', role: 'policy_author' }
  const added = await addOperator(installation, act, lin)
  await assert.rejects(inviteOperator(installation, act, { ...lin, role: 'owner' }), { code: 'role_differs' })
  const { token, operator } = await invite(acme.id, 'lin@example.com', 'policy_author')
  assert.equal(operator.id, added.id)
  const browser = new ConsoleClient(api)
  const person = { token, name: 'Lin', password: PASSWORD, code: new Authenticator(added.code_secret).next(nowMs) }
  const accepted = await browser.call('open/invitation.accept', person)
  assert.equal(accepted.status, 200)
  assert.equal((await browser.call('account/account.show')).body.organizations[0].role, 'policy_author')
  await assert.rejects(inviteOperator(installation, act, lin), { code: 'operator_exists' })
})

test('the sender of a link cannot become an operator who has one-time codes', async () => {
  const acme = await api.newOrganization()
  const admin = await signedInOperator(api, { organizationId: acme.id, email: 'ann@example.com', role: 'admin' })
  const elsewhere = await api.newOrganization('Elsewhere')
  const other = await signedInOperator(api, { organizationId: elsewhere.id, email: 'ann2@example.com', role: 'owner' })
  const bob = { email: 'bob@example.com', name: 'Bob', role: 'admin' }
  const added = await addOperator(installation, byService(acme.id), bob)
  const { link } = (
    await admin.call(`${acme.id}/production/team.renew-invitation`, {
      operator_id: added.id,
    })
  ).body
  const token = tokenOf(link)
  const browser = new ConsoleClient(api)
  assert.equal((await browser.call('open/invitation.show', { token })).body.needs_code, true)
  const accept = { token, name: 'Bob', password: PASSWORD }
  for (const [wrong, code] of [
    [{}, 'code_missing'],
    [{ code: '000000' }, 'code_wrong'],
  ] as const) {
    const refused = await browser.call('open/invitation.accept', { ...accept, ...wrong })
    assert.equal(refused.body.error.code, code)
    const joined = await other.call('account/invitation.join', { token, ...wrong })
    assert.equal(joined.body.error.code, code)
  }
  assert.deepEqual(await typesOf(acme.id, added.id), ['operator.added', 'operator.invited'])
  const code = new Authenticator(added.code_secret).next(nowMs)
  assert.equal((await browser.call('open/invitation.accept', { ...accept, code })).status, 200)
})

test('a person who was removed and invited again takes up their account with a new password, and only that signs in', async () => {
  const [acme, globex] = [await api.newOrganization(), await api.newOrganization()]
  const mia = await signedInOperator(api, { organizationId: acme.id, email: 'mia@example.com', role: 'admin' })
  const accept = async (token: string, browser: ConsoleClient) =>
    browser.call('open/invitation.accept', { token, name: 'Mia', password: 'seven slow ferries north' })
  const early = await invite(globex.id, 'mia@example.com')
  assert.equal((await accept(early.token, new ConsoleClient(api))).status, 409, 'while the account is in use')
  const operator = (await findOperatorById(installation.storage.control, acme.id, mia.operatorId))!
  await removeOperator(installation, byOsUser(acme.id, 'Left.'), operator)
  const { token } = await invite(acme.id, 'mia@example.com', 'viewer')
  const browser = new ConsoleClient(api)
  assert.equal((await browser.call('open/invitation.show', { token })).body.has_account, false)
  assert.equal((await accept(token, browser)).status, 200)
  const me = (await browser.call('account/account.show')).body
  assert.equal(me.account.id, mia.accountId)
  assert.deepEqual(
    me.organizations.map(({ id, role }: { id: string; role: string }) => [id, role]),
    [[acme.id, 'viewer']],
  )
  assert.equal((await mia.call('account/account.show')).status, 401, 'earlier sessions end')
  assert.equal((await new ConsoleClient(api).signIn('mia@example.com')).status, 401)
  assert.equal((await new ConsoleClient(api).signIn('mia@example.com', 'seven slow ferries north')).status, 200)
})

test('an invitation, the command line and an account take no e-mail or name that misleads', async () => {
  const { id: organizationId } = await api.newOrganization()
  const hostile = [
    { email: 'оlga@example.com', name: 'Olga' }, // Cyrillic о
    { email: 'olga@example.com\nBcc: eve@example.com', name: 'Olga' },
    { email: 'an\u212Aa@example.com', name: 'Anka' },
    { email: 'olga@example.com', name: 'Olga\nOwner' },
    { email: 'olga@example.com', name: '<b>Olga</b>' },
    { email: 'olga@example.com', name: 'Оlga' },
  ]
  for (const person of hostile)
    for (const add of [inviteOperator, addOperator]) {
      const answer = add(installation, byService(organizationId), { ...person, role: 'viewer' })
      await assert.rejects(answer, { kind: 'invalid' }, JSON.stringify(person))
    }
  assert.deepEqual(await listOperators(installation.storage.control, organizationId), [])
  const { token } = await invite(organizationId, 'vera@example.com')
  const browser = new ConsoleClient(api)
  const accept = (name: string) => browser.call('open/invitation.accept', { token, name, password: PASSWORD })
  assert.match((await accept('Vеra')).body.error.message, /mixes letters of several alphabets/)
  assert.equal((await accept('Vera')).status, 200)
  const renamed = await browser.call('account/account.rename', { name: 'Vera\u202e' })
  assert.match(renamed.body.error.message, /a character that is not seen/)
})
