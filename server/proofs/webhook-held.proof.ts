/** Rotation, disabling and hanging receivers while deliveries are held: what takes longer than a test may. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { disableByOperator, enableEndpoint, endOverlap, rotateSecret } from '../src/admin/manage-webhooks.ts'
import { type WebhookPlace, webhookPlaces } from '../tests/webhook-dispatcher.ts'
import { isSignedBy, startReceiver, until } from '../tests/webhook-receiver.ts'
import { reportFigures } from './proof-run.ts'

const openWebhookPlace = webhookPlaces()

const QUEUED = 200
/** Changes by operators take effect within a second; a busy machine gets two. */
const TAKES_EFFECT_MS = 2_000

async function receive(place: WebhookPlace, answer?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(answer)
  after(() => receiver.close())
  return { ...receiver, endpoint: await place.addEndpoint(receiver.url) }
}

test('a replaced secret signs no attempt that starts a second later, however many deliveries were leased before', async (t) => {
  const place = await openWebhookPlace()
  const receiver = await receive(place, () => ({ delayMs: 1_000 }))
  const { id, secret } = receiver.endpoint
  await place.emit(QUEUED)
  place.startDispatcher()
  await until('some are received', () => receiver.received.length > 10)

  const rotated = await rotateSecret(place.installation, place.act, { id })
  await endOverlap(place.installation, place.act, id)
  await sleep(TAKES_EFFECT_MS)
  const before = receiver.received.length
  assert.ok(before < QUEUED, 'there are deliveries left to send')
  await until('everything is received', () => receiver.received.length >= QUEUED)
  for (const received of receiver.received.slice(before)) {
    assert.ok(isSignedBy(rotated.secret, received))
    assert.ok(!isSignedBy(secret, received))
  }
  reportFigures(t, `${QUEUED - before} of ${QUEUED} held deliveries sent after a rotation, 0 with the replaced secret`)
})

test('no attempt starts a second after its webhook endpoint was disabled, and the leases are released', async (t) => {
  const place = await openWebhookPlace()
  const receiver = await receive(place, () => ({ delayMs: 1_000 }))
  const { id } = receiver.endpoint
  await place.emit(QUEUED)
  place.startDispatcher()
  await until('some are received', () => receiver.received.length > 10)

  await disableByOperator(place.installation, { ...place.act, reason: 'stop' }, id)
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

  await enableEndpoint(place.installation, place.act, id)
  await until('the rest is received', () => new Set(receiver.received.map((one) => one.id)).size === QUEUED)
  reportFigures(t, `${QUEUED} deliveries held, 0 sent while disabled, all sent after it was enabled`)
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
  const { secret } = await rotateSecret(place.installation, place.act, { id: rotated.id })
  await endOverlap(place.installation, place.act, rotated.id)
  await disableByOperator(place.installation, { ...place.act, reason: 'stop' }, disabled.id)
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
  const states = await place.database.query('SELECT state, attempts FROM webhook_deliveries WHERE endpoint_id = $1', [
    disabled.id,
  ])
  assert.deepEqual(states, [{ state: 'pending', attempts: 0 }])
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
