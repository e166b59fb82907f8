/** Webhooks through the operations of the console, with receivers that answer over HTTP. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type ConsoleClient, signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'
import { type Answer, isSignedBy, startReceiver, until } from './webhook-receiver.ts'

const api = await startTestService({ env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' } })
const acme = await api.newOrganization('Acme')
const other = await api.newOrganization('Other')
const dora = await signedInOperator(api, { organizationId: acme.id, email: 'dora@example.com', role: 'developer' })
const victor = await signedInOperator(api, { organizationId: acme.id, email: 'victor@example.com', role: 'viewer' })
const { sandbox } = api.service.installation.storage.environments

const webhooks = (name: string, input: unknown = {}, client: ConsoleClient = dora) =>
  client.call(`${acme.id}/sandbox/${name}`, input)

/** A receiver that answers as the test says, and its webhook endpoint, which is removed after the test. */
async function addEndpoint(t: { after(fn: () => unknown): void }, input = {}) {
  let answer: Answer = {}
  const receiver = await startReceiver(() => answer)
  after(() => receiver.close())
  const wanted = { url: receiver.url, description: 'Books', event_types: ['entity.created'], ...input }
  const { status, body } = await webhooks('webhooks.add', wanted)
  assert.equal(status, 200, JSON.stringify(body))
  t.after(() => webhooks('webhooks.remove', { id: body.id, reason: 'The test is over' }))
  return {
    ...(body as { id: string; secret: string }),
    receiver,
    answerWith: (next: Answer) => {
      answer = next
    },
  }
}

const show = async (id: string) => (await webhooks('webhooks.show', { id })).body.endpoint
const deliveries = async (filter = {}) => (await webhooks('deliveries.list', filter)).body.deliveries
const delivery = async (endpoint_id: string, event_id: string) =>
  (await webhooks('deliveries.show', { endpoint_id, event_id })).body
let entities = 0
/** Creates an entity and returns the id of its event, once an attempt to deliver it is recorded. */
async function createEntity(endpointId: string): Promise<string> {
  const newest = async () => (await deliveries({ endpoint_id: endpointId }))[0]
  const before = (await newest())?.event_id
  await acme.post('/v1/entities', { external_id: `console-${++entities}` })
  await until('an attempt is recorded', async () => {
    const delivery = await newest()
    return delivery !== undefined && delivery.event_id !== before && delivery.attempts > 0
  })
  return (await newest()).event_id
}
const entriesOf = async (id: string) =>
  sandbox.query<{ type: string; actor_id: string; data: string }>(
    'SELECT type, actor_id, data FROM audit_entries WHERE trail_id = $1 ORDER BY seq',
    [id],
  )

test('an added endpoint receives signed events, which are listed with the headers and the body that arrived', async (t) => {
  const { id, secret, receiver } = await addEndpoint(t)
  const eventId = await createEntity(id)
  const [received] = receiver.received
  assert.ok(isSignedBy(secret, received!))
  const [listed] = await deliveries({ endpoint_id: id })
  assert.deepEqual(
    [listed.event_id, listed.event_type, listed.state, listed.last_status, listed.answers],
    [eventId, 'entity.created', 'delivered', 204, [204]],
  )
  const shown = await delivery(id, eventId)
  assert.equal(shown.body, received!.body)
  assert.equal(shown.attempts.length, 1)
  for (const [name, value] of Object.entries(shown.attempts[0].headers))
    assert.equal(value, received!.headers[name], name)
  const { hours, added_by, secret_last_four, last_delivered_at } = await show(id)
  assert.equal(hours.length, 24)
  assert.deepEqual(
    hours.reduce((sum: number, hour: { delivered: number }) => sum + hour.delivered, 0),
    1,
  )
  assert.equal(added_by, 'Test')
  assert.ok(secret.replace('=', '').endsWith(secret_last_four))
  assert.ok(last_delivered_at)
  assert.equal(JSON.stringify([await show(id), shown, listed]).includes(secret.slice(6, 30)), false)
})

test('URLs that nothing may be sent to are refused with what to do', async () => {
  for (const [url, message] of [
    ['not a url', /^The URL cannot be parsed: "not a url"\.$/],
    ['ftp://example.com', /^The URL must start with https/],
    ['https://user:secret@example.com', /may not contain a user name/],
    ['https://10.0.0.1/', /^The URL leads to where nothing may be sent/],
  ] as const) {
    const answer = await webhooks('webhooks.add', { url, description: '', event_types: 'all' })
    assert.equal(answer.status, 400)
    assert.match(answer.body.error.message, message)
  }
  const unknown = await webhooks('webhooks.add', {
    url: 'https://example.com',
    description: '',
    event_types: ['no.such'],
  })
  assert.equal(unknown.status, 400)
})

