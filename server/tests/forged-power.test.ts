/**
 * Rows that grant power, forged with SQL by a person without the master key: inserted, altered, or an earlier version put
 * back. Each is refused in use as if it did not exist, and raises an alarm.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { changeRole, removeOperator } from '../src/admin/change-operators.ts'
import { operatorEntry } from '../src/admin/entries.ts'
import { checkFirstLink, issueFirstLink } from '../src/admin/first-link.ts'
import { inviteOperator, openInvitation, withdrawInvitation } from '../src/admin/invitations.ts'
import { approveGate, closeGate } from '../src/admin/manage-gate.ts'
import { addOperator, resetCode } from '../src/admin/manage-operators.ts'
import { checkCode } from '../src/admin/operator-codes.ts'
import { codeStep, oneTimeCode } from '../src/security/one-time-code.ts'
import { connectIdentity, disconnectIdentities } from '../src/sign-in/single-sign-on.ts'
import { accountOfIdentity } from '../src/store/control/account-identities.ts'
import { isGateOpen } from '../src/store/control/live-gate.ts'
import { findOperatorById, type Role, updateOperator } from '../src/store/control/operators.ts'
import type { ControlPowerTable } from '../src/store/power/control-database.ts'
import { queueEntries } from '../src/store/power/entry-queue.ts'
import { activateDocument } from './activate-document.ts'
import { byOperator, byService } from './acts.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { sandboxPolicy } from './sandbox-policy.ts'
import { SoftwarePasskey } from './software-passkey.ts'
import { startTestService } from './test-service.ts'

let clockAheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + clockAheadMs })
const { installation } = api.service
const { control } = installation.storage
const ACTOR = { type: 'system', id: 'test' } as const
let people = 0
/** After an hour without any, failed attempts to sign in are forgotten. */
const HOUR_MS = 3_600_000

/** Nodes use what they read of the log for half a second. */
const later = () => {
  clockAheadMs += 1_000
}

async function person(role: Role, organizationId?: string) {
  people += 1
  const id = organizationId ?? (await api.newOrganization()).id
  const email = `forged-${people}@example.com`
  const client = await signedInOperator(api, { organizationId: id, email, role })
  const operator = async () => (await findOperatorById(control, id, client.operatorId))!
  const team = () => client.call(`${id}/production/team.list`)
  return Object.assign(client, { organizationId: id, email, operator, team })
}

type Stored = Record<string, unknown>
const read = (table: ControlPowerTable, where: string, params: unknown[]): Promise<Stored[]> =>
  control.query(`SELECT * FROM ${table} WHERE ${where}`, params)

