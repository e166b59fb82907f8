/**
 * Rows that grant power, taken away with SQL by a person without the master key while another person acts, and put back
 * unchanged. What the act ended stays ended, and what it took for absent is not given to another person.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeRole, removeOperator } from '../src/admin/change-operators.ts'
import { approvalWithdrawn, operatorEntry, sessionEnded } from '../src/admin/entries.ts'
import { inviteOperator, withdrawInvitation } from '../src/admin/invitations.ts'
import { approveGate, closeGate } from '../src/admin/manage-gate.ts'
import { beginSession, endSessions, findSession } from '../src/sign-in/sessions.ts'
import { connectIdentity, disconnectIdentities } from '../src/sign-in/single-sign-on.ts'
import { accountOfIdentity } from '../src/store/control/account-identities.ts'
import { isGateOpen } from '../src/store/control/live-gate.ts'
import { findOperatorByEmail, findOperatorById, type Operator, type Role } from '../src/store/control/operators.ts'
import { listPasskeys } from '../src/store/control/passkeys.ts'
import { openEnvironmentStore } from '../src/store/environment/environment-store.ts'
import type { EntryToRecord } from '../src/store/power/entry-queue.ts'
import { INSTALLATION_LOG, POWER_TABLES } from '../src/store/power/power-tables.ts'
import { activateDocument } from './activate-document.ts'
import { byOperator, byService } from './acts.ts'
import { ConsoleClient, PASSWORD, signedInOperator } from './console-client.ts'
import { type HiddenRows, whileHidden } from './hidden-rows.ts'
import { sandboxPolicy } from './sandbox-policy.ts'
import { SoftwarePasskey } from './software-passkey.ts'
import { tamper } from './tamper.ts'
import { testKeys } from './test-keys.ts'
import { startTestService } from './test-service.ts'

let clockAheadMs = 0
let stoppedAtMs: number | undefined
const api = await startTestService({ nowMs: () => (stoppedAtMs ?? Date.now()) + clockAheadMs })
const { installation } = api.service
const { control } = installation.storage
const ACTOR = { type: 'system', id: 'test' } as const
const OTHER_PASSWORD = 'nine slow ferries north'
let people = 0

async function person(role: Role, organizationId?: string) {
  people += 1
  const id = organizationId ?? (await api.newOrganization()).id
  const email = `hidden-${people}@example.com`
  const client = await signedInOperator(api, { organizationId: id, email, role })
  return Object.assign(client, { organizationId: id, email })
}

/** Past what the node has cached of the log, once the rows are back. */
async function hidden<T>(rows: HiddenRows, act: () => Promise<T>): Promise<T> {
  const result = await whileHidden(control, rows, act)
  clockAheadMs += 1_000
  return result
}

async function linkTo(organizationId: string, email: string): Promise<string> {
  const invited = { email, name: 'Invited', role: 'viewer' }
  const sent = await inviteOperator(installation, byService(organizationId), invited)
  return sent.link.split('#')[1]!
}

/** With an entry that a person without the master key wrote, while an act happens and no longer. */
async function whileForged<T>({ organizationId, entry }: EntryToRecord, act: () => Promise<T>): Promise<T> {
  const { production } = installation.storage.environments
  await openEnvironmentStore(production, testKeys).commit({ organizationId, auditEntries: [entry] })
  const result = await act()
  await tamper(production, 'DELETE FROM audit_entries WHERE id = $1', [entry.id])
  await tamper(production, 'DELETE FROM audit_pending WHERE entry_ids = substr($1, 5)', [entry.id])
  return result
}

const accept = (token: string) =>
  new ConsoleClient(api).call('open/invitation.accept', { token, name: 'Invited', password: OTHER_PASSWORD })
const statusOf = async (client: ConsoleClient) => (await client.call('account/account.show')).status

