import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addEndpoint, type EndpointWithSecret, listEndpoints } from '../src/admin/manage-webhooks.ts'
import { ATTEMPT_DELAYS_MS } from '../src/core/webhooks/schedule.ts'
import { byService } from './acts.ts'
import { startTestService, type TestOrganization } from './test-service.ts'
import { isSignedBy, type Receiver, startReceiver, until } from './webhook-receiver.ts'

/** Tests advance the clock of the service instead of waiting. Receivers check signatures by the real clock. */
let aheadMs = 0
const nowMs = () => Date.now() + aheadMs
const api = await startTestService({ env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' }, nowMs })
const { installation } = api.service
const database = installation.storage.environments.sandbox

async function receiverFor(
  organization: TestOrganization,
  answer?: Parameters<typeof startReceiver>[0],
  eventTypes: readonly string[] | 'all' = ['entity.created'],
): Promise<Receiver & { endpoint: EndpointWithSecret }> {
  const receiver = await startReceiver(answer)
  after(() => receiver.close())
  const wanted = { url: receiver.url, description: '', eventTypes }
  return { ...receiver, endpoint: await addEndpoint(installation, byService(organization.id), wanted) }
}

const deliveriesOf = (endpointId: string) =>
  database.query<{ event_id: string; state: string; attempts: number; due_at: string }>(
    'SELECT event_id, state, attempts, due_at FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY event_id',
    [endpointId],
  )
const attemptsOf = (endpointId: string) =>
  database.query<{ number: number; started_at: string; status: number | null; error: string; response: string }>(
    'SELECT number, started_at, status, error, response FROM webhook_attempts WHERE endpoint_id = $1 ORDER BY event_id, number',
    [endpointId],
  )
const shown = async (organization: TestOrganization, id: string) =>
  (await listEndpoints(installation, byService(organization.id))).find((endpoint) => endpoint.id === id)!

test('an event is sent at once, signed, to every webhook endpoint that listens to its type', async () => {
  const acme = await api.newOrganization()
  const created = await receiverFor(acme)
  const everything = await receiverFor(acme, undefined, 'all')
  const decisions = await receiverFor(acme, undefined, ['decision.created'])
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'first' })
  await until('both have received it', () => created.received.length > 0 && everything.received.length > 0)

  const [received] = created.received
  assert.deepEqual(Object.keys(received!.event), ['id', 'type', 'timestamp', 'environment', 'data'])
  assert.equal(received!.event.id, received!.id)
  assert.deepEqual(
    [received!.event.type, received!.event.environment, received!.event.data],
    ['entity.created', 'sandbox', { entity_id: entity.id }],
  )
  assert.equal(received!.event.timestamp, entity.created_at)
  assert.equal(received!.headers['content-type'], 'application/json')
  assert.ok(isSignedBy(created.endpoint.secret, received!))
  assert.ok(!isSignedBy(everything.endpoint.secret, received!), 'every webhook endpoint has its own secret')
  assert.ok(everything.received.every((one) => isSignedBy(everything.endpoint.secret, one)))
  assert.equal(decisions.received.length, 0)
  await until('the attempt is recorded', async () => (await attemptsOf(created.endpoint.id)).length > 0)
  const [attempt] = await attemptsOf(created.endpoint.id)
  assert.deepEqual([attempt!.number, attempt!.status, attempt!.error], [1, 204, null])
})

