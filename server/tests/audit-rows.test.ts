/** Rows that grant power and were forged with SQL, as the verification of the logs names them. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { INSTALLATION_LOG } from '../src/store/power/power-tables.ts'
import { signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { storage, stores, masterKey } = api.service.installation
const { control } = storage
const { id: organizationId } = await api.newOrganization()
const owner = await signedInOperator(api, { organizationId, email: 'ada@example.com', role: 'owner' })

async function problems(log: string): Promise<string[]> {
  const report = await verifyAuditLog({
    organizationId: log,
    environment: 'production',
    store: stores.production,
    people: stores.production,
    control,
    publicKeys: masterKey.auditPublicKeys('production'),
  })
  return report.problems
}

test('the verification of a production log names rows that were forged, each on its log', async () => {
  assert.deepEqual(await problems(organizationId), [])
  assert.deepEqual(await problems(INSTALLATION_LOG), [])
  await control.query("UPDATE operators SET role = 'viewer' WHERE org_id = $1", [organizationId])
  const [session] = await control.query('SELECT * FROM sessions WHERE account_id = $1', [owner.accountId])
  const forged = { ...session!, token_hash: hash('sha256', 'chosen'), id: 'ses_forged' }
  const values = Object.keys(forged).map((_, index) => `$${index + 1}`)
  await control.query(`INSERT INTO sessions (${Object.keys(forged)}) VALUES (${values})`, Object.values(forged))
  const named = (subject: string, table: string) =>
    `The row of ${subject} in ${table} was not written by this service: its MAC is not valid. It grants nothing.`
  assert.deepEqual(await problems(organizationId), [named(owner.operatorId, 'operators')])
  assert.deepEqual(await problems(INSTALLATION_LOG), [named('ses_forged', 'sessions')])
})

test('a queued entry that this service did not write stays in the queue, and stops no sign-in', async () => {
  await control.query("INSERT INTO entries_to_record (org_id, entry) VALUES ($1, 'no JSON'), ($1, '{}')", [
    organizationId,
  ])
  await signedInOperator(api, { organizationId, email: 'ben@example.com', role: 'viewer' })
  const left = await control.query('SELECT entry FROM entries_to_record ORDER BY position')
  assert.deepEqual(left, [{ entry: 'no JSON' }, { entry: '{}' }])
})
