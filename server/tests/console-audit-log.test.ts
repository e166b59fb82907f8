/** The audit log in the console: its list, its filters, and its verification in the background. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '../src/admin/manage-keys.ts'
import { beginVerification } from '../src/audit/begin-verification.ts'
import { findOperatorById } from '../src/store/control/operators.ts'
import { ENTRIES_SEARCHED_MAX } from '../src/store/environment/audit-log.ts'
import { byOperator } from './acts.ts'
import { signedInOperator } from './console-client.ts'
import { createEntity, underwrite } from './figures-requests.ts'
import { tamper } from './tamper.ts'
import { startTestService } from './test-service.ts'

let nowMs = Date.parse('2026-11-15T09:30:00.000Z')
const api = await startTestService({ nowMs: () => nowMs })
const acme = await api.newOrganization('Acme')
const ada = await signedInOperator(api, { organizationId: acme.id, email: 'ada@example.com', role: 'admin' })
const vic = await signedInOperator(api, { organizationId: acme.id, email: 'vic@example.com', role: 'viewer' })
const { installation } = api.service
const database = installation.storage.environments.sandbox

interface Entry {
  id: string
  type: string
  occurred_at: string
  actor: { type: string; id: string; name: string | null }
  subject: { type: string; id: string }
  trail_id: string
  data: Record<string, unknown>
  leaf_index: number | null
}

async function read(name: string, input: object = {}) {
  const answer = await ada.call(`${acme.id}/sandbox/${name}`, input)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

async function list(filter: object = {}): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await read('audit-log.list', { ...filter, limit: 3, ...(cursor && { cursor }) })
    assert.ok(page.entries.length <= 3)
    entries.push(...page.entries)
    if (page.next_cursor === null) return entries
    cursor = page.next_cursor
  }
}

const typesOf = (entries: Entry[]) => entries.map(({ type }) => type)

const one = await createEntity(acme, 'one', { income: true })
const decision = await underwrite(acme, one)
nowMs += 24 * 3_600_000
await ada.signIn('ada@example.com')
const two = await createEntity(acme, 'two')
const operator = (await findOperatorById(installation.storage.control, acme.id, ada.operatorId))!
const wanted = { name: 'Nightly job', scopes: ['usage:read'], expiresAt: null } as const
const key = await createKey(installation, byOperator(operator), wanted)

test('every entry is listed once, newest first, with who did it by name', async () => {
  const all = await list()
  const stored = await database.query<{ n: number }>('SELECT count(*) AS n FROM audit_entries WHERE org_id = $1', [
    acme.id,
  ])
  assert.equal(all.length, stored[0]!.n)
  assert.deepEqual(
    all.map(({ id }) => id),
    all
      .map(({ id }) => id)
      .toSorted()
      .reverse(),
  )
  const created = all.find(({ subject }) => subject.id === key.id)!
  assert.deepEqual(created.actor, { type: 'operator', id: ada.operatorId, name: 'Test' })
  assert.equal(created.data.name, 'Nightly job')
  // The sealer may give the entry its leaf between the two reads.
  const { id, leaf_index: _before, ...rest } = created
  const { leaf_index: _now, ...entry } = await read('audit-log.show-entry', { id })
  assert.deepEqual(entry, { id, ...rest })
  assert.equal((await ada.call(`${acme.id}/production/audit-log.show-entry`, { id })).status, 404)
  const decided = all.find(({ subject }) => subject.id === decision.id)!
  assert.deepEqual([decided.actor.type, decided.actor.name, decided.trail_id], ['api_key', 'Test', one])
})

test('filters by actor, type, target and time find the same entries as reading all of them', async () => {
  const all = await list()
  const apiKey = all.find(({ subject }) => subject.id === one)!.actor.id
  const cases: [object, (entry: Entry) => boolean][] = [
    [{ actor: ada.operatorId }, ({ actor }) => actor.id === ada.operatorId],
    [{ actor: apiKey }, ({ actor }) => actor.id === apiKey],
    [{ actor: apiKey, type: 'entity.created' }, ({ actor, type }) => actor.id === apiKey && type === 'entity.created'],
    [{ type: 'api_key.created' }, ({ type }) => type === 'api_key.created'],
    [{ type: 'entity.created' }, ({ type }) => type === 'entity.created'],
    [{ target: one }, ({ trail_id }) => trail_id === one],
    [
      { target: one, type: 'decision.created' },
      ({ trail_id, type }) => trail_id === one && type === 'decision.created',
    ],
    [{ target: decision.id }, ({ subject }) => subject.id === decision.id],
    [{ target: key.id }, ({ subject }) => subject.id === key.id],
    [{ from: '2026-11-16T00:00:00Z' }, ({ occurred_at }) => occurred_at >= '2026-11-16'],
    [{ before: '2026-11-16T00:00:00Z' }, ({ occurred_at }) => occurred_at < '2026-11-16'],
    [
      { type: 'entity.created', before: '2026-11-16T00:00:00Z' },
      ({ type, occurred_at }) => type === 'entity.created' && occurred_at < '2026-11-16',
    ],
    [{ target: two, before: '2026-11-16T00:00:00Z' }, () => false],
    [{ actor: 'opr_unknown' }, () => false],
  ]
  for (const [filter, matches] of cases) {
    const expected = all.filter(matches)
    assert.deepEqual(typesOf(await list(filter)), typesOf(expected), JSON.stringify(filter))
    if (!('actor' in filter && filter.actor === 'opr_unknown') && !('target' in filter && filter.target === two))
      assert.ok(expected.length > 0 && expected.length < all.length, JSON.stringify(filter))
  }
  const filters = await read('audit-log.list-filters')
  assert.ok(filters.types.includes('api_key.created') && filters.types.includes('decision.created'))
  assert.ok(
    filters.actors.some(({ id, name }: { id: string; name: string }) => id === ada.operatorId && name === 'Test'),
  )
  for (const wrong of [{ from: 'yesterday' }, { cursor: 'aud_1' }, { limit: 501 }, { unknown: 1 }])
    assert.equal((await ada.call(`${acme.id}/sandbox/audit-log.list`, wrong)).status, 400, JSON.stringify(wrong))
})

test('an entry is shown as waiting until it is sealed, and the head covers it then', async () => {
  for (let tries = 0; (await list()).some(({ leaf_index }) => leaf_index === null) && tries < 100; tries++)
    await new Promise((resolve) => setTimeout(resolve, 100))
  const entries = await list()
  const { head } = await read('audit-log.show-status')
  assert.equal(head.size, entries.length)
  assert.deepEqual(
    entries.map(({ leaf_index }) => leaf_index).toSorted((a, b) => a! - b!),
    entries.map((_, index) => index),
  )
})

test('an operator verifies the log in the background; the result names them and is on the log; a viewer may not', async () => {
  assert.equal((await read('audit-log.show-status')).verified, null)
  await vic.signIn('vic@example.com')
  assert.equal((await vic.call(`${acme.id}/sandbox/audit-log.verify`)).status, 403)
  assert.deepEqual(await read('audit-log.verify'), { begun: true })
  const status = await untilVerified()
  const { by, intact, leaves, problems } = status.verified
  assert.deepEqual([by, intact, problems], [{ id: ada.operatorId, name: 'Test' }, true, []])
  assert.equal(leaves, status.head.size)
  const [entry] = await list({ type: 'audit_log.verified' })
  assert.deepEqual([entry!.actor.id, entry!.data.intact, entry!.data.leaves], [ada.operatorId, true, leaves])
})

test('one verification runs at a time, and one whose node died can be started again', async () => {
  const { newId, knownHeads, masterKey } = installation
  const wanted = {
    organizationId: acme.id,
    environment: 'sandbox' as const,
    operatorId: ada.operatorId,
    requestId: newId('req'),
    newId,
    nowMs: () => nowMs,
    store: installation.stores.sandbox,
    people: installation.stores.production,
    knownHeads: knownHeads.sandbox,
    control: installation.storage.control,
    publicKeys: masterKey.auditPublicKeys('sandbox'),
  } as const
  const [first, second] = await Promise.all([beginVerification(wanted), beginVerification(wanted)])
  assert.deepEqual([first!.begun, second!.begun].sort(), [false, true])
  await Promise.all([first!.done, second!.done])
  await database.query(`UPDATE audit_verifications SET beat_at = now() - interval '1 hour' WHERE org_id = $1`, [
    acme.id,
  ])
  assert.match((await read('audit-log.show-status')).failure, /stopped before the end/)
  const again = await beginVerification(wanted)
  assert.equal(again.begun, true)
  await again.done
  assert.equal((await read('audit-log.show-status')).failure, null)
})

test('a log that was altered is reported with its problems', async () => {
  const altered = `UPDATE audit_entries SET data = '{}' WHERE org_id = $1 AND subject_id = $2`
  await tamper(database, altered, [acme.id, decision.id])
  await read('audit-log.verify')
  const { verified } = await untilVerified()
  assert.equal(verified.intact, false)
  assert.ok(verified.problems_count > 0 && verified.problems[0].includes('aud_'))
})

test('a search looks at a bounded number of entries, says so, and goes on from there', async () => {
  const bulk = await api.newOrganization('Bulk')
  const bob = await signedInOperator(api, { organizationId: bulk.id, email: 'bob@example.com', role: 'owner' })
  await database.query(
    `INSERT INTO audit_entries (org_id, id, trail_id, seq, type, occurred_at, actor_type, actor_id, subject_type, subject_id, data, mac, flush, place)
     SELECT $1, 'aud_' || lpad(n::text, 26, '0'), 'trail', n, CASE n WHEN 5 THEN 'entity.updated' ELSE 'decision.created' END,
       now(), 'api_key', 'key_1', 'decision', 'dec_' || n, '{}', '', -n, 0 FROM generate_series(1, $2::integer) AS n`,
    [bulk.id, ENTRIES_SEARCHED_MAX + 1_000],
  )
  const call = async (input: object) => (await bob.call(`${bulk.id}/sandbox/audit-log.list`, input)).body
  const first = await call({ type: 'entity.updated' })
  assert.deepEqual([first.entries.length, first.is_cut_short], [0, true])
  const rest = await call({ type: 'entity.updated', cursor: first.next_cursor })
  assert.deepEqual([rest.entries.length, rest.is_cut_short, rest.next_cursor], [1, false, null])
})

async function untilVerified() {
  for (let tries = 0; tries < 200; tries++) {
    const status = await read('audit-log.show-status')
    if (!status.running && status.verified) return status
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return assert.fail('the verification did not end')
}