async function insert(table: ControlPowerTable, row: Stored): Promise<void> {
  const columns = Object.keys(row)
  const values = columns.map((_, index) => `$${index + 1}`)
  await control.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`, Object.values(row))
}

/** Puts rows back as they were, as a person with an old copy of the table could. */
async function putBack(table: ControlPowerTable, where: string, params: unknown[], rows: Stored[]): Promise<void> {
  await control.query(`DELETE FROM ${table} WHERE ${where}`, params)
  for (const row of rows) await insert(table, row)
  later()
}

const alarmOf = (table: ControlPowerTable, subject: string) =>
  api.logs.some((line) => {
    return line.includes('"alarm":"row_refused"') && line.includes(`"table":"${table}"`) && line.includes(subject)
  })

const by = (organizationId: string) => ({ ...byService(organizationId), reason: 'for a test' })
const me = (client: ConsoleClient) => client.call('account/account.show')

test('a session whose row was inserted with SQL is refused, whatever hash its token has', async () => {
  const honest = await person('owner')
  const [row] = await read('sessions', 'account_id = $1', [honest.accountId])
  const cookie = honest.cookie!
  const name = cookie.slice(0, cookie.indexOf('='))
  const token = 'A'.repeat(43)
  await insert('sessions', { ...row, id: 'ses_forged', token_hash: hash('sha256', token) })
  const forger = new ConsoleClient(api)
  forger.cookie = `${name}=${token}`
  assert.equal((await me(forger)).status, 401)
  // Even the hash of a real cookie does not make an inserted row a session.
  await control.query("DELETE FROM sessions WHERE id = 'ses_forged'")
  await putBack('sessions', 'id = $1', [row!.id], [{ ...row, id: 'ses_forged' }])
  assert.equal((await me(honest)).status, 401)
  assert.ok(alarmOf('sessions', 'ses_forged'))
})

test('a session that was moved to another account, or prolonged, is refused', async () => {
  const [victim, forger] = [await person('owner'), await person('viewer')]
  await control.query('UPDATE sessions SET account_id = $2 WHERE account_id = $1', [forger.accountId, victim.accountId])
  assert.equal((await me(forger)).status, 401)
  assert.equal((await me(victim)).status, 200)
  await control.query(`UPDATE sessions SET expires_at = expires_at + interval '1 year' WHERE account_id = $1`, [
    victim.accountId,
  ])
  assert.equal((await me(victim)).status, 401)
})

test('a session that ended is refused when its row is put back', async () => {
  const owner = await person('owner')
  const { cookie } = owner
  const earlier = await read('sessions', 'account_id = $1', [owner.accountId])
  assert.equal((await owner.call('account/sign-in.end')).status, 200)
  await putBack('sessions', 'account_id = $1', [owner.accountId], earlier)
  owner.cookie = cookie
  assert.equal((await me(owner)).status, 401)
  assert.ok(alarmOf('sessions', String(earlier[0]!.id)))
})

test('a role that was changed with SQL gives no permission, and none at all until it is mended', async () => {
  const viewer = await person('viewer')
  assert.equal((await viewer.team()).status, 200)
  await control.query(`UPDATE operators SET role = 'owner' WHERE id = $1`, [viewer.operatorId])
  assert.equal((await viewer.team()).status, 404)
  assert.deepEqual((await me(viewer)).body.organizations, [])
  assert.ok(alarmOf('operators', viewer.operatorId))
})

test('an operator whose row was inserted with SQL has no role', async () => {
  const [owner, forger] = [await person('owner'), await person('viewer')]
  const [row] = await read('operators', 'id = $1', [owner.operatorId])
  const id = installation.newId('opr')
  await insert('operators', { ...row, id, email: 'forged@example.com', account_id: forger.accountId })
  assert.equal((await forger.call(`${owner.organizationId}/production/team.list`)).status, 404)
  assert.equal((await owner.team()).body.operators.length, 1)
})

test('an earlier role is refused when its row is put back', async () => {
  const owner = await person('owner')
  const demoted = await person('admin', owner.organizationId)
  const earlier = await read('operators', 'id = $1', [demoted.operatorId])
  const operator = await demoted.operator()
  await changeRole(installation, by(owner.organizationId), { operator, role: 'viewer' })
  assert.equal((await demoted.team()).status, 200)
  await putBack('operators', 'id = $1', [demoted.operatorId], earlier)
  assert.equal((await demoted.team()).status, 404)
  assert.ok(alarmOf('operators', demoted.operatorId))
})

test('a removed operator is refused when the row is put back', async () => {
  const owner = await person('owner')
  const removed = await person('admin', owner.organizationId)
  const earlier = await read('operators', 'id = $1', [removed.operatorId])
  await removeOperator(installation, by(owner.organizationId), await removed.operator())
  await putBack('operators', 'id = $1', [removed.operatorId], earlier)
  assert.equal((await removed.signIn(removed.email)).status, 200)
  assert.equal((await removed.team()).status, 404)
})

test('a password that was swapped with SQL, or an earlier one that is put back, is refused', async () => {
  const [victim, forger] = [await person('owner'), await person('viewer')]
  const signIn = async (password: string) => (await new ConsoleClient(api).signIn(victim.email, password)).status
  const earlier = await read('accounts', 'id = $1', [victim.accountId])
  const changed = { current_password: PASSWORD, new_password: 'nine slow ferries north' }
  assert.equal((await victim.call('account/account.change-password', changed)).status, 200)
  assert.equal(await signIn(changed.new_password), 200)
  const now = await read('accounts', 'id = $1', [victim.accountId])
  await putBack('accounts', 'id = $1', [victim.accountId], earlier)
  assert.equal(await signIn(PASSWORD), 401)
  const [other] = await read('accounts', 'id = $1', [forger.accountId])
  await putBack('accounts', 'id = $1', [victim.accountId], [{ ...now[0], password_hash: other!.password_hash }])
  assert.equal(await signIn(PASSWORD), 401)
  await putBack('accounts', 'id = $1', [victim.accountId], now)
  assert.equal(await signIn(changed.new_password), 200)
})

test('two-factor stays on when its rows are deleted, its account is put back, or its secret is another one', async () => {
  const owner = await person('owner')
  const before = await read('accounts', 'id = $1', [owner.accountId])
  const { body } = await owner.call('account/two-factor.begin', { password: PASSWORD })
  const enabled = await owner.call('account/two-factor.confirm', { code: codeNow(body.secret) })
  assert.equal(enabled.status, 200)
  const codes = await read('account_codes', 'account_id = $1', [owner.accountId])
  const after = await read('accounts', 'id = $1', [owner.accountId])
  const begin = () => new ConsoleClient(api).signIn(owner.email)

  await putBack('accounts', 'id = $1', [owner.accountId], before)
  assert.equal((await begin()).status, 401)
  await putBack('accounts', 'id = $1', [owner.accountId], after)
  await putBack('account_codes', 'account_id = $1', [owner.accountId], [])
  assert.equal((await begin()).body.code_needed, true)

  const forger = await person('viewer')
  const own = (await forger.call('account/two-factor.begin', { password: PASSWORD })).body
  await forger.call('account/two-factor.confirm', { code: codeNow(own.secret) })
  const [forged] = await read('account_codes', 'account_id = $1', [forger.accountId])
  await putBack('account_codes', 'account_id = $1', [owner.accountId], [{ ...codes[0], secret: forged!.secret }])
  clockAheadMs += 60_000
  const answer = await giveCode(owner.email, codeNow(own.secret))
  assert.equal(answer, 401)
  await putBack('account_codes', 'account_id = $1', [owner.accountId], codes)
  clockAheadMs += HOUR_MS
  assert.equal(await giveCode(owner.email, codeNow(body.secret)), 200)

  const [used, unused] = enabled.body.recovery_codes as string[]
  const recovery = await read('recovery_codes', 'account_id = $1', [owner.accountId])
  assert.equal(await giveCode(owner.email, used!), 200)
  const left = await read('recovery_codes', 'account_id = $1', [owner.accountId])
  await putBack('recovery_codes', 'account_id = $1', [owner.accountId], recovery)
  assert.equal(await giveCode(owner.email, used!), 401)
  await putBack('recovery_codes', 'account_id = $1', [owner.accountId], left)
  clockAheadMs += HOUR_MS
  assert.equal(await giveCode(owner.email, unused!), 200)
})

const codeNow = (secret: string) => oneTimeCode(secret, codeStep(installation.nowMs()))

async function giveCode(email: string, code: string): Promise<number> {
  const browser = new ConsoleClient(api)
  const { challenge } = (await browser.signIn(email)).body
  return (await browser.call('open/sign-in.give-code', { challenge, code })).status
}

test('a passkey whose row was inserted, or that was removed and is put back, is refused', async () => {
  const [victim, forger] = [await person('owner'), await person('viewer')]
  const passkey = new SoftwarePasskey()
  const signIn = async () => {
    const browser = new ConsoleClient(api)
    const origin = `http://localhost:${new URL(browser.url).port}`
    const headers = { Origin: origin }
    const { options } = (await browser.call('open/sign-in.begin-passkey', {}, headers)).body
    const response = passkey.answer({ challenge: options.challenge, origin })
    return (await browser.call('open/sign-in.give-passkey', { response }, headers)).status
  }
  await passkey.enrol(api, forger.accountId)
  assert.equal(await signIn(), 200)
  const own = await read('passkeys', 'account_id = $1', [forger.accountId])
  await putBack('passkeys', 'account_id = $1', [forger.accountId], [{ ...own[0], account_id: victim.accountId }])
  assert.equal(await signIn(), 401)
  await putBack('passkeys', 'id = $1', [own[0]!.id], own)
  assert.equal(await signIn(), 200)
  const removed = await forger.call('account/passkeys.remove', { passkey_id: own[0]!.id })
  assert.equal(removed.status, 200)
  await putBack('passkeys', 'id = $1', [own[0]!.id], own)
  assert.equal(await signIn(), 401)
})

