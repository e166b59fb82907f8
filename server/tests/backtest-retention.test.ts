/** Old backtests are deleted, but none that an approval names, and the log tells their deletion from a theft. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginBacktest } from '../src/admin/backtest-policy.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { activatePolicy, approvePolicy, proposePolicy } from '../src/admin/manage-policies.ts'
import { verifyAuditLog } from '../src/audit/verify-audit-log.ts'
import { upkeepTasks } from '../src/service/upkeep-tasks.ts'
import { byOperator, byService } from './acts.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { startTestService } from './test-service.ts'
import { until } from './webhook-receiver.ts'

const DAY_MS = 24 * 3_600_000
let aheadMs = 0
const nowMs = () => Date.now() + aheadMs
const api = await startTestService({ nowMs })
const acme = await api.newOrganization()
const { installation } = api.service
const store = installation.stores.sandbox
const database = installation.storage.environments.sandbox
const { keepDays } = installation.config

const { body: entity } = await acme.post('/v1/entities', { external_id: 'applicant' })
await acme.post(
  '/v1/underwrite',
  { entity_id: entity.id, product: 'marketplace_access' },
  { 'Idempotency-Key': 'decide' },
)

async function operator(name: string, role: 'policy_author' | 'policy_approver') {
  const added = await addOperator(installation, byService(acme.id), { email: `${name}@example.com`, name, role })
  const act = byOperator(added, { reason: `the reason of ${name}` })
  // As at the command line, which takes no session.
  return { ...act, by: { ...act.by, via: 'tester' } }
}
const [ann, ben] = [await operator('ann', 'policy_author'), await operator('ben', 'policy_approver')]

async function backtest(version: string): Promise<string> {
  const range = { last: 1_000 }
  const { id } = await (await beginBacktest(installation, byService(acme.id), { version, range })).done
  return id
}

async function upkeep(): Promise<void> {
  const { newId } = installation
  const tasks = upkeepTasks({ store, database, newId, keepDays, isEmbedded: false })
  for (const task of tasks) while (await task(nowMs()));
}

async function kept(): Promise<string[]> {
  const rows = await database.query<{ id: string }>('SELECT id FROM policy_backtests ORDER BY id')
  return rows.map(({ id }) => id)
}

async function verify() {
  return verifyAuditLog({
    organizationId: acme.id,
    environment: 'sandbox',
    store,
    people: installation.stores.production,
    control: installation.storage.control,
    publicKeys: installation.masterKey.auditPublicKeys('sandbox'),
  })
}

test('a backtest that a newer one replaced is deleted after BACKTESTS_KEEP_DAYS, with an entry, and the log stays intact', async () => {
  await proposePolicy(
    installation,
    ann,
    sandboxPolicySource().replace('version: sandbox-policy-v1', 'version: lending-2'),
  )
  const replaced = [await backtest('sandbox-policy-v1'), await backtest('lending-2')]
  const named = await backtest('lending-2')
  await approvePolicy(installation, ben, { version: 'lending-2', shownBacktest: named })
  const newest = [await backtest('sandbox-policy-v1'), await backtest('lending-2')]
  aheadMs = (keepDays.backtests - 1) * DAY_MS
  await upkeep()
  assert.deepEqual(await kept(), [...replaced, named, ...newest].sort(), 'none is old enough')

  aheadMs = (keepDays.backtests + 1) * DAY_MS
  await upkeep()
  assert.deepEqual(await kept(), [named, ...newest].sort())
  const entries = await database.query<{ subject_id: string; actor_type: string; actor_id: string; data: string }>(
    `SELECT subject_id, actor_type, actor_id, data FROM audit_entries WHERE type = 'policy.backtest_deleted' ORDER BY id`,
  )
  assert.deepEqual(
    entries.map(({ subject_id, actor_type, actor_id, data }) => [
      subject_id,
      actor_type,
      actor_id,
      JSON.parse(data).policy_version,
    ]),
    replaced.map((id, n) => [id, 'system', 'upkeep', ['sandbox-policy-v1', 'lending-2'][n]]),
  )
  await until('everything is sealed', async () => (await verify()).unsealed === 0)
  assert.deepEqual((await verify()).problems, [])
  assert.equal(
    (await activatePolicy(installation, ben, 'lending-2')).state,
    'active',
    'what the approval names is there',
  )
})

test('a backtest that is put back after it was deleted with an entry is compared with what was recorded', async () => {
  const [deleted] = await database.query<{ subject_id: string }>(
    `SELECT subject_id FROM audit_entries WHERE type = 'policy.backtest_deleted' ORDER BY id LIMIT 1`,
  )
  await database.query('CREATE TEMPORARY TABLE forged AS SELECT * FROM policy_backtests LIMIT 1')
  await database.query('UPDATE forged SET id = $1', [deleted!.subject_id])
  await database.query('INSERT INTO policy_backtests SELECT * FROM forged')
  const { problems } = await verify()
  assert.equal(problems.length, 1)
  assert.match(problems[0]!, new RegExp(`^The backtest ${deleted!.subject_id} `))
  await database.query('DELETE FROM policy_backtests WHERE id = $1', [deleted!.subject_id])
})

test('a backtest that was deleted without an entry is missing', async () => {
  const [first] = await kept()
  await database.query('DELETE FROM policy_backtests WHERE id = $1', [first])
  const { problems } = await verify()
  assert.equal(problems.length, 1)
  assert.match(problems[0]!, new RegExp(`^The backtest ${first} is missing: entry \\w+ at leaf \\d+ recorded it\\.$`))
})