test('an account whose operator is out of sight is not taken up by an invitation', async () => {
  const victim = await person('owner')
  const elsewhere = await api.newOrganization()
  const token = await linkTo(elsewhere.id, victim.email)
  const operator = { table: 'operators', where: 'id = $1', key: victim.operatorId }
  const [shown, accepted] = await hidden(operator, async () => [
    await victim.call('open/invitation.show', { token }),
    await accept(token),
  ])
  assert.equal(shown!.body.has_account, true)
  assert.match(accepted!.body.error.message, /There is an account with this e-mail/)
  assert.equal((await new ConsoleClient(api).signIn(victim.email, OTHER_PASSWORD)).status, 401)
  assert.equal((await new ConsoleClient(api).signIn(victim.email, PASSWORD)).status, 200)
  assert.equal(await statusOf(victim), 200)
})

test('a person whose operator is out of sight does not become a second operator of the organization', async () => {
  const ada = await person('admin')
  const token = await linkTo(ada.organizationId, 'second-name@example.com')
  const operator = { table: 'operators', where: 'id = $1', key: ada.operatorId }
  const joined = await hidden(operator, () => ada.call('account/invitation.join', { token }))
  assert.match(joined.body.error.message, /are an operator of .* already/)
})

const sessionsOf = (accountId: string) => ({ table: 'sessions', where: 'account_id = $1', key: accountId })
const by = (organizationId: string) => ({ ...byService(organizationId), reason: 'for a test' })
const operatorOf = async ({ organizationId, operatorId }: { organizationId: string; operatorId: string }) =>
  (await findOperatorById(control, organizationId, operatorId))!

test('a session that is out of sight ends with all others, and with a change of the password', async () => {
  for (const end of [
    (owner: ConsoleClient) => owner.call('account/account.end-other-sessions'),
    (owner: ConsoleClient) =>
      owner.call('account/account.change-password', { current_password: PASSWORD, new_password: OTHER_PASSWORD }),
  ]) {
    const stolen = await person('owner')
    const owner = new ConsoleClient(api)
    assert.equal((await owner.signIn(stolen.email)).status, 200)
    const [row] = await control.query('SELECT id FROM sessions WHERE account_id = $1 ORDER BY id', [stolen.accountId])
    const ended = await hidden({ table: 'sessions', where: 'id = $1', key: String(row!.id) }, () => end(owner))
    assert.equal(ended.status, 200)
    assert.deepEqual([await statusOf(stolen), await statusOf(owner)], [401, 200])
    assert.equal((await control.refusedRows(INSTALLATION_LOG)).length, 1, 'audit verify names the row')
    await control.query('DELETE FROM sessions WHERE id = $1', [row!.id])
  }
})

test('a session that is out of sight ends with the removal of its operator, and when an owner ends all', async () => {
  const owner = await person('owner')
  for (const operation of ['team.remove', 'team.end-sessions']) {
    const other = await person('admin', owner.organizationId)
    const input = { operator_id: other.operatorId, reason: 'for a test' }
    const ended = await hidden(sessionsOf(other.accountId), () =>
      owner.call(`${owner.organizationId}/production/${operation}`, input),
    )
    assert.equal(ended.status, 200, operation)
    assert.equal(await statusOf(other), 401, operation)
    if (operation === 'team.end-sessions') assert.deepEqual(await endedBy(other), [owner.operatorId])
  }
})

test('one session that is out of sight ends when its person, or an owner, ends it', async () => {
  const owner = await person('owner')
  for (const isByOwner of [false, true]) {
    const stolen = await person('admin', owner.organizationId)
    const [row] = await control.query('SELECT id FROM sessions WHERE account_id = $1', [stolen.accountId])
    const browser = new ConsoleClient(api)
    await browser.signIn(stolen.email)
    const session_id = String(row!.id)
    const input = { operator_id: stolen.operatorId, session_id, reason: 'for a test' }
    const ended = await hidden({ table: 'sessions', where: 'id = $1', key: session_id }, () =>
      isByOwner
        ? owner.call(`${owner.organizationId}/production/team.end-sessions`, input)
        : browser.call('account/account.end-session', { session_id }),
    )
    assert.equal(ended.status, 200)
    assert.deepEqual([await statusOf(stolen), await statusOf(browser)], [401, 200])
    assert.deepEqual(await endedBy(stolen), [isByOwner ? owner.operatorId : stolen.operatorId])
  }
})