test('the codes of a secret that was replaced are refused when its row is put back', async () => {
  const { id: organizationId } = await api.newOrganization()
  const act = byService(organizationId)
  const added = await addOperator(installation, act, { email: 'code@example.com', name: 'Code', role: 'admin' })
  const earlier = await read('operator_codes', 'operator_id = $1', [added.id])
  const check = (code: string) => checkCode(installation, added, { code, by: ACTOR })
  await check(codeNow(added.code_secret))
  await resetCode(installation, act, added)
  await putBack('operator_codes', 'operator_id = $1', [added.id], earlier)
  clockAheadMs += 60_000
  await assert.rejects(check(codeNow(added.code_secret)), { code: 'no_codes' })
})

test('a link that was withdrawn, or prolonged with SQL, does not work', async () => {
  const { id: organizationId } = await api.newOrganization()
  const invited = { email: 'link@example.com', name: 'Link', role: 'admin' }
  const sent = await inviteOperator(installation, byService(organizationId), invited)
  const token = sent.link.split('#')[1]!
  const opens = () => openInvitation(installation, token)
  const earlier = await read('invitations', 'id = $1', [sent.invitation_id])
  await opens()
  await control.query(`UPDATE invitations SET expires_at = expires_at + interval '1 year' WHERE id = $1`, [
    sent.invitation_id,
  ])
  await assert.rejects(opens(), { code: 'invitation_ended' })
  await putBack('invitations', 'id = $1', [sent.invitation_id], earlier)
  await opens()
  await withdrawInvitation(installation, by(organizationId), sent.operator)
  await putBack('invitations', 'id = $1', [sent.invitation_id], earlier)
  await assert.rejects(opens(), { code: 'invitation_ended' })
})