test('a test event goes to every enabled webhook endpoint, and its delivery is counted as usage', async () => {
  const acme = await api.newOrganization()
  const none = await api.request('sandbox', '/v1/webhook-test', { method: 'POST', key: acme.keys.sandbox })
  assert.deepEqual([none.status, none.body.endpoints], [202, []])

  const receiver = await receiverFor(acme)
  const answer = await api.request('sandbox', '/v1/webhook-test', {
    method: 'POST',
    key: acme.keys.sandbox,
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'test-1' },
  })
  assert.equal(answer.status, 202)
  const { id, url } = receiver.endpoint
  assert.deepEqual(answer.body.endpoints, [{ id, url, status: 'queued' }])
  const again = await api.request('sandbox', '/v1/webhook-test', {
    method: 'POST',
    key: acme.keys.sandbox,
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'test-1' },
  })
  assert.equal(again.text, answer.text)
  await until('it is counted', async () => (await acme.get('/v1/usage')).body.totals.webhook_deliveries === 1)
  assert.deepEqual(
    receiver.received.map(({ event }) => [event.id, event.type]),
    [[answer.body.event_id, 'webhook.test']],
  )
})

test('a change that is rolled back sends nothing', async () => {
  const acme = await api.newOrganization()
  const receiver = await receiverFor(acme)
  const event = (id: string) => ({ id, type: 'entity.created' as const, created_at: now(), data: '{}' })
  const rolledBack = installation.stores.sandbox.commit({
    organizationId: acme.id,
    rows: { events: [event('evt_never'), event('evt_never')] },
  })
  await assert.rejects(rolledBack, 'two rows with the same id cannot be written')
  assert.equal((await deliveriesOf(receiver.endpoint.id)).length, 0)
  await installation.stores.sandbox.commit({ organizationId: acme.id, rows: { events: [event('evt_written')] } })
  await until('the committed event is received', () => receiver.received.length > 0)
  assert.deepEqual(
    receiver.received.map(({ id }) => id),
    ['evt_written'],
  )
})

test('ten attempts, with the same id and body but new timestamps, follow the schedule', async () => {
  const acme = await api.newOrganization()
  const statuses = [500, 301, 404, 429, 503]
  const receiver = await receiverFor(acme, () => ({
    status: statuses[receiver.received.length % statuses.length]!,
    body: 'no\0pe',
  }))
  await acme.post('/v1/entities', { external_id: 'doomed' })
  for (let attempt = 1; attempt <= 10; attempt++) {
    await until(`attempt ${attempt}`, async () => (await attemptsOf(receiver.endpoint.id)).length === attempt)
    const [delivery] = await deliveriesOf(receiver.endpoint.id)
    if (attempt === 10) {
      assert.equal(delivery!.state, 'failed')
      break
    }
    const { started_at } = (await attemptsOf(receiver.endpoint.id)).at(-1)!
    const gapMs = Date.parse(delivery!.due_at) - Date.parse(started_at)
    const planned = ATTEMPT_DELAYS_MS[attempt]!
    // The gap includes the duration of the attempt: up to ten seconds on a busy machine.
    assert.ok(gapMs >= planned * 0.8 && gapMs <= planned * 1.2 + 10_000, `gap ${attempt}: ${gapMs} of ${planned}`)
    aheadMs += Math.max(0, Date.parse(delivery!.due_at) - nowMs())
  }
  const { received } = receiver
  assert.equal(received.length, 10)
  assert.equal(new Set(received.map(({ id }) => id)).size, 1)
  assert.equal(new Set(received.map(({ body }) => body)).size, 1)
  const times = received.map(({ headers }) => Number(headers['webhook-timestamp']))
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
  assert.ok(times.at(-1)! - times[0]! > 2 * 86_400)
  const attempts = await attemptsOf(receiver.endpoint.id)
  assert.ok(attempts.every(({ response }) => response === 'no\uFFFDpe'))
})

