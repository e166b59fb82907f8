/** What a node does with leased deliveries when webhook endpoints, receivers or the database change meanwhile. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAttempts, redeliver } from '../src/admin/manage-deliveries.ts'
import { DatabaseError } from '../src/store/database/database.ts'
import { NameLookup } from '../src/webhooks/name-lookup.ts'
import { createSafeAgent } from '../src/webhooks/safe-agent.ts'
import { type WebhookPlace, webhookPlaces } from './webhook-dispatcher.ts'
import { startReceiver, until } from './webhook-receiver.ts'

const openWebhookPlace = webhookPlaces()

async function receive(place: WebhookPlace, answer?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(answer)
  after(() => receiver.close())
  return { ...receiver, endpoint: await place.addEndpoint(receiver.url) }
}

const statesOf = (place: WebhookPlace, endpointId: string) =>
  place.database.query<{ state: string; attempts: number }>(
    'SELECT state, attempts FROM webhook_deliveries WHERE endpoint_id = $1',
    [endpointId],
  )

test('an event that is redelivered while its attempt is in flight is sent once more', async () => {
  const place = await openWebhookPlace()
  let status = 500
  const receiver = await receive(place, () => ({ status, delayMs: 1_500 }))
  place.startDispatcher({ timings: { delaysMs: [0] } })
  const [eventId] = await place.emit(1)
  await until('the attempt is in flight', () => receiver.received.length === 1)
  const { id } = receiver.endpoint
  assert.deepEqual(await redeliver(place.installation, place.act, { id, what: { eventId: eventId! } }), { queued: 1 })
  status = 204
  await until('the event is received again', () => receiver.received.length === 2)
  await until('it is delivered', async () => (await statesOf(place, id))[0]!.state === 'delivered')
  const attempts = await listAttempts(place.installation, place.act, { id, eventId: eventId! })
  assert.deepEqual(
    attempts.map(({ number, status: answered }) => [number, answered]),
    [
      [1, 500],
      [2, 204],
    ],
  )
})

test('after an internal error the attempt is recorded as failed, and the next one is scheduled', async () => {
  const place = await openWebhookPlace()
  const receiver = await receive(place, () => ({ status: 500 }))
  let calls = 0
  place.startDispatcher({
    timings: { delaysMs: [0, 86_400_000] },
    onError: () => {},
    random: () => {
      calls += 1
      if (calls === 1) throw new Error('no random number')
      return 0.5
    },
  })
  const [eventId] = await place.emit(1)
  const { id } = receiver.endpoint
  const attempts = () => listAttempts(place.installation, place.act, { id, eventId: eventId! })
  await until('the attempt is recorded', async () => (await attempts()).length === 1)
  assert.deepEqual(await statesOf(place, id), [{ state: 'pending', attempts: 1 }])
})

test('a receiver whose name cannot be looked up does not delay another one', async () => {
  const place = await openWebhookPlace()
  const fast = await startReceiver()
  after(() => fast.close())
  const { port } = new URL(fast.url)
  const dead = await place.addEndpoint('http://dead.test/')
  await place.addEndpoint(`http://fast.test:${port}/`)
  const lookups: string[] = []
  const names = new NameLookup({
    timeoutMs: 500,
    resolveAll: async (hostname) => {
      lookups.push(hostname)
      if (hostname === 'dead.test') await new Promise(() => {})
      return [{ address: '127.0.0.1', family: 4 }]
    },
  })
  place.startDispatcher({ resolveAll: names.find })
  await place.emit(100)
  await until('the fast receiver has everything', () => fast.received.length === 100)
  const errors = () =>
    place.database.query<{ error: string }>('SELECT error FROM webhook_attempts WHERE endpoint_id = $1', [dead.id])
  await until('the failures are recorded', async () => (await errors()).length >= 10)
  for (const { error } of await errors()) assert.match(error, /^dead\.test could not be looked up within 0\.5 s$/)
  assert.equal(lookups.filter((name) => name === 'dead.test').length, 1)
})

test('a deadlock between nodes that lease is retried at once, without a pause', async () => {
  const place = await openWebhookPlace()
  const receiver = await receive(place)
  let deadlocks = 0
  const errors: unknown[] = []
  const store = {
    ...place.store,
    dispatch: {
      ...place.store.dispatch,
      lease: ((request) => {
        deadlocks += 1
        if (deadlocks <= 2) return Promise.reject(new DatabaseError('deadlock detected', { code: '40P01' }))
        return place.store.dispatch.lease(request)
      }) as typeof place.store.dispatch.lease,
    },
  }
  place.startDispatcher({ store, onError: (error) => errors.push(error) })
  await place.emit(1)
  await until('the event is received', () => receiver.received.length === 1)
  assert.ok(deadlocks > 2)
  assert.deepEqual(errors, [])
})

test('an HTTP agent that could not be created is created by a later attempt', async () => {
  const place = await openWebhookPlace()
  const receiver = await receive(place)
  const errors: unknown[] = []
  let isAvailable = false
  place.startDispatcher({
    timings: { delaysMs: [0, 50, 50, 50] },
    agentFor: async (timeoutMs) => {
      if (!isAvailable) throw new Error('not available')
      return createSafeAgent({ allowLoopback: true, timeoutMs })
    },
    onError: (error) => errors.push(error),
  })
  await place.emit(1)
  await until('it could not be created', () => errors.length > 0)
  isAvailable = true
  await until('the event is received', () => receiver.received.length === 1)
})

test('closing does not wait for a lookup whose attempt has timed out', async () => {
  const place = await openWebhookPlace()
  await place.addEndpoint('http://dead.test/')
  let lookups = 0
  const resolveAll = () => {
    lookups += 1
    return new Promise<never>(() => {})
  }
  const dispatcher = place.startDispatcher({
    timings: { timeoutMs: 500 },
    agentFor: async () => createSafeAgent({ allowLoopback: true, timeoutMs: 120_000, resolveAll }),
  })
  await place.emit(20)
  await until('the name is being looked up', () => lookups > 0)
  let closed = false
  const closing = dispatcher.close().then(() => {
    closed = true
  })
  await until('the dispatcher is closed', () => closed, 20_000)
  await closing
})

test('a webhook endpoint that recovers before it is disabled stays enabled', async () => {
  const place = await openWebhookPlace()
  const receiver = await receive(place, () => ({ status: 500 }))
  let reads = 0
  // Another node delivers an event between the report of the failure and the read before disabling.
  const endpoint: typeof place.store.webhooks.endpoint = async (organizationId, id) => {
    reads += 1
    if (reads === 1) await place.database.query('UPDATE webhook_endpoints SET failing_since = NULL, failed_at = NULL')
    return place.store.webhooks.endpoint(organizationId, id)
  }
  const disabled: string[] = []
  place.startDispatcher({
    store: { ...place.store, webhooks: { ...place.store.webhooks, endpoint } },
    timings: { failingMaxMs: 1, delaysMs: Array.from({ length: 50 }, () => 100) },
    onDisabled: ({ why }) => {
      disabled.push(`${reads}: ${why}`)
    },
  })
  await place.emit(1)
  await until('it is disabled after the next report', () => disabled.length > 0)
  assert.match(disabled.join(), /^2: nothing has been delivered since/)
  assert.ok(receiver.received.length >= 4, 'each report takes two failures')
})

test('deliveries that this node queues are sent at once, not with the next regular poll', async () => {
  const place = await openWebhookPlace()
  const receiver = await receive(place)
  place.startDispatcher({ timings: { pollEveryMs: 3_600_000 } })
  await place.emit(3)
  await until('all are received', () => receiver.received.length === 3)
  await until('all are recorded', async () =>
    (await statesOf(place, receiver.endpoint.id)).every(({ state }) => state === 'delivered'),
  )
  const what = { eventId: receiver.received[0]!.id }
  assert.deepEqual(await redeliver(place.installation, place.act, { id: receiver.endpoint.id, what }), { queued: 1 })
  await until('one is received again', () => receiver.received.length === 4)
})