test('a first link that a newer one replaced does not work when it is put back', async () => {
  const first = await issueFirstLink(installation)
  const check = (link: string) => checkFirstLink(installation, link.split('#')[1]!)
  const earlier = await read('first_link', 'true', [])
  await check(first.link)
  await issueFirstLink(installation)
  await putBack('first_link', 'true', [], earlier)
  await assert.rejects(check(first.link), { code: 'first_link_ended' })
})

test('a person at the provider who was disconnected, or moved to another account, does not sign in', async () => {
  const [victim, forger] = [await person('owner'), await person('viewer')]
  const identity = { issuer: 'https://id.example.com', subject: 'forger', email: null, name: 'F', groups: [] }
  assert.equal(await connectIdentity(installation, { accountId: forger.accountId, identity }), undefined)
  const earlier = await read('account_identities', 'subject = $1', ['forger'])
  assert.equal(await accountOfIdentity(control, identity), forger.accountId)
  await putBack('account_identities', 'subject = $1', ['forger'], [{ ...earlier[0], account_id: victim.accountId }])
  assert.equal(await accountOfIdentity(control, identity), undefined)
  await putBack('account_identities', 'subject = $1', ['forger'], earlier)
  assert.equal(await disconnectIdentities(installation, forger.accountId), undefined)
  await putBack('account_identities', 'subject = $1', ['forger'], earlier)
  assert.equal(await accountOfIdentity(control, identity), undefined)
})

