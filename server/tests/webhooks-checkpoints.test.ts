/** `audit.checkpoint` reaches the endpoints that name it, and each log announces at most one head a minute. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { contextOf } from '../src/admin/act.ts'
import { addEndpoint } from '../src/admin/manage-webhooks.ts'
import { Sealer } from '../src/audit/sealer.ts'
import { auditEntryRow } from '../src/store/write-path/record.ts'
import { webhookPlaces } from './webhook-dispatcher.ts'
import { startReceiver, until } from './webhook-receiver.ts'

const openWebhookPlace = webhookPlaces()

let nowMs = Date.parse('2026-11-16T09:30:00Z')
const place = await openWebhookPlace({ nowMs: () => nowMs })
const { installation, store, database, act } = place

const named = await startReceiver()
const others = await startReceiver()
after(() => Promise.all([named.close(), others.close()]))
for (const [{ url }, eventTypes] of [
  [named, ['audit.checkpoint']],
  [others, 'all'],
] as const) {
  await addEndpoint(installation, act, { url, description: '', eventTypes })
}
place.startDispatcher()

function newSealer(): Sealer {
  return new Sealer({
    ...installation,
    environment: 'sandbox',
    database,
    store,
    keys: installation.masterKey.sealingKeys('sandbox'),
    knownHeads: installation.knownHeads.sandbox,
    knownErasures: installation.knownErasures.sandbox,
    onError: (error) => assert.fail(String(error)),
    onRefused: ({ entry_ids }) => assert.fail(entry_ids.join()),
  })
}
const sealer = newSealer()

/** Writes an audit entry and seals it, which signs a new head. */
async function growLog(): Promise<void> {
  const entry = auditEntryRow(contextOf(installation, act), {
    type: 'organization.created',
    trailId: act.organizationId,
    subject: { type: 'organization', id: act.organizationId },
    data: { organization_id: act.organizationId },
  })
  await store.commit({ organizationId: act.organizationId, auditEntries: [entry] })
  await sealer.sealAll()
}

async function countOf(sql: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(`SELECT count(*) AS n FROM ${sql} AND org_id = $1`, [
    act.organizationId,
  ])
  return row!.n
}
const announced = () => countOf("events WHERE type = 'audit.checkpoint'")
const sizesReceived = () => named.received.map(({ event }) => event.data.tree_size)

test('a log that gets an entry every ten seconds for five minutes announces a head each minute', async () => {
  const headsBefore = await countOf('audit_heads WHERE true')
  for (let entry = 0; entry < 30; entry++) {
    await growLog()
    assert.equal(await announced(), 1 + Math.floor(entry / 6), `after ${entry * 10} s`)
    nowMs += 10_000
  }
  assert.equal((await countOf('audit_heads WHERE true')) - headsBefore, 30, 'each entry has got a head of its own')
  await until('the announced heads are received', () => named.received.length === 5)
  assert.ok(named.received.every(({ event }) => event.type === 'audit.checkpoint'))
})

test('the last head of a log that became quiet is announced once its minute is over', async () => {
  const before = await announced()
  nowMs = Math.ceil(nowMs / 60_000) * 60_000 + 60_000
  await growLog()
  nowMs += 1_000
  await growLog()
  assert.equal(await announced(), before + 1, 'the second head came too soon after the first')
  nowMs += 58_999
  await newSealer().close() // runs one round
  assert.equal(await announced(), before + 1, 'the minute is not over')
  nowMs += 1
  await newSealer().close()
  assert.equal(await announced(), before + 2)
  nowMs += 600_000
  await newSealer().close()
  assert.equal(await announced(), before + 2, 'a head is announced once')
  await until('the last head is received', () => named.received.length === before + 2)
  const [head] = await database.query<{ tree_size: number }>(
    'SELECT max(tree_size) AS tree_size FROM audit_heads WHERE org_id = $1',
    [act.organizationId],
  )
  assert.equal(Math.max(...sizesReceived().map(Number)), head!.tree_size)
})

test('an endpoint for all events gets no checkpoint', async () => {
  await place.emit(1)
  await until('another event is received', () => others.received.length > 0)
  assert.deepEqual([...new Set(others.received.map(({ event }) => event.type))], ['webhook.test'])
})