/** The operators who ended sessions of an operator, by the log. */
async function endedBy({ operatorId }: { operatorId: string }): Promise<unknown[]> {
  const entries = await installation.storage.environments.production.query(
    "SELECT actor_id FROM audit_entries WHERE type = 'operator.session_ended' AND subject_id = $1",
    [operatorId],
  )
  return entries.map(({ actor_id }) => actor_id)
}

test('a person cannot end the session of another account by its id', async () => {
  const [victim, other] = [await person('owner'), await person('owner')]
  const [row] = await control.query('SELECT id FROM sessions WHERE account_id = $1', [victim.accountId])
  assert.equal((await other.call('account/account.end-session', { session_id: String(row!.id) })).status, 404)
  clockAheadMs += 1_000
  assert.equal(await statusOf(victim), 200)
})

test('a person who signs in while all their sessions end leaves no session that is refused', async (context) => {
  const owner = await person('owner')
  const session = { accountId: owner.accountId, method: 'password', client: { address: '', userAgent: '' } } as const
  const recorded = control.recorded.bind(control)
  const afterAllEnded: typeof recorded = async (work) => {
    await endSessions(installation, session)
    return recorded(work)
  }
  context.mock.method(control, 'recorded', afterAllEnded, { times: 1 })
  const token = await beginSession(installation, session)
  assert.equal(await findSession(installation, token), undefined)
  assert.deepEqual(await control.query('SELECT id FROM sessions WHERE account_id = $1', [owner.accountId]), [])
})

test('what signed in to an account ends when an invitation takes it up, also what is out of sight', async () => {
  const former = await person('viewer')
  const passkey = new SoftwarePasskey()
  await passkey.enrol(api, former.accountId)
  const identity = { issuer: 'https://id.example.com', subject: former.accountId }
  const connected = { ...identity, email: null, name: 'F', groups: [] }
  await connectIdentity(installation, { accountId: former.accountId, identity: connected })
  await removeOperator(installation, by(former.organizationId), await operatorOf(former))
  assert.equal((await former.signIn(former.email)).status, 200)
  const token = await linkTo(former.organizationId, former.email)
  const own = (table: string) => ({ table, where: 'account_id = $1', key: former.accountId })
  const accepted = await hidden(own('sessions'), () =>
    hidden(own('passkeys'), () => hidden(own('account_identities'), () => accept(token))),
  )
  assert.equal(accepted.status, 200)
  assert.equal(await statusOf(former), 401)
  assert.deepEqual(await listPasskeys(control, former.accountId), [])
  assert.equal(await accountOfIdentity(control, identity), undefined)
})

test('a person at the identity provider who is out of sight is disconnected with the others', async () => {
  const owner = await person('owner')
  const identity = { issuer: 'https://id.example.com', subject: owner.accountId }
  const connect = () =>
    connectIdentity(installation, {
      accountId: owner.accountId,
      identity: { ...identity, email: null, name: 'O', groups: [] },
    })
  await connect()
  const rows = { table: 'account_identities', where: 'account_id = $1', key: owner.accountId }
  await hidden(rows, () => disconnectIdentities(installation, owner.accountId))
  assert.equal(await accountOfIdentity(control, identity), undefined)
  await control.query('DELETE FROM account_identities WHERE account_id = $1', [owner.accountId])
  assert.equal(await connect(), undefined)
  assert.equal(await accountOfIdentity(control, identity), owner.accountId, 'connected again')
})

test('a link that is out of sight is withdrawn', async () => {
  const { id: organizationId } = await api.newOrganization()
  const token = await linkTo(organizationId, 'withdrawn@example.com')
  const operator = (await findOperatorByEmail(control, organizationId, 'withdrawn@example.com'))!
  const link = { table: 'invitations', where: 'operator_id = $1', key: operator.id }
  await hidden(link, () => withdrawInvitation(installation, by(organizationId), operator))
  assert.equal((await accept(token)).status, 404)
})