test('approvals of the live gate that were inserted, or withdrawn and put back, do not open it', async () => {
  const first = await person('owner')
  const { organizationId: id } = first
  const other = await person('admin', id)
  await activateDocument(
    installation,
    { ...sandboxPolicy().document, version: 'live-1' },
    { organizationId: id, environment: 'production' },
  )
  for (const { operatorId } of [first, other])
    await insert('live_gate_approvals', {
      org_id: id,
      operator_id: operatorId,
      reason: 'r',
      approved_at: new Date().toISOString(),
      entry_id: 'aud_forged',
      mac: hash('sha256', operatorId),
    })
  assert.equal(await isGateOpen(control, id), false)
  await control.query('DELETE FROM live_gate_approvals WHERE org_id = $1', [id])
  for (const approver of [first, other]) await approveGate(installation, byOperator(await approver.operator()))
  assert.equal(await isGateOpen(control, id), true)
  const earlier = await read('live_gate_approvals', 'org_id = $1', [id])
  await closeGate(installation, by(id))
  assert.equal(await isGateOpen(control, id), false)
  await putBack('live_gate_approvals', 'org_id = $1', [id], earlier)
  assert.equal(await isGateOpen(control, id), false)
})

test('a node that stopped between a row and its entry leaves the entry to the next reader', async () => {
  const owner = await person('owner')
  const operator = await owner.operator()
  const { org_id: organizationId, id: operatorId } = operator
  const entry = operatorEntry(
    installation,
    { organizationId, operatorId, actor: ACTOR },
    { type: 'operator.role_changed', data: { from: 'owner', to: 'admin', reason: 'r' } },
  )
  await control.transaction(async (transaction) => {
    const next = control.seal('operators', { ...operator, role: 'admin' as const }, entry)
    await updateOperator(transaction, next, { was: operator.entry_id })
    await queueEntries(transaction, installation.stores.production, [entry])
  })
  assert.equal(
    (await installation.stores.production.auditLog.recordedEntries(organizationId, [entry.entry.id])).size,
    0,
  )
  assert.equal((await owner.operator()).role, 'admin')
  assert.equal(
    (await installation.stores.production.auditLog.recordedEntries(organizationId, [entry.entry.id])).size,
    1,
  )
  assert.deepEqual(await control.query('SELECT position FROM entries_to_record'), [])
})

test('an entry in the queue whose hash was changed with SQL is recorded with the hash of its content', async () => {
  const owner = await person('owner')
  const { org_id: organizationId, id: operatorId } = await owner.operator()
  const queued = operatorEntry(
    installation,
    { organizationId, operatorId, actor: ACTOR },
    { type: 'operator.role_changed', data: { from: 'viewer', to: 'owner', reason: 'r' } },
  )
  await control.transaction((transaction) => queueEntries(transaction, installation.stores.production, [queued]))
  await control.query("UPDATE entries_to_record SET entry = replace(entry, $1, repeat('0', 64))", [
    queued.entry.leaf_hash,
  ])
  await control.recordQueued()
  const [list] = await installation.storage.environments.production.query<{ hash: string }>(
    `SELECT encode(leaf_hashes, 'hex') AS hash FROM (SELECT org_id, entry_ids, leaf_hashes FROM audit_pending
       UNION ALL SELECT org_id, entry_ids, leaf_hashes FROM audit_flushes) AS list WHERE org_id = $1 AND entry_ids = substr($2, 5)`,
    [organizationId, queued.entry.id],
  )
  assert.equal(list!.hash, queued.entry.leaf_hash)
})

test('an entry that was put into the queue with SQL does not reach the log', async () => {
  const owner = await person('owner')
  const { org_id: organizationId, id: operatorId } = await owner.operator()
  const forged = operatorEntry(
    installation,
    { organizationId, operatorId, actor: ACTOR },
    { type: 'operator.role_changed', data: { from: 'viewer', to: 'owner', reason: 'r' } },
  )
  const entry = JSON.stringify({ ...forged.entry, mac: hash('sha256', 'no key') })
  await control.query('INSERT INTO entries_to_record (org_id, entry) VALUES ($1, $2)', [organizationId, entry])
  await control.recordQueued()
  assert.equal(
    (await installation.stores.production.auditLog.recordedEntries(organizationId, [forged.entry.id])).size,
    0,
  )
  assert.equal((await owner.operator()).role, 'owner')
})
