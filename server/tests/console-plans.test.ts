/** No page of the console slows down with the data: every statement of every reading operation looks at few rows. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createOrganization } from '../src/admin/manage-organizations.ts'
import { addEndpoint } from '../src/admin/manage-webhooks.ts'
import { readConfig } from '../src/config.ts'
import type { Operation } from '../src/console/define-operation.ts'
import { OperationResponder } from '../src/console/operation-responder.ts'
import { operations } from '../src/console/operations.ts'
import { createNewId } from '../src/ids/new-id.ts'
import { openInstallation, verifyMasterKey } from '../src/installation/installation.ts'
import { beginSession } from '../src/sign-in/sessions.ts'
import type { Database } from '../src/store/database/database.ts'
import { ENTRIES_SEARCHED_MAX } from '../src/store/environment/audit-log.ts'
import { CASES_COUNTED_MAX } from '../src/store/environment/cases.ts'
import { DECISIONS_SEARCHED_MAX } from '../src/store/environment/decision-list.ts'
import { WAITING_COUNTED_MAX } from '../src/store/environment/overview.ts'
import { byService, SERVICE } from './acts.ts'
import { fillConsoleTables, idAt, ROWS, ROWS_SEARCHED } from './fill-console-tables.ts'
import { addAccount, addOperatorRow } from './people.ts'
import { rowsTouched } from './rows-touched.ts'
import { sandboxPolicySource } from './sandbox-policy.ts'
import { createTestStorage } from './test-storage.ts'

/** Rows that a statement may look at: what the longest range of a page has, and far less than a table. */
const ROWS_MAX = 2_000
/** Two searches without an index have a bound of their own, and so have the counts of open cases and waiting reviews. */
const rowsMax = (name: string, table: string) => {
  if (name === 'audit-log.list') return ENTRIES_SEARCHED_MAX
  if (name === 'decisions.list') return DECISIONS_SEARCHED_MAX
  if (table === 'cases') return CASES_COUNTED_MAX
  return table === 'waiting_reviews' ? WAITING_COUNTED_MAX : ROWS_MAX
}
const NOW_MS = Date.parse('2026-11-15T09:30:00.000Z')
const place = await createTestStorage()
const installation = await openInstallation(readConfig(place.env), { nowMs: () => NOW_MS })
const { storage } = installation
await storage.migrate()
await verifyMasterKey(installation)
after(async () => {
  await installation.close()
  await place.remove()
})
const { control } = storage
const database = storage.environments.production
const { id: organizationId } = await createOrganization(installation, SERVICE, 'Acme')
const endpoint = await addEndpoint(installation, byService(organizationId, 'production'), {
  url: 'https://example.com/',
  description: '',
  eventTypes: 'all',
})
const ids = createNewId(() => NOW_MS)
const me = ids('opr')
const token = await signIn()

async function signIn(): Promise<string> {
  const now = new Date(NOW_MS).toISOString()
  const account = { id: 'acc_me', email: 'ada@example.com', name: 'Ada', password_hash: null, created_at: now }
  await addAccount(installation, account)
  await addOperatorRow(installation, {
    org_id: organizationId,
    id: me,
    email: account.email,
    name: 'Ada',
    role: 'owner' as const,
    created_at: now,
    disabled_at: null,
    account_id: account.id,
  })
  const client = { address: '127.0.0.1', userAgent: '' }
  return beginSession(installation, { accountId: account.id, method: 'passkey', client })
}

await fillConsoleTables(storage, { organizationId, endpointId: endpoint.id })

const days = { from: '2026-08-15', to: '2026-11-15' }
const entry = idAt('aud', ROWS_SEARCHED)
const event = idAt('evt', ROWS_SEARCHED)

