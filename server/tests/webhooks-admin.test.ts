import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { commands } from '../src/cli/commands.ts'
import { startTestService, type TestOrganization } from './test-service.ts'
import { type Received, startReceiver, until } from './webhook-receiver.ts'

let aheadMs = 0
const api = await startTestService({
  env: { WEBHOOKS_ALLOW_LOOPBACK: 'true' },
  nowMs: () => Date.now() + aheadMs,
})
const { installation } = api.service

/** Runs a CLI command in the running service, as the command socket does. */
async function cli(
  organization: TestOrganization,
  name: string,
  ...args: (string | Record<string, string | boolean>)[]
  // biome-ignore lint/suspicious/noExplicitAny: every command returns another shape, and the tests read all of them.
): Promise<any> {
  const command = commands.find((known) => known.name === `webhooks ${name}`)!
  const positionals = args.filter((arg) => typeof arg === 'string')
  const options = Object.assign({ org: organization.id }, ...args.filter((arg) => typeof arg === 'object'))
  const result = await command.run(installation, { positionals, options, caller: 'test (uid 0)' })
  assert.equal(typeof command.render(result), 'string')
  return result
}

async function setUp(options: Record<string, string> = { events: 'entity.created' }) {
  const acme = await api.newOrganization()
  const state = { status: 204 }
  const receiver = await startReceiver(() => state)
  after(() => receiver.close())
  const endpoint = await cli(acme, 'add', receiver.url, options)
  let count = 0
  return {
    acme,
    receiver,
    endpoint,
    state,
    /** Causes one event and waits until it is received. */
    async oneMore(): Promise<Received> {
      const { body: entity } = await acme.post('/v1/entities', { external_id: `e${count++}` })
      const find = () => receiver.received.find(({ event }) => event.data.entity_id === entity.id)
      await until('the event is received', () => find() !== undefined)
      return find()!
    },
    trail: () =>
      installation.stores.sandbox.auditLog.trail({
        organizationId: acme.id,
        trailId: endpoint.id,
        beforeSeq: undefined,
        limit: 100,
      }),
  }
}

/** Whether one of the signatures was made with this secret; the timestamp is not compared with the clock. */
function carriesSignatureOf(secret: string, { id, body, headers }: Received): boolean {
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000)
  return headers['webhook-signature']!.split(' ').includes(new Webhook(secret).sign(id, sentAt, body))
}

/** Changes of a webhook endpoint take effect within a second. */
const takesEffect = () => new Promise((resolve) => setTimeout(resolve, 1_000))

test('during a rotation every request verifies with both secrets, and after a day only with the new one', async () => {
  const { acme, endpoint, oneMore, trail } = await setUp()
  assert.match(endpoint.secret, /^whsec_/)
  assert.ok(carriesSignatureOf(endpoint.secret, await oneMore()))

  const rotated = await cli(acme, 'rotate', endpoint.id)
  assert.notEqual(rotated.secret, endpoint.secret)
  await takesEffect()
  for (let request = 0; request < 3; request++) {
    const received = await oneMore()
    for (const secret of [endpoint.secret, rotated.secret]) assert.ok(carriesSignatureOf(secret, received))
  }
  await assert.rejects(cli(acme, 'rotate', endpoint.id), { message: /^Two secrets sign for whe_\w+ until/ })

  aheadMs += 24 * 3_600_000 + 1_000
  const later = await oneMore()
  assert.deepEqual(
    [endpoint.secret, rotated.secret].map((secret) => carriesSignatureOf(secret, later)),
    [false, true],
  )
  assert.equal(later.headers['webhook-signature']!.split(' ').length, 1)

  const again = await cli(acme, 'rotate', endpoint.id)
  await cli(acme, 'rotate', endpoint.id, { 'end-overlap': true })
  await takesEffect()
  const early = await oneMore()
  assert.deepEqual(
    [rotated.secret, again.secret].map((secret) => carriesSignatureOf(secret, early)),
    [false, true],
  )
  await assert.rejects(cli(acme, 'rotate', endpoint.id, { 'end-overlap': true }), { code: 'no_overlap' })
  const entries = await trail()
  assert.deepEqual(entries.map(({ type }) => type).reverse(), [
    'webhook_endpoint.added',
    'webhook_endpoint.secret_rotated',
    'webhook_endpoint.secret_rotated',
    'webhook_endpoint.overlap_ended',
  ])
  for (const secret of [endpoint.secret, rotated.secret, again.secret])
    assert.ok(!JSON.stringify(entries).includes(secret.slice(6)))
})

