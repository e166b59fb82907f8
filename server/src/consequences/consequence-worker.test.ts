/** One organization's corrupt data does not stop the worker for others; on PGlite and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decisionRow } from '../../tests/decision-row.ts'
import { entityRow } from '../../tests/entity-row.ts'
import { newOrganizationId } from '../../tests/new-organization.ts'
import { createTestStorage } from '../../tests/test-storage.ts'
import { readConfig } from '../config.ts'
import { openInstallation } from '../installation/installation.ts'
import { DatabaseUnavailable } from '../store/database/database.ts'
import type { RowOf } from '../store/schema/tables.ts'
import { ActivePolicies } from '../underwriting/active-policies.ts'
import { ConsequenceWorker } from './consequence-worker.ts'
import { FailedCauses } from './failed-causes.ts'

const place = await createTestStorage()
let nowMs = Date.parse('2026-11-15T09:30:00Z')
const installation = await openInstallation(readConfig(place.env), { nowMs: () => nowMs })
await installation.storage.migrate()
const database = installation.storage.environments.sandbox
const store = installation.stores.sandbox
after(async () => {
  await installation.close()
  await place.remove()
})

const errors: Error[] = []
/** Called before each re-evaluation; a test may replace it. */
let turn = async (_organizationId: string) => {}
const worker = new ConsequenceWorker({
  ...installation,
  database,
  store,
  policies: new ActivePolicies({ store, nowMs: () => nowMs }),
  turn: (organizationId) => turn(organizationId),
  onError: (error) => errors.push(error as Error),
})

/** Drains the backlog, and returns the organizations whose failures were reported. */
async function drain(): Promise<string[]> {
  errors.length = 0
  await worker.drain()
  return errors.map(({ message }) => /org_\w+/.exec(message)?.[0] ?? message)
}

const newOrganization = () => newOrganizationId(installation)

/** Two organizations; the one to be broken sorts first, so the worker reaches it first. */
async function twoOrganizations(): Promise<{ broken: string; healthy: string }> {
  const [broken, healthy] = await newOrganizations(2)
  return { broken: broken!, healthy: healthy! }
}

/** In the order in which the worker reaches them. */
async function newOrganizations(count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) ids.push(await newOrganization())
  return ids.sort()
}

const setChecksum = (organizationId: string, checksum: string) =>
  database.transaction(async (transaction) => {
    await transaction.script('ALTER TABLE policies DISABLE TRIGGER USER')
    await transaction.query('UPDATE policies SET checksum = $2 WHERE org_id = $1', [organizationId, checksum])
    await transaction.script('ALTER TABLE policies ENABLE TRIGGER USER')
  })

/** Entities that were approved without any facts, so that a re-evaluation changes the verdict. */
async function approved(organizationId: string, count: number): Promise<string[]> {
  const now = new Date(nowMs).toISOString()
  const ids = Array.from({ length: count }, () => installation.newId('ent'))
  await store.commit({
    organizationId,
    newEntities: ids.map((id) => entityRow(id, now)),
    decisions: ids.map((id) =>
      decisionRow({ id: `dec_${id}`, entity_id: id, product: 'marketplace_access', created_at: now }),
    ),
    consequences: ids.map((id) => cause(organizationId, 'reevaluation', id)),
  })
  return ids
}

function cause(org_id: string, kind: string, entity_id: string, mark = 'a'): RowOf<'consequences'> {
  return { org_id, kind, entity_id, mark }
}

async function countOf(sql: string, organizationId: string): Promise<number> {
  const [row] = await database.query<{ n: number }>(`SELECT count(*) AS n ${sql}`, [organizationId])
  return row!.n
}

const announced = (organizationId: string) =>
  countOf("FROM audit_entries WHERE org_id = $1 AND type = 'decision.reevaluation_due'", organizationId)
const queued = (organizationId: string) => countOf('FROM consequences WHERE org_id = $1', organizationId)
const exposures = (organizationId: string) => countOf('FROM graph_exposures WHERE org_id = $1', organizationId)

async function breakTrackRecord(organizationId: string, entityId: string): Promise<void> {
  const trackRecord = { entity_id: entityId, tallies: 'nonsense', is_adverse: true, version: 1 }
  await store.commit({ organizationId, changedTrackRecords: [trackRecord] })
}

test('an organization whose policy cannot be used does not stop the re-evaluations of another', async () => {
  const { broken, healthy } = await twoOrganizations()
  const { checksum } = (await store.policies.active(broken))!
  await setChecksum(broken, '0'.repeat(64))
  await approved(broken, 101)
  await approved(healthy, 1)
  assert.deepEqual(await drain(), [broken], 'one report, however many failed')
  assert.match(errors[0]!.message, /101 consequences/)
  assert.match(String(errors[0]!.cause), /is not the one that was approved/)
  assert.deepEqual([await announced(broken), await announced(healthy)], [0, 1])
  assert.deepEqual([await queued(broken), await queued(healthy)], [101, 0])

  assert.deepEqual(await drain(), [], 'not retried at once')
  nowMs += 2_000
  assert.deepEqual(await drain(), [broken], 'retried after the backoff')
  nowMs += 2_000
  assert.deepEqual(await drain(), [], 'and the backoff grows')

  await setChecksum(broken, checksum)
  nowMs += 2_000
  assert.deepEqual(await drain(), [])
  assert.deepEqual([await announced(broken), await queued(broken)], [101, 0], 'nothing was lost')
})