test('Retry-After extends the delay, up to twice the planned one', async () => {
  const acme = await api.newOrganization()
  const retryAfter = ['8', '3600']
  const receiver = await receiverFor(acme, () => ({
    status: 503,
    headers: { 'Retry-After': retryAfter.shift() ?? '0' },
  }))
  await acme.post('/v1/entities', { external_id: 'patience' })
  for (const [attempt, expectedMs] of [
    [1, 8_000],
    [2, 600_000],
  ] as const) {
    await until(`attempt ${attempt}`, async () => (await attemptsOf(receiver.endpoint.id)).length === attempt)
    const [delivery] = await deliveriesOf(receiver.endpoint.id)
    const { started_at } = (await attemptsOf(receiver.endpoint.id)).at(-1)!
    const gapMs = Date.parse(delivery!.due_at) - Date.parse(started_at)
    assert.ok(gapMs >= expectedMs && gapMs < expectedMs + 10_000, `${gapMs} instead of ${expectedMs}`)
    aheadMs += Math.max(0, Date.parse(delivery!.due_at) - nowMs())
  }
})

test('an answer with a repeated Retry-After header is handled as usual', async () => {
  const acme = await api.newOrganization()
  const headers = { 'Retry-After': ['7', '9'] }
  const well = await receiverFor(acme, () => ({ status: 200, headers }))
  const busy = await receiverFor(acme, () => ({ status: 503, headers }))
  await acme.post('/v1/entities', { external_id: 'twice' })
  for (const [receiver, state, status] of [
    [well, 'delivered', 200],
    [busy, 'pending', 503],
  ] as const) {
    await until('the attempt is recorded', async () => (await attemptsOf(receiver.endpoint.id)).length === 1)
    assert.equal((await attemptsOf(receiver.endpoint.id))[0]!.status, status)
    assert.equal((await deliveriesOf(receiver.endpoint.id))[0]!.state, state)
  }
})

test('410 disables the webhook endpoint and records the reason; the delivery stays pending', async () => {
  const acme = await api.newOrganization()
  const receiver = await receiverFor(acme, () => ({ status: 410 }))
  await acme.post('/v1/entities', { external_id: 'gone' })
  await until('it is disabled', async () => (await shown(acme, receiver.endpoint.id)).state === 'disabled')
  assert.equal((await shown(acme, receiver.endpoint.id)).disabled_why, 'it answered 410 Gone')
  const [entry] = await installation.stores.sandbox.auditLog.trail({
    organizationId: acme.id,
    trailId: receiver.endpoint.id,
    beforeSeq: undefined,
    limit: 1,
  })
  assert.deepEqual([entry!.type, entry!.actor_type], ['webhook_endpoint.disabled', 'system'])
  await acme.post('/v1/entities', { external_id: 'after' })
  assert.deepEqual(
    (await deliveriesOf(receiver.endpoint.id)).map(({ state }) => state),
    ['pending'],
    'no delivery is queued for a disabled webhook endpoint',
  )
})

test('five days without a success disable a webhook endpoint; a success starts the count again', async () => {
  const { shownNow, nothingIsDue, daysLater, settle, state } = await failingEndpoint()
  await settle()
  assert.notEqual((await shownNow()).failing_since, null)
  for (let day = 1; day <= 4; day++) await daysLater(1)
  state.status = 200
  await settle()
  // A success that is recorded after the next failure would start the count again.
  await nothingIsDue()
  assert.equal((await shownNow()).failing_since, null)
  state.status = 500
  await settle()
  for (let day = 1; day <= 4; day++) await daysLater(1)
  assert.equal((await shownNow()).state, 'enabled')
  await daysLater(1.1)
  await until('it is disabled', async () => (await shownNow()).state === 'disabled')
  assert.match((await shownNow()).disabled_why!, /^nothing has been delivered since 20/)
  const { id } = await shownNow()
  assert.ok(api.logs.some((line) => line.includes('webhook endpoint disabled') && line.includes(id)))
})

test('two failures a month apart do not disable a webhook endpoint that seldom gets events', async () => {
  const { shownNow, daysLater, settle } = await failingEndpoint()
  await settle()
  const first = (await shownNow()).failing_since!
  // The first event runs out of attempts; after that nothing is sent for 30 days.
  for (let day = 1; day <= 4; day++) await daysLater(1, 0)
  await daysLater(30)
  const { state, failing_since } = await shownNow()
  assert.equal(state, 'enabled')
  assert.ok(Date.parse(failing_since!) - Date.parse(first) > 30 * 86_400_000, 'the count started again')
  for (let day = 1; day <= 5; day++) await daysLater(1)
  await until('it is disabled', async () => (await shownNow()).state === 'disabled')
})

