/** What a node does with leased deliveries when webhook endpoints, receivers or the database change meanwhile. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  disableByOperator,
  type EndpointWithSecret,
  enableEndpoint,
  endOverlap,
  listAttempts,
  redeliver,
  rotateSecret,
} from '../src/admin/manage-webhooks.ts'
import { DatabaseError } from '../src/store/database/database.ts'
import { NameLookup } from '../src/webhooks/name-lookup.ts'
import { createSafeAgent } from '../src/webhooks/safe-agent.ts'
import { openWebhookPlace, type WebhookPlace } from './webhook-dispatcher.ts'
import { isSignedBy, startReceiver, until } from './webhook-receiver.ts'

const QUEUED = 300
/** Changes by operators take effect within a second; a busy machine gets two. */
const TAKES_EFFECT_MS = 2_000

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

test('a replaced secret signs no attempt that starts a second later, however many deliveries were leased before', async () => {
  const place = await openWebhookPlace()
  const receiver = await receive(place, () => ({ delayMs: 1_000 }))
  const { id, secret } = receiver.endpoint
  await place.emit(QUEUED)
  place.startDispatcher()
  await until('some are received', () => receiver.received.length > 10)

  const rotated = await rotateSecret(place.installation, place.act, id)
  assert.ok(!('problem' in rotated))
  assert.ok(!('problem' in (await endOverlap(place.installation, place.act, id))))
  await sleep(TAKES_EFFECT_MS)
  const before = receiver.received.length
  assert.ok(before < QUEUED, 'there are deliveries left to send')
  await until('everything is received', () => receiver.received.length >= QUEUED)
  for (const received of receiver.received.slice(before)) {
    assert.ok(isSignedBy(rotated.secret, received))
    assert.ok(!isSignedBy(secret, received))
  }
})

test('no attempt starts a second after its webhook endpoint was disabled, and the leases are released', async () => {
  const place = await openWebhookPlace()
  const receiver = await receive(place, () => ({ delayMs: 1_000 }))
  const { id } = receiver.endpoint
  await place.emit(QUEUED)
  place.startDispatcher()
  await until('some are received', () => receiver.received.length > 10)

  assert.ok(!('problem' in (await disableByOperator(place.installation, place.act, { id, why: 'stop' }))))
  await sleep(TAKES_EFFECT_MS)
  const before = receiver.received.length
  await until('no delivery is leased any more', async () => {
    const [held] = await place.database.query<{ count: number }>(
      `SELECT count(*) AS count FROM webhook_deliveries WHERE endpoint_id = $1 AND state = 'pending' AND leased_until > now()`,
      [id],
    )
    return held!.count === 0
  })
  assert.equal(receiver.received.length, before)
  assert.ok(before < QUEUED)

  assert.ok(!('problem' in (await enableEndpoint(place.installation, place.act, id))))
  await until('the rest is received', () => new Set(receiver.received.map((one) => one.id)).size === QUEUED)
})

test('a change of the webhook endpoint also applies to an attempt that waits for its connection', async () => {
  const place = await openWebhookPlace()
  const receiver = await startReceiver()
  after(() => receiver.close())
  const { port } = new URL(receiver.url)
  const rotated = await place.addEndpoint(`http://rotated.test:${port}/rotated`)
  const disabled = await place.addEndpoint(`http://disabled.test:${port}/disabled`)
  const connected = Promise.withResolvers<void>()
  const lookups = new Set<string>()
  place.startDispatcher({
    resolveAll: async (hostname) => {
      lookups.add(hostname)
      await connected.promise
      return [{ address: '127.0.0.1', family: 4 }]
    },
  })
  await place.emit(1)
  await until('both names are being looked up', () => lookups.size === 2)
  const { secret } = (await rotateSecret(place.installation, place.act, rotated.id)) as EndpointWithSecret
  assert.ok(!('problem' in (await endOverlap(place.installation, place.act, rotated.id))))
  const stop = { id: disabled.id, why: 'stop' }
  assert.ok(!('problem' in (await disableByOperator(place.installation, place.act, stop))))
  await sleep(TAKES_EFFECT_MS)
  connected.resolve()
  await until('the event is received', () => receiver.received.length > 0)
  await until('the lease of the other is released', async () => {
    const [row] = await place.database.query<{ free: boolean }>(
      'SELECT leased_until <= now() AS free FROM webhook_deliveries WHERE endpoint_id = $1',
      [disabled.id],
    )
    return row!.free
  })
  assert.deepEqual(
    receiver.received.map((received) => [
      received.path,
      isSignedBy(secret, received),
      isSignedBy(rotated.secret, received),
    ]),
    [['/rotated', true, false]],
  )
  assert.deepEqual(await statesOf(place, disabled.id), [{ state: 'pending', attempts: 0 }])
})

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
  assert.ok(!('problem' in attempts))
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
  const attempts = async () => {
    const listed = await listAttempts(place.installation, place.act, { id, eventId: eventId! })
    return 'problem' in listed ? [] : listed
  }
  await until('the attempt is recorded', async () => (await attempts()).length === 1)
  assert.deepEqual(await statesOf(place, id), [{ state: 'pending', attempts: 1 }])
})

test('three hundred receivers that never answer do not delay another one', async () => {
  const place = await openWebhookPlace()
  const hanging = createServer((request) => void request.resume())
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
  after(() => {
    hanging.closeAllConnections()
    hanging.close()
  })
  const { port } = hanging.address() as AddressInfo
  let reached = 0
  hanging.on('request', () => {
    reached += 1
  })
  for (let organization = 0; organization < 6; organization++) {
    const id = await place.newOrganization()
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => place.addEndpoint(`http://127.0.0.1:${port}/${index}`, id)),
    )
    await place.emit(30, id)
  }
  place.startDispatcher({ timings: { timeoutMs: 60_000, leaseSeconds: 120 } })
  await until('they have requests that hang', () => reached >= 50)
  await sleep(1_000)

  const fast = await receive(place)
  await place.emit(100)
  // Long before the first attempt to the others times out.
  await until('the fast receiver has everything', () => fast.received.length === 100, 30_000)
  hanging.closeAllConnections()
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
    leaseDeliveries: ((request) => {
      deadlocks += 1
      if (deadlocks <= 2) return Promise.reject(new DatabaseError('deadlock detected', { code: '40P01' }))
      return place.store.leaseDeliveries(request)
    }) as typeof place.store.leaseDeliveries,
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
  const webhookEndpoint: typeof place.store.webhookEndpoint = async (organizationId, id) => {
    reads += 1
    if (reads === 1) await place.database.query('UPDATE webhook_endpoints SET failing_since = NULL, failed_at = NULL')
    return place.store.webhookEndpoint(organizationId, id)
  }
  const disabled: string[] = []
  place.startDispatcher({
    store: { ...place.store, webhookEndpoint },
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
