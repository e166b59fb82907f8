/** Leases: each delivery to one node, oldest first, and no webhook endpoint delayed by the backlog of another. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { disableByOperator } from '../src/admin/manage-webhooks.ts'
import { DatabaseError } from '../src/store/database/database.ts'
import { openEnvironmentStore } from '../src/store/environment/environment-store.ts'
import type { LeaseRequest } from '../src/store/environment/webhook-dispatch.ts'
import { testKeys } from './test-keys.ts'
import { webhookPlaces } from './webhook-dispatcher.ts'

const openWebhookPlace = webhookPlaces()

const PASSES = 3
const URL = 'http://127.0.0.1:9/'
const now = () => new Date(Date.now() + 1_000).toISOString()

test('every webhook endpoint with due deliveries is found, and its oldest deliveries are leased first', async () => {
  const place = await openWebhookPlace()
  const busy = await place.addEndpoint(URL)
  const backlog = await place.emit(3_000)
  await place.database.query(
    `UPDATE webhook_deliveries AS delivery SET due_at = timestamptz '2026-01-01' + placed.place * interval '1 second'
     FROM (SELECT event_id, row_number() OVER (ORDER BY event_id) AS place FROM webhook_deliveries) AS placed
     WHERE delivery.event_id = placed.event_id`,
  )
  const calm = await place.addEndpoint(URL)
  const both = await place.emit(2)
  const other = await place.newOrganization()
  const disabled = await place.addEndpoint(URL, other)
  await place.emit(1, other)
  const act = { ...place.act, organizationId: other, reason: 'a test' }
  await disableByOperator(place.installation, act, disabled.id)
  const org_id = place.act.organizationId
  const dueOf = async () =>
    (await place.store.dispatch.endpointsWithDue(now())).map(({ endpoint_id }) => endpoint_id).sort()
  assert.deepEqual(await dueOf(), [busy.id, calm.id].sort())
  assert.deepEqual(await place.store.dispatch.endpointsWithDue('2025-01-01T00:00:00.000Z'), [], 'nothing is due yet')

  const wanted = [busy.id, calm.id].map((endpoint_id) => ({ org_id, endpoint_id, count: 10 }))
  const lease = async () => (await place.store.dispatch.lease({ now: now(), leaseSeconds: 60, wanted })).leased
  const first = await lease()
  const eventsOf = (rows: typeof first, id: string) =>
    rows.filter((row) => row.endpoint_id === id).map(({ event_id }) => event_id)
  assert.deepEqual(eventsOf(first, busy.id).sort(), backlog.slice(0, 10))
  assert.deepEqual(eventsOf(first, calm.id).sort(), both)
  assert.deepEqual([first[0]!.type, first[0]!.data, first[0]!.attempts, first[0]!.cycle], ['webhook.test', '{}', 0, 0])
  assert.deepEqual(eventsOf(await lease(), busy.id).sort(), backlog.slice(10, 20), 'leased deliveries are skipped')
  assert.deepEqual(await dueOf(), [busy.id], 'the other one has nothing left')
  await place.store.dispatch.release(first)
  assert.deepEqual(
    eventsOf(await lease(), busy.id).sort(),
    backlog.slice(0, 10),
    'released deliveries can be leased at once',
  )
})

test('one call leases deliveries of any number of webhook endpoints', async () => {
  const place = await openWebhookPlace()
  const wanted: { org_id: string; endpoint_id: string; count: number }[] = []
  for (let organization = 0; organization < 3; organization++) {
    const org_id = await place.newOrganization()
    const added = await Promise.all(Array.from({ length: 45 }, () => place.addEndpoint(URL, org_id)))
    wanted.push(...added.map(({ id }) => ({ org_id, endpoint_id: id, count: 2 })))
    await place.emit(3, org_id)
  }
  assert.equal((await place.store.dispatch.endpointsWithDue(now())).length, wanted.length)
  for (const count of [1, 7, 64, wanted.length]) {
    const some = wanted.slice(0, count)
    const { leased, found } = await place.store.dispatch.lease({ now: now(), leaseSeconds: 60, wanted: some })
    assert.deepEqual([leased.length, found], [2 * count, 2 * count])
    await place.store.dispatch.release(leased)
  }
})

test('concurrent nodes never lease the same delivery, and together lease all', async () => {
  // Its own database, because it closes a handle on it.
  const place = await openWebhookPlace({ nowMs: Date.now })
  const endpoints = []
  for (let index = 0; index < 12; index++) endpoints.push(await place.addEndpoint(URL))
  const events = await place.emit(100)
  const database = place.database.inSchema(place.database.schema)
  after(() => database.close())
  const nodes = [place.store, openEnvironmentStore(database, testKeys)]
  const wanted = endpoints.map(({ id }) => ({ org_id: place.act.organizationId, endpoint_id: id, count: 40 }))
  let leases = 0
  for (let pass = 0; pass < PASSES; pass++) {
    const taken: string[] = []
    while (true) {
      const results = await Promise.all(
        nodes.map((node, index) =>
          leaseWithRetries(node, {
            now: now(),
            leaseSeconds: 60,
            wanted: index === 0 ? wanted : wanted.toReversed(),
          }),
        ),
      )
      const leased = results.flat()
      leases += 1
      taken.push(...leased.map(({ endpoint_id, event_id }) => `${endpoint_id} ${event_id}`))
      if (leased.length === 0) break
    }
    assert.equal(taken.length, endpoints.length * events.length)
    assert.equal(new Set(taken).size, taken.length)
    await place.database.query("UPDATE webhook_deliveries SET leased_until = '1970-01-01'")
  }
  assert.ok(leases > PASSES)
})

test('a delivery that another node has tried and rescheduled since it was found is not leased', async () => {
  const place = await openWebhookPlace()
  const { id } = await place.addEndpoint(URL)
  const [tried, free] = await place.emit(2)
  // Between finding and leasing, an attempt of another node fails for one of the two.
  const query: typeof place.database.query = async (sql, params) => {
    if (sql.includes('SET leased_until = now() +'))
      await place.database.query(
        "UPDATE webhook_deliveries SET attempts = 1, due_at = due_at + interval '5 minutes' WHERE event_id = $1",
        [tried],
      )
    return place.database.query(sql, params)
  }
  const node = openEnvironmentStore(
    new Proxy(place.database, { get: (database, name) => (name === 'query' ? query : Reflect.get(database, name)) }),
    testKeys,
  )
  const wanted = [{ org_id: place.act.organizationId, endpoint_id: id, count: 10 }]
  const { leased, found } = await node.dispatch.lease({ now: now(), leaseSeconds: 60, wanted })
  assert.deepEqual([leased.map(({ event_id }) => event_id), found], [[free], 2])
})

/** Retries deadlocks, as the dispatcher does. */
async function leaseWithRetries(node: ReturnType<typeof openEnvironmentStore>, request: LeaseRequest) {
  for (;;) {
    try {
      return (await node.dispatch.lease(request)).leased
    } catch (error) {
      if (!(error instanceof DatabaseError && error.isTransient)) throw error
    }
  }
}
