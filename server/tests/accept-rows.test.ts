/** After only one of the databases was restored from a backup, a command lets people in again, and says so on the log. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AcceptedRows } from '../src/admin/accept-rows.ts'
import { installationEntry } from '../src/admin/entries.ts'
import { isInUse, membershipIn } from '../src/admin/memberships.ts'
import { POWER_ENTRIES, powerlessTimes } from '../src/audit/powerless-times.ts'
import { findCommand } from '../src/cli/commands.ts'
import { findOperatorById } from '../src/store/control/operators.ts'
import { insertPasskey } from '../src/store/control/passkeys.ts'
import { DatabaseUnavailable, type Row } from '../src/store/database/database.ts'
import { INSTALLATION_LOG } from '../src/store/power/power-tables.ts'
import { type ConsoleClient, signedInOperator } from './console-client.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'

let clockAheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + clockAheadMs })
const { installation } = api.service
const { control, environments } = installation.storage
const { production } = environments
const { id: organizationId } = await api.newOrganization()
const person = (name: string, role: 'owner' | 'viewer') =>
  signedInOperator(api, { organizationId, email: `${name}@example.com`, role })
const ada = await person('ada', 'owner')

async function acceptRows(options: Record<string, string> = {}): Promise<AcceptedRows> {
  const input = { positionals: [], options, caller: 'root (uid 0)' }
  const result = (await findCommand('audit accept-rows')!.run(installation, input)) as AcceptedRows
  later()
  return result
}

/** Nodes use what they read of the log for half a second. */
function later(): void {
  clockAheadMs += 1_000
}

const statusOf = async (client: ConsoleClient) => (await client.call('account/account.show')).status
const roleOf = async (operatorId: string) => (await findOperatorById(control, organizationId, operatorId))?.role
const refusedRows = async () => [
  ...(await control.refusedRows(organizationId)),
  ...(await control.refusedRows(INSTALLATION_LOG)),
]

test('people whose entries a restored log has lost are let in again by a command that says why', async () => {
  const kept = (await production.query<{ id: string }>('SELECT id FROM audit_entries')).map(({ id }) => id)
  const ben = await person('ben', 'owner')
  // As if production alone had been restored from a backup of the moment before Ben joined.
  for (const table of ['audit_pending', 'audit_flushes'])
    await tamper(production, `DELETE FROM ${table} WHERE 'aud_' || left(entry_ids, 26) <> ALL($1::text[])`, [kept])
  await tamper(production, 'DELETE FROM audit_entries WHERE id <> ALL($1::text[])', [kept])
  later()
  assert.equal(await statusOf(ben), 401)
  assert.equal(await roleOf(ben.operatorId), undefined)

  const listed = await acceptRows()
  const refused = { is_accepted: false, superseded_by: null }
  assert.deepEqual(
    listed.subjects
      .map(({ tables: _tables, written_at: _time, ...subject }) => subject)
      .sort((a, b) => (a.subject < b.subject ? -1 : 1)),
    [
      { subject: ben.accountId, organization_id: INSTALLATION_LOG, says: 'ben@example.com', ...refused },
      { subject: ben.operatorId, organization_id: organizationId, says: 'ben@example.com as owner', ...refused },
    ],
  )
  assert.equal(await roleOf(ben.operatorId), undefined, 'listing accepts nothing')

  const { subjects, sessions_ended } = await acceptRows({ reason: 'disk failure, backup of 2 March' })
  assert.deepEqual(new Set(subjects.map(({ is_accepted }) => is_accepted)), new Set([true]))
  assert.equal(sessions_ended, 1)
  assert.equal(await roleOf(ben.operatorId), 'owner')
  assert.equal((await ben.signIn('ben@example.com')).status, 200)
  assert.equal(await statusOf(ben), 200)
  assert.deepEqual(await refusedRows(), [])
  const [entry] = await production.query<{ actor_type: string; actor_id: string; data: string }>(
    "SELECT actor_type, actor_id, data FROM audit_entries WHERE type = 'access.restored' AND subject_id = $1",
    [ben.operatorId],
  )
  assert.deepEqual([entry!.actor_type, entry!.actor_id], ['os_user', 'root (uid 0)'])
  const data = JSON.parse(entry!.data)
  assert.equal(data.reason, 'disk failure, backup of 2 March')
  assert.deepEqual([...data.rows].sort(), ['operator_codes', 'operators'])
  assert.equal(await isInUse(installation, ben.accountId), true, 'an invitation does not take the account up')
  assert.deepEqual((await acceptRows()).subjects, [], 'nothing is refused any more')
})