test('an approval of the live gate that is out of sight ends with the gate, the role and the removal', async () => {
  const endings: ((operator: Operator) => Promise<object>)[] = [
    ({ org_id }) => closeGate(installation, by(org_id)),
    (operator) => changeRole(installation, by(operator.org_id), { operator, role: 'viewer' }),
    (operator) => removeOperator(installation, by(operator.org_id), operator),
  ]
  for (const end of endings) {
    const first = await person('owner')
    const other = await person('owner', first.organizationId)
    const { organizationId } = first
    const document = { ...sandboxPolicy().document, version: 'live-1' }
    await activateDocument(installation, document, { organizationId, environment: 'production' })
    for (const approver of [first, other]) await approveGate(installation, byOperator(await operatorOf(approver)))
    assert.equal(await isGateOpen(control, organizationId), true)
    const rows = { table: 'live_gate_approvals', where: 'org_id = $1', key: organizationId }
    await hidden(rows, async () => end(await operatorOf(first)))
    assert.equal(await isGateOpen(control, organizationId), false)
  }
})

test('a forged end of a session, a link or an approval does not keep the real one from the log', async () => {
  const owner = await person('owner')
  const { organizationId, operatorId } = owner
  const context = { organizationId, operatorId, actor: ACTOR }

  const [session] = await control.query('SELECT id FROM sessions WHERE account_id = $1', [owner.accountId])
  const session_id = String(session!.id)
  const browser = new ConsoleClient(api)
  await browser.signIn(owner.email)
  await whileForged(sessionEnded(installation, owner.accountId, session_id), () =>
    hidden({ table: 'sessions', where: 'id = $1', key: session_id }, () =>
      browser.call('account/account.end-session', { session_id }),
    ),
  )
  assert.deepEqual([await statusOf(owner), await statusOf(browser)], [401, 200])

  const token = await linkTo(organizationId, 'forged-end@example.com')
  const invited = (await findOperatorByEmail(control, organizationId, 'forged-end@example.com'))!
  const data = { invitation_id: 'inv_forged', reason: 'forged' }
  const about = { organizationId, operatorId: invited.id, actor: ACTOR }
  await whileForged(operatorEntry(installation, about, { type: 'operator.invitation_withdrawn', data }), () =>
    hidden({ table: 'invitations', where: 'operator_id = $1', key: invited.id }, () =>
      withdrawInvitation(installation, by(organizationId), invited),
    ),
  )
  assert.equal((await accept(token)).status, 404)

  const document = { ...sandboxPolicy().document, version: 'live-1' }
  await activateDocument(installation, document, { organizationId, environment: 'production' })
  for (const approver of [owner, await person('owner', organizationId)])
    await approveGate(installation, byOperator(await operatorOf(approver)))
  assert.equal(await isGateOpen(control, organizationId), true)
  await whileForged(approvalWithdrawn(installation, context), () =>
    hidden({ table: 'live_gate_approvals', where: 'operator_id = $1', key: operatorId }, () =>
      closeGate(installation, by(organizationId)),
    ),
  )
  const [approval] = await control.query('SELECT entry_id FROM live_gate_approvals WHERE operator_id = $1', [
    operatorId,
  ])
  const approvals = { organizationId, subjectId: operatorId, types: POWER_TABLES.live_gate_approvals.entryTypes }
  assert.notEqual(await installation.stores.production.auditLog.newestEntry(approvals), approval!.entry_id)
})

test('a session that ended and is put back at once does not go on as the one that is kept', async () => {
  const stolen = await person('owner')
  stoppedAtMs = Date.now()
  assert.equal(await statusOf(stolen), 200, 'the node has cached that the session counts')
  await whileHidden(control, sessionsOf(stolen.accountId), () => endSessions(installation, stolen))
  await stolen.call('account/account.end-other-sessions')
  stoppedAtMs = undefined
  clockAheadMs += 1_000
  assert.equal(await statusOf(stolen), 401)
})