/** A webhook endpoint whose receiver fails, with functions that advance the clock. */
async function failingEndpoint() {
  const acme = await api.newOrganization()
  const state = { status: 500 }
  const receiver = await receiverFor(acme, () => state)
  let events = 0
  const settle = async () => {
    const before = (await attemptsOf(receiver.endpoint.id)).length
    await acme.post('/v1/entities', { external_id: `e${events++}` })
    await until('an attempt', async () => (await attemptsOf(receiver.endpoint.id)).length > before)
  }
  const nothingIsDue = () =>
    until('nothing is due', async () => (await deliveriesOf(receiver.endpoint.id)).every(isNotDue))
  return {
    state,
    settle,
    shownNow: () => shown(acme, receiver.endpoint.id),
    nothingIsDue,
    /** Advances the clock by some days, and then causes one event, or none. */
    async daysLater(days: number, newEvents = 1) {
      aheadMs += days * 86_400_000
      if (newEvents > 0) await settle()
      else await nothingIsDue()
    },
  }
}

const isNotDue = ({ state, due_at }: { state: string; due_at: string }) =>
  state !== 'pending' || Date.parse(due_at) > nowMs()

test('a redirect is not followed, and at most 4 KiB of an answer are recorded', async () => {
  const acme = await api.newOrganization()
  const inside = await startReceiver()
  after(() => inside.close())
  const answer = { status: 307, headers: { Location: inside.url }, body: 'x'.repeat(100_000) }
  const receiver = await receiverFor(acme, () => answer)
  await acme.post('/v1/entities', { external_id: 'redirected' })
  await until('an attempt', async () => (await attemptsOf(receiver.endpoint.id)).length > 0)
  const [attempt] = await attemptsOf(receiver.endpoint.id)
  assert.deepEqual([attempt!.status, attempt!.response], [307, 'x'.repeat(4096)])
  assert.equal(inside.received.length, 0)
})

test('a slow receiver and an unreachable receiver do not delay another one', async () => {
  const acme = await api.newOrganization()
  const slow = await receiverFor(acme, () => ({ delayMs: 60_000 }))
  const absent = await receiverFor(acme)
  await absent.close()
  const fast = await receiverFor(acme)
  for (let index = 0; index < 200; index++) {
    await acme.post('/v1/entities', { external_id: `queue-${index}` })
  }
  await until('the fast receiver has everything', () => fast.received.length >= 200, 14_000)
  assert.ok(slow.mostAtOnce() <= 32, `${slow.mostAtOnce()} requests at once to one webhook endpoint`)
  const attempts = await attemptsOf(absent.endpoint.id)
  assert.ok(attempts.length > 0 && attempts.every(({ status, error }) => status === null && /ECONNREFUSED/.test(error)))
  // Closes the open connections, so that the service does not wait for them when it stops.
  await slow.close()
})

test('neither the database nor the log contains a signing secret', async () => {
  const acme = await api.newOrganization()
  const { endpoint } = await receiverFor(acme)
  const dump: string[] = [...api.logs]
  const tables = await database.query<{ table_name: string }>(
    'SELECT table_name FROM information_schema.tables WHERE table_schema = $1',
    [database.schema],
  )
  for (const { table_name } of tables) dump.push(JSON.stringify(await database.query(`SELECT * FROM ${table_name}`)))
  const everything = dump.join('\n')
  assert.ok(everything.includes(endpoint.id))
  for (const part of [endpoint.secret, endpoint.secret.slice('whsec_'.length)]) assert.ok(!everything.includes(part))
})

function now(): string {
  return new Date(nowMs()).toISOString()
}