test('rows that the log has superseded, because the control database was set back, count again only by name', async () => {
  const [cleo, dora] = [await person('cleo', 'viewer'), await person('dora', 'viewer')]
  const earlier = await control.query('SELECT * FROM operators WHERE id = ANY($1::text[])', [
    [cleo.operatorId, dora.operatorId],
  ])
  const team = async (name: string, input: object) => {
    const { status, body } = await ada.call(`${organizationId}/production/team.${name}`, input)
    assert.equal(status, 200, JSON.stringify(body))
  }
  await team('remove', { operator_id: cleo.operatorId, reason: 'Left.' })
  await team('change-role', { operator_id: dora.operatorId, role: 'reviewer', reason: 'Reviews now.' })
  for (const row of earlier) await putBack(row)
  later()

  const { subjects } = await acceptRows({ reason: 'control restored', superseded: dora.operatorId })
  assert.deepEqual(
    subjects.map(({ subject, superseded_by, is_accepted }) => [subject, superseded_by!.type, is_accepted]),
    [
      [cleo.operatorId, 'operator.removed', false],
      [dora.operatorId, 'operator.role_changed', true],
    ],
  )
  assert.equal(await roleOf(cleo.operatorId), undefined, 'a removal is not undone by accident')
  assert.equal(await roleOf(dora.operatorId), 'viewer')
  assert.deepEqual(await refusedRows(), [{ table: 'operators', subject: cleo.operatorId, why: 'entry' }])

  await acceptRows({ reason: 'Cleo came back', superseded: cleo.operatorId })
  assert.equal(await roleOf(cleo.operatorId), 'viewer')
  assert.equal(await isInUse(installation, cleo.accountId), true)
})

test('an operator whose removal the log has lost stays removed', async () => {
  const fay = await person('fay', 'viewer')
  const input = { operator_id: fay.operatorId, reason: 'Left.' }
  assert.equal((await ada.call(`${organizationId}/production/team.remove`, input)).status, 200)
  const removal = "SELECT id FROM audit_entries WHERE type = 'operator.removed' AND subject_id = $1"
  const [lost] = await production.query(removal, [fay.operatorId])
  for (const table of ['audit_pending', 'audit_flushes'])
    await tamper(production, `DELETE FROM ${table} WHERE entry_ids = substr($1, 5)`, [lost!.id])
  await tamper(production, 'DELETE FROM audit_entries WHERE id = $1', [lost!.id])
  later()
  await acceptRows({ reason: 'production restored' })
  assert.equal(await membershipIn(installation, { organizationId, accountId: fay.accountId }), 'removed')
  const about = await installation.stores.production.auditRecords.entriesAbout(
    organizationId,
    [fay.operatorId],
    POWER_ENTRIES,
  )
  const subject = { trail_id: fay.operatorId, subject_id: fay.operatorId }
  const removed = {
    type: 'operator.removed',
    occurred_at: new Date(0).toISOString(),
    ...subject,
    data: '{}',
    hashes: null,
  }
  const [time] = powerlessTimes([removed, ...about.get(fay.operatorId)!])
  assert.equal(time!.untilMs, Number.POSITIVE_INFINITY, 'a row that says removed gives no power back')
})