test('a test event goes to every enabled endpoint, and is in the list across endpoints', async (t) => {
  const first = await addEndpoint(t)
  const second = await addEndpoint(t)
  const { event_id, endpoints } = (await webhooks('deliveries.send-test')).body
  assert.deepEqual(endpoints.map((endpoint: { id: string }) => endpoint.id).sort(), [first.id, second.id].sort())
  await until('both receive it', () =>
    [first, second].every(({ receiver }) => receiver.received.some(({ id }) => id === event_id)),
  )
  await until('both are listed', async () => {
    const listed = await deliveries({ event_id })
    return listed.length === 2 && listed.every(({ state }: { state: string }) => state === 'delivered')
  })
  const [entry] = await sandbox.query("SELECT actor_id, request_id FROM audit_entries WHERE type = 'webhook.test'")
  assert.equal(entry!.actor_id, dora.operatorId)
})

test('a failing endpoint shows its answers; one redelivery keeps id and health, uses the current secret', async (t) => {
  const { id, secret, receiver, answerWith } = await addEndpoint(t)
  answerWith({ status: 503, body: 'maintenance' })
  const eventId = await createEntity(id)
  const failing = await show(id)
  assert.ok(failing.failing_since)
  assert.equal(failing.waiting, 1)
  const [attempt] = (await delivery(id, eventId)).attempts
  assert.deepEqual([attempt.status, attempt.response], [503, 'maintenance'])
  assert.deepEqual(
    (await deliveries({ endpoint_id: id, answer: '5xx', state: 'pending' })).map(
      (one: { event_id: string }) => one.event_id,
    ),
    [eventId],
  )

  const rotated = (await webhooks('webhooks.rotate-secret', { id, overlap: false, reason: 'It leaked' })).body
  answerWith({ status: 204 })
  assert.equal((await webhooks('deliveries.redeliver', { endpoint_id: id, event_id: eventId })).status, 200)
  await until('it is delivered', async () => (await deliveries({ endpoint_id: id }))[0].state === 'delivered')
  const last = receiver.received.at(-1)!
  assert.equal(last.id, eventId)
  assert.ok(isSignedBy(rotated.secret, last) && !isSignedBy(secret, last))
  assert.equal((await show(id)).failing_since, failing.failing_since, 'one event by hand says nothing about the health')
  await createEntity(id)
  await until('an event that arrives by itself ends the failure', async () => (await show(id)).failing_since === null)

  answerWith({ status: 500 })
  await webhooks('deliveries.redeliver', { endpoint_id: id, event_id: eventId })
  await until('it fails again', async () => (await delivery(id, eventId)).attempts.at(-1).status === 500)
  assert.equal((await show(id)).failing_since, null)
})

test('recovering sends what failed or waits since a time, and nothing that arrived', async (t) => {
  const { id, receiver, answerWith } = await addEndpoint(t)
  const since = new Date().toISOString()
  const arrived = await createEntity(id)
  answerWith({ status: 503 })
  const waiting = await createEntity(id)
  const failed = await createEntity(id)
  await until('both wait', async () => (await show(id)).waiting === 2)
  await sandbox.query(
    "UPDATE webhook_deliveries SET state = 'failed', leased_until = '9999-12-31' WHERE event_id = $1 AND endpoint_id = $2",
    [failed, id],
  )
  answerWith({ status: 204 })
  const before = receiver.received.length
  const { queued } = (await webhooks('deliveries.recover', { endpoint_id: id, since, reason: 'Maintenance is over' }))
    .body
  // The retry of the waiting one after five seconds may come first.
  assert.ok(queued === 2 || queued === 1, String(queued))
  await until('both arrive', async () => (await deliveries({ endpoint_id: id, state: 'delivered' })).length === 3)
  const again = receiver.received.slice(before).map((one) => one.id)
  assert.ok(again.includes(failed) && again.includes(waiting) && !again.includes(arrived))
  const old = await webhooks('deliveries.recover', { endpoint_id: id, since: '2020-01-01T00:00:00Z', reason: 'All' })
  assert.match(
    old.body.error.message,
    /^Events and deliveries are kept for 30 days, and .* is before .*\. Choose a later time\.$/,
  )
})

test('two secrets sign during the overlap, which an operator can end', async (t) => {
  const { id, secret, receiver } = await addEndpoint(t)
  const rotated = (await webhooks('webhooks.rotate-secret', { id, overlap: true, reason: 'Yearly' })).body
  assert.ok(rotated.previous_secret_until)
  await createEntity(id)
  const both = receiver.received.at(-1)!
  assert.ok(isSignedBy(secret, both) && isSignedBy(rotated.secret, both))
  const twice = await webhooks('webhooks.rotate-secret', { id, overlap: true, reason: 'Yearly' })
  assert.match(twice.body.error.message, /End the overlap first\.$/)
  assert.equal((await webhooks('webhooks.end-overlap', { id, reason: 'All receivers have it' })).status, 200)
  await createEntity(id)
  const one = receiver.received.at(-1)!
  assert.ok(!isSignedBy(secret, one) && isSignedBy(rotated.secret, one))
  assert.deepEqual(
    (await entriesOf(id)).map(({ type, data }) => [type, JSON.parse(data).reason]),
    [
      ['webhook_endpoint.added', undefined],
      ['webhook_endpoint.secret_rotated', 'Yearly'],
      ['webhook_endpoint.overlap_ended', 'All receivers have it'],
    ],
  )
})