test('a webhook endpoint that is enabled again gets its pending deliveries, and redeliver sends the events in between', async () => {
  const { acme, endpoint, receiver, state, oneMore, trail } = await setUp()
  const since = new Date(Date.now() + aheadMs - 60_000).toISOString()
  state.status = 500
  const waited = await oneMore()
  await until('it failed', async () => (await cli(acme, 'list'))[0].failing_since !== null)
  const disabled = await cli(acme, 'disable', endpoint.id, { reason: 'maintenance' })
  assert.deepEqual([disabled.state, disabled.disabled_why], ['disabled', 'maintenance'])
  await assert.rejects(cli(acme, 'disable', endpoint.id), { code: 'endpoint_disabled_already' })
  await assert.rejects(cli(acme, 'redeliver', endpoint.id, { since }), { code: 'endpoint_disabled' })
  const { body: missed } = await acme.post('/v1/entities', { external_id: 'missed' })
  aheadMs += 10_000
  const before = receiver.received.length

  state.status = 204
  const enabled = await cli(acme, 'enable', endpoint.id)
  assert.deepEqual([enabled.state, enabled.disabled_why, enabled.failing_since], ['enabled', null, null])
  await until('the pending delivery is received', () =>
    receiver.received.slice(before).some(({ id }) => id === waited.id),
  )
  assert.deepEqual(await cli(acme, 'redeliver', endpoint.id, { since }), { queued: 1 })
  await until('the missed event is received', () =>
    receiver.received.some(({ event }) => event.data.entity_id === missed.id),
  )
  assert.deepEqual(await cli(acme, 'redeliver', endpoint.id, { since }), { queued: 0 })
  assert.deepEqual(
    (await trail()).map(({ type }) => type).reverse(),
    ['added', 'disabled', 'enabled', 'redelivery'].map((what) => `webhook_endpoint.${what}`),
  )
})

test('deliveries and their attempts can be listed, and an event can be sent again', async () => {
  const { acme, endpoint, receiver, oneMore } = await setUp()
  const { id } = await oneMore()
  await until('the attempt is recorded', async () => {
    const { deliveries } = await cli(acme, 'deliveries', endpoint.id, { state: 'delivered' })
    return deliveries.length === 1
  })
  const { deliveries } = await cli(acme, 'deliveries', endpoint.id)
  assert.deepEqual(
    [deliveries[0].event_id, deliveries[0].event_type, deliveries[0].attempts, deliveries[0].last_status],
    [id, 'entity.created', 1, 204],
  )
  assert.deepEqual(await cli(acme, 'redeliver', endpoint.id, { event: id }), { queued: 1 })
  await until('the event is received again', () => receiver.received.filter((one) => one.id === id).length === 2)
  await until('both attempts are recorded', async () => {
    const { attempts } = await cli(acme, 'deliveries', endpoint.id, { event: id })
    return attempts.length === 2
  })
})

test('a webhook endpoint of another organization is reported as unknown', async () => {
  const { endpoint } = await setUp()
  const other = await api.newOrganization()
  for (const name of ['rotate', 'disable', 'enable', 'deliveries', 'redeliver']) {
    const refused = cli(other, name, endpoint.id, name === 'redeliver' ? { event: 'evt_x' } : {})
    await assert.rejects(refused, { kind: 'not_found', message: /^There is no webhook endpoint whe_\w+ in sandbox\.$/ })
  }
  assert.deepEqual(await cli(other, 'list'), [])
})