test('a verdict that turned is announced once, and only of the latest decision', async () => {
  const organizationId = await newOrganization()
  const [entity_id] = (await approved(organizationId, 1)) as [string]
  const turn = async (decision_id: string, previous: string, verdict: string) =>
    (await store.commit({ organizationId, turnedVerdicts: [{ entity_id, decision_id, verdict, previous }] })).lost
  assert.equal(await turn(`dec_${entity_id}`, 'approve', 'decline'), undefined)
  assert.equal(await turn(`dec_${entity_id}`, 'approve', 'decline'), 'turned_verdict', 'announced before')
  await store.commit({ organizationId, decisions: [decisionRow({ id: 'dec_newer', entity_id })] })
  assert.equal(await turn(`dec_${entity_id}`, 'decline', 'approve'), 'turned_verdict', 'no longer the latest')
  assert.equal(await turn('dec_newer', 'approve', 'decline'), undefined)
  await drain()
})

test('every re-evaluation waits for a turn of its organization', async (t) => {
  const organizationId = await newOrganization()
  await approved(organizationId, 3)
  const asked: string[] = []
  const begins: (() => void)[] = []
  const free = turn
  t.after(() => {
    turn = free
  })
  const allAsked = new Promise<void>((resolve) => {
    turn = (party) =>
      new Promise((begin) => {
        asked.push(party)
        begins.push(begin)
        if (asked.length === 3) resolve()
      })
  })
  const draining = drain()
  await allAsked
  assert.equal(await announced(organizationId), 0, 'nothing is decided before its turn')
  for (const begin of begins) begin()
  assert.deepEqual(await draining, [])
  assert.deepEqual(asked, [organizationId, organizationId, organizationId])
  assert.equal(await announced(organizationId), 3)
})

test('the backoff of a cause never exceeds ten minutes, however often it has failed', async () => {
  const { broken } = await twoOrganizations()
  const { checksum } = (await store.policies.active(broken))!
  await setChecksum(broken, '0'.repeat(64))
  await approved(broken, 1)
  for (let attempt = 0; attempt < 15; attempt++) {
    assert.deepEqual(await drain(), [broken])
    nowMs += 600_000
  }
  await database.query('UPDATE consequences SET attempts = 100000 WHERE org_id = $1', [broken])
  assert.deepEqual(await drain(), [broken])
  await setChecksum(broken, checksum)
  nowMs += 600_000
  assert.deepEqual(await drain(), [])
  assert.equal(await announced(broken), 1)
})

test('a new cause is due at once, even if the one before it was postponed', async () => {
  const { broken } = await twoOrganizations()
  const { checksum } = (await store.policies.active(broken))!
  await setChecksum(broken, '0'.repeat(64))
  const [id] = await approved(broken, 1)
  assert.deepEqual(await drain(), [broken])
  await setChecksum(broken, checksum)
  await store.commit({ organizationId: broken, consequences: [cause(broken, 'reevaluation', id!, 'b')] })
  assert.deepEqual(await drain(), [])
  assert.deepEqual([await announced(broken), await queued(broken)], [1, 0])
})

test('an unreadable track record postpones its own spread, and that of others goes on', async () => {
  const { broken, healthy } = await twoOrganizations()
  const [bad] = await approved(broken, 1)
  const [one, other] = await approved(healthy, 2)
  await drain()
  await breakTrackRecord(broken, bad!)
  const link = {
    type: 'same_as',
    verified: true,
    base_ppm: 900_000,
    since: 20_000,
    expires: 99_999,
    to_adverse: false,
    claim: '',
  }
  await store.commit({
    organizationId: healthy,
    links: [
      { entity_id: one!, neighbour_id: other!, ...link },
      { entity_id: other!, neighbour_id: one!, ...link },
    ],
    consequences: [cause(healthy, 'spread', one!)],
  })
  await store.commit({ organizationId: broken, consequences: [cause(broken, 'spread', bad!)] })
  assert.deepEqual(await drain(), [broken])
  assert.deepEqual([await queued(broken), await queued(healthy)], [1, 0])
  assert.equal(await exposures(healthy), 2)
  assert.deepEqual(await drain(), [])
})

test('an exposure that cannot be computed stops no other, in its own organization or in another', async () => {
  const { broken, healthy } = await twoOrganizations()
  const ids = await approved(broken, 50)
  const [one] = await approved(healthy, 1)
  await drain()
  await breakTrackRecord(broken, ids[7]!)
  await store.commit({ organizationId: broken, consequences: ids.map((id) => cause(broken, 'exposure', id)) })
  await store.commit({ organizationId: healthy, consequences: [cause(healthy, 'exposure', one!)] })
  assert.deepEqual(await drain(), [broken])
  assert.match(errors[0]!.message, /1 consequence of/)
  assert.deepEqual([await exposures(broken), await exposures(healthy)], [49, 1])
  assert.deepEqual([await queued(broken), await queued(healthy)], [1, 0])
})

