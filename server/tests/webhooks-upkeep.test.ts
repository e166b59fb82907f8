/** Retention of deliveries, and the metrics of webhooks. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAttempts, redeliver } from '../src/admin/manage-deliveries.ts'
import { addEndpoint, disableByOperator } from '../src/admin/manage-webhooks.ts'
import { Upkeep } from '../src/service/upkeep.ts'
import { upkeepTasks } from '../src/service/upkeep-tasks.ts'
import { openEnvironmentStore } from '../src/store/environment/environment-store.ts'
import { byService } from './acts.ts'
import { testKeys } from './test-keys.ts'
import { startTestService } from './test-service.ts'
import { webhookPlaces } from './webhook-dispatcher.ts'
import { startReceiver, until } from './webhook-receiver.ts'

const openWebhookPlace = webhookPlaces()

const DAY_MS = 86_400_000

test('ended deliveries and their events are deleted after the retention time; pending ones are kept', async () => {
  let aheadMs = 0
  const nowMs = () => Date.now() + aheadMs
  const place = await openWebhookPlace({ nowMs })
  const receiver = await startReceiver()
  after(() => receiver.close())
  const endpoint = await place.addEndpoint(receiver.url)
  const idle = await place.addEndpoint(receiver.url)
  place.startDispatcher()
  const old = await place.emit(5)
  await until('they are received', () => receiver.received.length === 10)
  const states = () =>
    place.database.query<{ event_id: string; endpoint_id: string; state: string }>(
      'SELECT event_id, endpoint_id, state FROM webhook_deliveries ORDER BY event_id, endpoint_id',
    )
  const attempts = async () =>
    (await place.database.query<{ count: number }>('SELECT count(*) AS count FROM webhook_attempts'))[0]!.count
  await until('they are recorded', async () => (await attempts()) === 10)

  const disabling = { ...place.act, reason: 'its pending deliveries are kept' }
  await disableByOperator(place.installation, disabling, idle.id)
  await place.store.commit({
    organizationId: place.act.organizationId,
    queuedDeliveries: [
      {
        endpoint_id: idle.id,
        event_id: old[0]!,
        event_type: 'webhook.test',
        state: 'pending',
        by_hand: false,
        attempts: 0,
        schedule_step: 0,
        due_at: new Date(nowMs()).toISOString(),
        leased_until: '1970-01-01T00:00:00.000Z',
      },
    ],
  })
  aheadMs = 20 * DAY_MS
  const recent = await place.emit(5)
  await until('the second batch is recorded', async () => (await attempts()) === 15)

  const { config, newId } = place.installation
  const upkeep = new Upkeep({
    database: place.database,
    tasks: upkeepTasks({
      store: place.store,
      database: place.database,
      newId,
      keepDays: config.keepDays,
      isEmbedded: false,
    }),
    nowMs,
    onError: (error) => assert.fail(error as Error),
  })
  const events = async () =>
    (await place.database.query<{ id: string }>('SELECT id FROM events ORDER BY id')).map(({ id }) => id)
  const all = await events()
  await upkeep.run()
  assert.equal((await states()).length, 15, 'nothing is old enough')
  aheadMs = 30.5 * DAY_MS
  await upkeep.run()
  const left = [
    { event_id: old[0], endpoint_id: idle.id, state: 'pending' },
    ...recent.map((event_id) => ({ event_id, endpoint_id: endpoint.id, state: 'delivered' })),
  ]
  assert.deepEqual(await states(), left)
  assert.equal(await attempts(), 6, 'an attempt is kept as long as its delivery')
  assert.deepEqual(await events(), all, 'events are kept a day longer')
  const again = redeliver(place.installation, place.act, { id: endpoint.id, what: { eventId: old[1]! } })
  await assert.rejects(again, {
    code: 'event_too_old',
    message: /^Events and deliveries are kept for 30 days, and evt_\w+ was written at /,
  })

  aheadMs = 31.5 * DAY_MS
  await upkeep.run()
  assert.deepEqual(await states(), left)
  assert.deepEqual(await events(), [old[0], ...recent], 'an event is kept while a delivery refers to it')
  const resent = await redeliver(place.installation, place.act, { id: endpoint.id, what: { eventId: recent[0]! } })
  assert.deepEqual(resent, { queued: 1 })
  await until('it is received again', () => receiver.received.filter(({ id }) => id === recent[0]).length === 2)
  await until('the attempt is recorded', async () => (await attempts()) === 7)
  const listed = await listAttempts(place.installation, place.act, { id: endpoint.id, eventId: recent[0]! })
  assert.deepEqual(
    listed.map(({ number, status }) => [number, status]),
    [
      [1, 204],
      [2, 204],
    ],
  )
  await upkeep.close()
})

test('a delivery that is redelivered while old deliveries are deleted keeps its new attempt', async () => {
  const place = await openWebhookPlace()
  const receiver = await startReceiver()
  after(() => receiver.close())
  const endpoint = await place.addEndpoint(receiver.url)
  place.startDispatcher()
  const [event, other] = await place.emit(2)
  const attempts = () => place.database.query('SELECT event_id, number FROM webhook_attempts ORDER BY event_id, number')
  await until('they are recorded', async () => (await attempts()).length === 2)
  // One of them is redelivered between the query and the deletion.
  const query: typeof place.database.query = async (sql, params) => {
    if (sql.includes('DELETE FROM webhook_attempts')) {
      await redeliver(place.installation, place.act, { id: endpoint.id, what: { eventId: event! } })
      await until('the second attempt is recorded', async () => (await attempts()).length === 3)
    }
    return place.database.query(sql, params)
  }
  const store = openEnvironmentStore(
    new Proxy(place.database, { get: (database, name) => (name === 'query' ? query : Reflect.get(database, name)) }),
    testKeys,
  )
  const overBefore = new Date().toISOString()
  assert.equal(await store.deliveries.purge(overBefore, 10), 2)
  assert.deepEqual(await attempts(), [{ event_id: event, number: 2 }])
  const left = await place.database.query('SELECT event_id, attempts FROM webhook_deliveries')
  assert.deepEqual(left, [{ event_id: event, attempts: 2 }], `${other} is gone`)
})

test('metrics count attempts by result and webhook endpoints by health', async () => {
  const api = await startTestService({ env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' } })
  const { installation, urls } = api.service
  const acme = await api.newOrganization()
  for (const status of [204, 500, 410]) {
    const receiver = await startReceiver(() => ({ status }))
    after(() => receiver.close())
    const wanted = { url: receiver.url, description: '', eventTypes: ['entity.created'] }
    await addEndpoint(installation, byService(acme.id), wanted)
  }
  await acme.post('/v1/entities', { external_id: 'measured' })
  const figures = async () => {
    const text = await (await fetch(`${urls.console}/metrics`)).text()
    const lines = text.split('\n').filter((line) => line.startsWith('verdigraph_webhook_'))
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
  }
  const expected = {
    'verdigraph_webhook_attempts_total{environment="sandbox",result="delivered"}': 1,
    'verdigraph_webhook_attempts_total{environment="sandbox",result="gone"}': 1,
    'verdigraph_webhook_attempts_total{environment="production",result="unanswered"}': 0,
    'verdigraph_webhook_endpoints_disabled_total{environment="sandbox"}': 1,
    'verdigraph_webhook_endpoints{environment="sandbox",state="well"}': 1,
    'verdigraph_webhook_endpoints{environment="sandbox",state="failing"}': 1,
    'verdigraph_webhook_endpoints{environment="sandbox",state="disabled"}': 1,
    'verdigraph_webhook_leases_lost_total{environment="sandbox"}': 0,
  }
  let seen = new Map<string, number>()
  await until('the metrics have the expected values', async () => {
    seen = await figures()
    return Object.entries(expected).every(([name, value]) => seen.get(name) === value)
  }).catch((error) => assert.fail(`${error}: ${JSON.stringify([...seen], null, 2)}`))
  // The failed delivery is retried after a few seconds, so the number of pending deliveries varies.
  const refused = seen.get('verdigraph_webhook_attempts_total{environment="sandbox",result="refused"}')!
  assert.ok(refused >= 1)
  const attempts = refused + 2
  assert.ok(seen.get('verdigraph_webhook_attempt_duration_seconds_count{environment="sandbox"}')! >= attempts)
  for (const name of ['deliveries_pending', 'oldest_due_seconds', 'deliveries_held', 'deliveries_in_flight'])
    assert.ok(seen.get(`verdigraph_webhook_${name}{environment="sandbox"}`)! >= 0, name)
})