test('a passkey whose entry is lost is accepted only by name, if the log says that its account was renewed since', async () => {
  const gus = await person('gus', 'viewer')
  const earliest = Date.now() + clockAheadMs
  const passkeyId = await lostPasskey(gus.accountId)
  const renewal = { invitation_id: installation.newId('inv') }
  await control.recorded(async (_transaction, record) =>
    record(installationEntry(installation, { type: 'account.renewed', subjectId: gus.accountId, data: renewal })),
  )
  later()
  const { subjects } = await acceptRows({ reason: 'production restored' })
  const passkey = subjects.find(({ subject }) => subject === passkeyId)!
  assert.deepEqual([passkey.superseded_by?.type, passkey.is_accepted], ['account.renewed', false])
  assert.ok(Date.parse(passkey.written_at) >= earliest && Date.parse(passkey.written_at) <= Date.now() + clockAheadMs)
  await acceptRows({ reason: 'Both are genuine', superseded: `${passkeyId},${gus.accountId}` })
  assert.deepEqual((await acceptRows()).subjects, [])
})

test('the entry of a passkey that counts again names a passkey', async () => {
  const passkeyId = await lostPasskey(ada.accountId)
  await acceptRows({ reason: 'production restored' })
  const [entry] = await production.query(
    "SELECT subject_type FROM audit_entries WHERE type = 'access.restored' AND subject_id = $1",
    [passkeyId],
  )
  assert.equal(entry!.subject_type, 'passkey')
})

test('rows that change while they are accepted stay as they are, and nothing says that they count again', async () => {
  const passkeyId = await lostPasskey(ada.accountId)
  const { recorded } = control
  control.recorded = async (...act) => {
    control.recorded = recorded
    await control.query('DELETE FROM passkeys WHERE id = $1', [passkeyId])
    return recorded.apply(control, act) as never
  }
  const { subjects } = await acceptRows({ reason: 'production restored' })
  assert.deepEqual(
    subjects.map(({ subject, is_accepted }) => [subject, is_accepted]),
    [[passkeyId, false]],
  )
  assert.deepEqual(await production.query('SELECT 1 FROM audit_entries WHERE subject_id = $1', [passkeyId]), [])
})

test('a person who signs in while rows are accepted stays signed in', async () => {
  const { query } = production
  const { recordQueued } = control
  let isSignedIn = false
  control.recordQueued = async () => {
    await recordQueued.call(control)
    if (isSignedIn) return
    isSignedIn = true
    // Another node has written the session, and not yet its entry.
    production.query = (sql, ...rest) => {
      if (!sql.includes('INSERT INTO audit_entries')) return query(sql, ...rest)
      throw new DatabaseUnavailable('connection reset', { endSession: async () => true })
    }
    await ada.signIn('ada@example.com')
    production.query = query
  }
  const { sessions_ended } = await acceptRows({ reason: 'production restored' }).finally(() => {
    control.recordQueued = recordQueued
  })
  assert.equal(sessions_ended, 0)
})

test('a forged row is never accepted', async () => {
  const eve = await person('eve', 'viewer')
  await control.query("UPDATE operators SET role = 'owner' WHERE id = $1", [eve.operatorId])
  later()
  const { subjects } = await acceptRows({ reason: 'a test', superseded: eve.operatorId })
  assert.deepEqual(subjects, [])
  assert.equal(await roleOf(eve.operatorId), undefined)
})

test('rows are accepted only with a reason', async () => {
  const input = { positionals: [], options: { superseded: 'opr_x' }, caller: 'root (uid 0)' }
  await assert.rejects(findCommand('audit accept-rows')!.run(installation, input), { code: 'reason_missing' })
})

/** Adds a passkey whose entry the log does not have. */
async function lostPasskey(accountId: string): Promise<string> {
  const id = installation.newId('pky')
  const row = await control.afterEndings('passkeys', {
    id,
    account_id: accountId,
    credential_id: id,
    public_key: 'a',
    sign_count: 0,
    transports: '',
    name: 'Laptop',
    created_at: new Date().toISOString(),
    last_used_at: null,
  })
  await insertPasskey(control, control.seal('passkeys', row, { entry: { id: installation.newId('aud') } }))
  return id
}

async function putBack(row: Row): Promise<void> {
  await control.query('DELETE FROM operators WHERE id = $1', [row.id])
  const columns = Object.keys(row)
  await control.query(
    `INSERT INTO operators (${columns.join(', ')}) VALUES (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(row),
  )
}