/** What each operation that only reads is asked for: lists from their beginning, from the middle, and by every filter. */
const INPUTS: Record<string, object[]> = {
  'account.rename': [{ name: 'Ada' }],
  'audit-log.show-entry': [{ id: entry }],
  'audit-log.list': [
    {},
    { cursor: idAt('aud', ROWS_SEARCHED / 2) },
    { from: '2026-11-01', before: '2026-11-02' },
    { type: 'entity.created' },
    { type: 'operator.signed_in' },
    { actor: 'key_1' },
    { actor: 'key_of_another' },
    { actor: me },
    { target: idAt('ent', 17) },
    { target: 'whe_of_another' },
  ],
  'cases.list': [
    {},
    { cursor: idAt('cas', ROWS_SEARCHED - ROWS / 2) },
    { holder: 'mine' },
    { holder: 'free' },
    { deadline: 'over' },
    { state: 'decided' },
    { state: 'decided', holder: 'mine' },
    { state: 'decided', cursor: idAt('rev', 10_000) },
  ],
  'cases.show': [{ id: idAt('cas', ROWS_SEARCHED) }, { id: idAt('cas', 5) }],
  'entities.find': [{ type: 'email', value: 'ada@example.com' }],
  'entities.show-neighbourhood': [{ id: idAt('ent', ROWS_SEARCHED), hops: 2 }],
  'entities.list': [
    {},
    { cursor: idAt('ent', ROWS_SEARCHED / 2) },
    { search: idAt('ent', 7) },
    { search: 'e777' },
    { search: 'Person 777' },
  ],
  'entities.show': [{ id: idAt('ent', ROWS_SEARCHED) }],
  'entity-erasure.show': [{ entity_id: idAt('ent', ROWS_SEARCHED) }],
  'entity-merges.show': [{ entity_id: idAt('ent', ROWS_SEARCHED) }],
  'invitation.show': [{ token: 'A'.repeat(43) }],
  'overview.show': [{ range: '24h' }, { range: '30d' }],
  'policy-backtests.show': [{ id: idAt('bkt', ROWS_SEARCHED) }],
  'policy-backtests.list': [{ version: 'v7' }],
  'policies.check': [{ source: sandboxPolicySource() }],
  'policies.show': [{ version: 'v7' }],
  'policy-backtests.try': [{ source: sandboxPolicySource(), last: 2_000 }],
  'policy-calibration.show': [{ version: 'v7' }],
  'policy-calibration.draft': [{ version: 'policy_of_another' }],
  'team.list-sessions': [{ operator_id: me }, { operator_id: ids('opr') }],
  'decisions.list': [
    {},
    { limit: 500 },
    { cursor: idAt('dec', ROWS_SEARCHED / 2) },
    { from: '2026-11-01', before: '2026-11-02' },
    { verdict: 'manual_review' },
    { verdict: 'approve' },
    { tier: 'E' },
    { tier: 'T1', verdict: 'manual_review', policy_version: 'policy-1' },
    { policy_version: 'policy-0' },
    { product: 'product-1' },
    { product: 'rare' },
    { product: 'product-1', tier: 'E' },
    { entity_id: idAt('ent', 17) },
    { review: 'waiting' },
    { review: 'reviewed' },
    { review: 'reviewed', tier: 'E' },
    { outcome: 'default' },
    { outcome: 'repaid' },
    { outcome: 'repaid', tier: 'E' },
    { outcome: 'fraud_confirmed', verdict: 'decline' },
  ],
  'decisions.prove': [{ id: idAt('dec', 17) }],
  'decisions.replay': [{ id: idAt('dec', 17) }],
  'decisions.show': [{ id: idAt('dec', 17) }],
  'playground.decide': [{ entity_id: 'ent_of_another', product: 'personal_loan' }, { decision_id: 'dec_of_another' }],
  'usage.show': [days, { ...days, key: 'key_1' }],
  'deliveries.list': [
    {},
    { endpoint_id: endpoint.id },
    { event_id: event },
    { state: 'pending' },
    { state: 'failed' },
    { state: 'delivered', event_type: 'entity.created' },
    { event_type: 'decision.reviewed' },
    { answer: '5xx' },
    { answer: '2xx' },
  ],
  'deliveries.show': [{ endpoint_id: endpoint.id, event_id: event }],
  'webhooks.show': [{ id: endpoint.id }],
  'welcome.check': [{ token: 'A'.repeat(43) }],
}

const reading = Object.entries(operations).filter(([, { audit }]) => audit.length === 0) as [string, Operation][]
const responder = new OperationResponder(installation)

/** Every statement that an operation runs, with its parameters, on either database. */
async function statementsOf(name: string, { access }: Operation, input: object) {
  const run: { on: Database; sql: string; params: readonly unknown[] }[] = []
  const undo = [control, database].map((on) => {
    const query = on.query.bind(on)
    Object.assign(on, {
      query(sql: string, params: readonly unknown[] = []) {
        run.push({ on, sql, params })
        return query(sql, params)
      },
    })
    return () => Object.assign(on, { query })
  })
  try {
    const isWithin = access !== 'open' && access !== 'account'
    const admitted = await responder.admit({
      path: isWithin
        ? { access: 'operator', name, organization: organizationId, environment: 'production' }
        : { access, name },
      token,
    })
    if ('refused' in admitted) return { run, refused: admitted.refused }
    const answer = await responder.respond(admitted, {
      input,
      requestId: 'req_test',
      origin: 'http://localhost:4000',
      client: { address: '127.0.0.1', userAgent: '' },
      signal: new AbortController().signal,
      deviceCookie: undefined,
      turn: async () => {},
    })
    return { run, refused: 'refused' in answer ? answer.refused : undefined }
  } finally {
    for (const restore of undo) restore()
  }
}

for (const [name, operation] of reading)
  test(`${name} looks at few rows of a big table`, async () => {
    for (const input of INPUTS[name] ?? [{}]) {
      const { run, refused } = await statementsOf(name, operation, input)
      // A link that does not exist is searched for as one that does.
      if (refused) assert.equal(refused.status, 404, `${name} ${JSON.stringify(input)}: ${refused.message}`)
      if (name === 'team.list-sessions' && 'operator_id' in input)
        assert.equal(
          run.some(({ sql }) => sql.includes('FROM sessions WHERE account_id')),
          input.operator_id === me,
        )
      for (const { on, sql, params } of run) {
        for (const { table, rows } of await rowsTouched(on, sql, params))
          assert.ok(
            rows <= rowsMax(name, table),
            `${name} ${JSON.stringify(input)} looks at ${rows} rows of ${table}:\n${sql}`,
          )
      }
    }
  })

test('a statement that reads a whole big table is seen', async () => {
  const seen = async (on: Database, sql: string, params: unknown[]) =>
    (await rowsTouched(on, sql, params)).some(({ rows }) => rows >= ROWS)
  assert.ok(await seen(database, 'SELECT count(*) FROM decisions WHERE reason_codes = $1', ['approve']))
  assert.ok(await seen(database, 'SELECT count(*) FROM decisions WHERE org_id = $1', [organizationId]))
  assert.ok(await seen(control, 'UPDATE sessions SET address = $1 WHERE user_agent = $2', ['a', 'b']))
  assert.ok(!(await seen(control, 'UPDATE sessions SET address = $1 WHERE id = $2', ['a', 'b'])))
})