test('an invalid call is refused with a reason', async () => {
  const { acme, endpoint, receiver } = await setUp()
  for (const [call, message] of [
    [() => cli(acme, 'add', 'http://10.0.0.1/hooks'), /10\.0\.0\.1 is a private address/],
    [() => cli(acme, 'add', 'http://example.com/', { environment: 'production' }), /must start with https/],
    [() => cli(acme, 'add', 'https://localhost/', { environment: 'production' }), /loopback/],
    [() => cli(acme, 'add', 'nonsense'), /cannot be parsed: "nonsense"/],
    [() => cli(acme, 'add', receiver.url, { events: 'entity.exploded' }), /"entity.exploded" is not a type of event/],
    [() => cli(acme, 'enable', endpoint.id), /is enabled already/],
    [() => cli(acme, 'deliveries', endpoint.id, { limit: '0' }), /--limit must be/],
    [() => cli(acme, 'deliveries', endpoint.id, { state: 'lost' }), /--state must be/],
    [() => cli(acme, 'redeliver', endpoint.id), /^Add either --event <event id> or --since <time>/],
    [() => cli(acme, 'redeliver', endpoint.id, { since: 'yesterday' }), /--since must be an ISO 8601 time/],
    [() => cli(acme, 'redeliver', endpoint.id, { event: 'evt_x' }), /^There is no event evt_x/],
  ] as const) {
    await assert.rejects(call(), { name: 'Problem', message })
  }
})

test('of two concurrent changes of a webhook endpoint one wins, and the other is refused', async () => {
  const { acme, endpoint } = await setUp()
  const store = installation.stores.sandbox
  const { commit } = store
  const bothHaveRead = Promise.withResolvers<void>()
  let arrived = 0
  store.commit = async (change) => {
    if (change.changedEndpoints) {
      arrived += 1
      if (arrived === 2) bothHaveRead.resolve()
      await bothHaveRead.promise
    }
    return commit(change)
  }
  const results = await Promise.allSettled([cli(acme, 'rotate', endpoint.id), cli(acme, 'rotate', endpoint.id)])
  store.commit = commit
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  const lost = results.find((result) => result.status === 'rejected')!
  assert.match(lost.reason.message, /^Another operator or the dispatcher changed/)
})

test('an organization has at most fifty enabled webhook endpoints, whether added or enabled again', async () => {
  const { acme, endpoint, receiver } = await setUp()
  const more: { id: string }[] = []
  while (more.length < 49) more.push(await cli(acme, 'add', receiver.url, { events: 'policy.activated' }))
  await assert.rejects(cli(acme, 'add', receiver.url), { message: /at most 50 enabled webhook endpoints/ })
  await cli(acme, 'disable', endpoint.id)
  const another = await cli(acme, 'add', receiver.url, { events: 'policy.activated' })
  assert.match(another.id, /^whe_/)
  await assert.rejects(cli(acme, 'enable', endpoint.id), { code: 'endpoints_max' })
  await cli(acme, 'disable', more[0]!.id)
  assert.equal((await cli(acme, 'enable', endpoint.id)).state, 'enabled')
})

test('redeliver --since reaches back as far as deliveries are kept', async () => {
  const { acme, endpoint, oneMore } = await setUp()
  await oneMore()
  const daysAgo = (days: number) => new Date(Date.now() + aheadMs - days * 86_400_000).toISOString()
  await assert.rejects(cli(acme, 'redeliver', endpoint.id, { since: daysAgo(31) }), { message: /kept for 30 days/ })
  assert.equal(typeof (await cli(acme, 'redeliver', endpoint.id, { since: daysAgo(29) })).queued, 'number')
})

test('control characters in an answer do not reach the terminal of the operator', async () => {
  const { acme, endpoint, state, oneMore } = await setUp()
  Object.assign(state, { status: 500, body: '\u001b[31mred\u009b2Jgone\u202eback\u2028\nnext' })
  const { id } = await oneMore()
  const command = commands.find(({ name }) => name === 'webhooks deliveries')!
  const input = { positionals: [endpoint.id as string], options: { org: acme.id, event: id }, caller: 'test (uid 0)' }
  // biome-ignore lint/suspicious/noExplicitAny: the command defines the shape of its result.
  let result: any
  await until('the attempt is recorded', async () => {
    result = await command.run(installation, input)
    return result.attempts.length > 0
  })
  assert.doesNotMatch(command.render(result).replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  assert.doesNotMatch(JSON.stringify(result), /\p{Cc}/u)
  assert.match(result.attempts[0].response, /red.*gone.*\nnext/su)
})