test('an edited endpoint gets other events at another URL, and the log says what changed', async (t) => {
  const { id, receiver } = await addEndpoint(t)
  const moved = await startReceiver()
  after(() => moved.close())
  assert.equal((await webhooks('webhooks.edit', { id, reason: 'Nothing' })).status, 409, 'nothing would change')
  const wrong = await webhooks('webhooks.edit', { id, url: 'https://10.0.0.1/', reason: 'Moved' })
  assert.match(wrong.body.error.message, /^The URL leads to where nothing may be sent/)
  const edit = { id, url: `${moved.url}?token=x`, description: 'Moved', event_types: 'all', reason: 'Moved' }
  assert.equal((await webhooks('webhooks.edit', edit)).status, 200)
  const { url, description, event_types } = await show(id)
  assert.deepEqual([url, description, event_types], [`${new URL(moved.url).origin}/****`, 'Moved', 'all'])
  await createEntity(id)
  assert.deepEqual([moved.received.length, receiver.received.length], [1, 0])
  const entry = (await entriesOf(id)).at(-1)!
  assert.deepEqual(JSON.parse(entry.data), {
    changed: ['url', 'description', 'event_types'],
    event_types: { after: '*', before: 'entity.created' },
    host: new URL(moved.url).host,
    previous_host: new URL(receiver.url).host,
    reason: 'Moved',
  })
})

test('a removed endpoint gets nothing more, its secrets are erased, and its deliveries stay listed', async (t) => {
  const { id, receiver, answerWith } = await addEndpoint(t)
  answerWith({ status: 503 })
  const eventId = await createEntity(id)
  assert.equal((await webhooks('webhooks.remove', { id, reason: 'Shop closed' })).status, 200)
  const count = receiver.received.length
  assert.equal((await webhooks('webhooks.show', { id })).status, 404)
  assert.ok(!(await webhooks('webhooks.list')).body.endpoints.some((endpoint: { id: string }) => endpoint.id === id))
  for (const name of ['webhooks.enable', 'webhooks.disable', 'webhooks.remove', 'webhooks.end-overlap'])
    assert.equal((await webhooks(name, { id, reason: 'Back' })).status, 404, name)
  const [row] = await sandbox.query('SELECT url, secret, previous_secret FROM webhook_endpoints WHERE id = $1', [id])
  assert.deepEqual(row, { url: '', secret: '', previous_secret: null })
  const [listed] = await deliveries({ event_id: eventId, endpoint_id: id })
  assert.deepEqual([listed.state, listed.endpoint_state], ['failed', 'removed'])
  assert.equal((await delivery(id, eventId)).attempts.length, 1)
  await acme.post('/v1/entities', { external_id: 'after-removal' })
  assert.equal(receiver.received.length, count)
  assert.deepEqual(await deliveries({ endpoint_id: id, state: 'pending' }), [])
})

test('a list of deliveries is read page by page, each delivery once, across endpoints', async (t) => {
  const ids = [(await addEndpoint(t)).id, (await addEndpoint(t)).id]
  for (let n = 0; n < 20; n++) await acme.post('/v1/entities', { external_id: `page-${n}` })
  await until(
    'all are delivered',
    async () => (await show(ids[1]!)).waiting === 0 && (await show(ids[0]!)).waiting === 0,
  )
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: { deliveries: Record<string, string>[]; next_cursor: string | null } = (
      await webhooks('deliveries.list', { event_type: 'entity.created', ...(cursor && { cursor }) })
    ).body
    seen.push(...page.deliveries.map((one) => `${one.event_id} ${one.endpoint_id}`))
    cursor = page.next_cursor
  } while (cursor !== null)
  assert.deepEqual(seen, [...new Set(seen)].sort().reverse())
  const [all] = await sandbox.query<{ n: number }>(
    "SELECT count(*) AS n FROM webhook_deliveries WHERE event_type = 'entity.created' AND org_id = $1",
    [acme.id],
  )
  assert.equal(seen.length, all!.n)
  assert.deepEqual(await deliveries({ event_type: 'policy.activated' }), [])
  assert.equal((await webhooks('deliveries.list', { cursor: 'nonsense' })).status, 400)
})

test('a viewer sees webhooks and changes none; those of another organization do not exist', async (t) => {
  const { id } = await addEndpoint(t)
  for (const name of ['webhooks.list', 'webhooks.show-catalogue', 'deliveries.list'])
    assert.equal((await webhooks(name, {}, victor)).status, 200)
  for (const name of ['webhooks.enable', 'webhooks.disable', 'webhooks.remove', 'webhooks.end-overlap']) {
    assert.equal((await webhooks(name, { id, reason: 'Because' }, victor)).status, 403, name)
    assert.equal((await dora.call(`${other.id}/sandbox/${name}`, { id, reason: 'Because' })).status, 404)
    assert.equal((await dora.call(`${acme.id}/production/${name}`, { id, reason: 'Because' })).status, 404)
  }
  assert.equal((await webhooks('deliveries.send-test', {}, victor)).status, 403)
  assert.equal((await show(id)).state, 'enabled')
})