test('organizations take turns, so that a large backlog of one does not starve the others', async () => {
  const [first, second, third] = (await newOrganizations(3)) as [string, string, string]
  for (const id of [first, second, third]) {
    const causes = Array.from({ length: id === first ? 9 : 2 }, (_, n) => cause(id, 'spread', `ent_${n}`))
    await store.commit({ organizationId: id, consequences: causes })
  }
  const now = new Date(nowMs).toISOString()
  const page = async (after: string, limit: number) =>
    (await store.consequences.due('spread', { after, limit, now }))
      .map(({ org_id }) => org_id)
      .filter((id) => id >= first)
  assert.deepEqual(await page('', 5), Array(5).fill(first))
  assert.deepEqual(await page(first, 5), [second, second, third, third])
  assert.deepEqual(await page(first, 3), [second, second, third])
  assert.deepEqual(await page(third, 5), [])
  await drain()
  assert.deepEqual([await queued(first), await queued(second), await queued(third)], [0, 0, 0])
})

/** Links a hub to new neighbours; returns the id of the hub. */
async function newHub(organizationId: string, neighbours: number): Promise<string> {
  const [hub, ...others] = Array.from({ length: neighbours + 1 }, () => installation.newId('ent'))
  const link = { type: 'same_as', verified: true, base_ppm: 900_000, since: 20_000, expires: 99_999 }
  const links = others.map((id) => ({ entity_id: hub!, neighbour_id: id, ...link, to_adverse: false, claim: '' }))
  await store.commit({ organizationId, links })
  return hub!
}

/** Drains the backlog; returns the organizations in the order in which a page of links was marked, and the reads of the queue. */
async function drainSpreads(): Promise<{ marked: string[]; reads: number }> {
  const seen = { marked: [] as string[], reads: 0 }
  const watched: typeof store = {
    ...store,
    graph: {
      ...store.graph,
      markLinksTo(organizationId, ...rest) {
        seen.marked.push(organizationId)
        return store.graph.markLinksTo(organizationId, ...rest)
      },
    },
    consequences: {
      ...store.consequences,
      due(kind, query) {
        if (kind === 'spread') seen.reads += 1
        return store.consequences.due(kind, query)
      },
    },
  }
  const policies = new ActivePolicies({ store, nowMs: () => nowMs })
  const onError = (error: unknown) => assert.fail(String(error))
  await new ConsequenceWorker({ ...installation, database, store: watched, policies, turn, onError }).drain()
  return seen
}

test('one pass spreads the outcomes of many entities that have few neighbours', async () => {
  const organizationId = await newOrganization()
  const entities = await Promise.all(Array.from({ length: 20 }, () => newHub(organizationId, 3)))
  await store.commit({ organizationId, consequences: entities.map((id) => cause(organizationId, 'spread', id)) })
  const { marked, reads } = await drainSpreads()
  assert.equal(marked.length, 20)
  assert.ok(reads < 6, `${reads} reads of the queue`)
})

test('the pages of a hub take turns with the spreads of other organizations', async () => {
  const [first, second] = (await newOrganizations(2)) as [string, string]
  const hub = await newHub(first, 450)
  const other = await newHub(second, 1)
  await store.commit({ organizationId: first, consequences: [cause(first, 'spread', hub)] })
  await store.commit({ organizationId: second, consequences: [cause(second, 'spread', other)] })
  assert.deepEqual((await drainSpreads()).marked, [first, second, first, first])
})

test('a long round reports its failures every ten seconds, and none of them twice', async () => {
  const reported: string[] = []
  let clockMs = 0
  const failed = new FailedCauses({
    store: { consequences: { postpone: async () => {} } },
    nowMs: () => clockMs,
    onError: (error) => reported.push((error as Error).message),
  })
  const failOnce = async (organizationId: string) => {
    await failed.attempt(cause(organizationId, 'spread', 'ent_1'), () => Promise.reject(new Error('broken')))
    failed.reportPeriodically()
  }
  await failOnce('org_a')
  await failOnce('org_a')
  assert.deepEqual(reported, [])
  clockMs += 10_000
  await failOnce('org_b')
  assert.deepEqual(reported.splice(0), [
    '2 consequences of org_a failed and will be retried',
    '1 consequence of org_b failed and will be retried',
  ])
  failed.report()
  assert.deepEqual(reported, [])
})

test('an unavailable database is not counted as the failure of a cause', async () => {
  const failed = new FailedCauses({ store, nowMs: () => 0, onError: (error) => assert.fail(String(error)) })
  const unavailable = () => Promise.reject(new DatabaseUnavailable('gone'))
  await assert.rejects(failed.attempt(cause('org_a', 'spread', 'ent_1'), unavailable), DatabaseUnavailable)
  await assert.rejects(failed.succeeds(unavailable), DatabaseUnavailable)
  failed.report()
})
