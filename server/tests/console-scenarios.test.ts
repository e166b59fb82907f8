/** The named scenarios of the playground: kept for the organization, renamed, replaced, removed, and bounded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCENARIOS_MAX } from '../src/store/environment/scenarios.ts'
import { signedInOperator } from './console-client.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const database = api.service.installation.storage.environments.sandbox
const viewer = await signedInOperator(api, { organizationId: acme.id, email: 'v@example.com', role: 'viewer' })
const reviewer = await signedInOperator(api, { organizationId: acme.id, email: 'r@example.com', role: 'reviewer' })
const LARGE = { entity_id: 'e-1', product: 'personal_loan', requested_amount: 9_000, currency: 'EUR' }
const SMALL = { decision_id: 'dec_1', changes: { 'request.amount': 10 }, policy_versions: ['sandbox-policy-v1'] }

function act(name: string, input: object, environment = 'sandbox') {
  return reviewer.call(`${acme.id}/${environment}/scenarios.${name}`, input)
}

async function added(name: string, request: object): Promise<string> {
  const { status, body } = await act('add', { name, request })
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}

async function kept(environment = 'sandbox') {
  const { body } = await viewer.call(`${acme.id}/${environment}/playground.show`)
  return body.scenarios as { id: string; name: string; request: object; by: string; at: string }[]
}

async function entries(id: string) {
  const sql = 'SELECT type, actor_id, data FROM audit_entries WHERE org_id = $1 AND subject_id = $2 ORDER BY id'
  return database.query<{ type: string; actor_id: string; data: string }>(sql, [acme.id, id])
}

test('a scenario is kept with its whole request, for every operator of the organization and in its environment alone', async () => {
  const [large, small] = [await added('Large', LARGE), await added('  Small ', SMALL)]
  const [first, second, ...others] = await kept()
  assert.deepEqual(
    [first?.id, first?.name, first?.request, second?.id, second?.name, second?.request],
    [large, 'Large', LARGE, small, 'Small', SMALL],
  )
  assert.equal(others.length, 0)
  assert.match(first!.by, /\S/)
  assert.deepEqual(await kept('production'), [])
  for (const { id } of [first!, second!]) assert.equal((await act('remove', { id })).status, 200)
})

test('a scenario is renamed, replaced and removed, each on the audit log under the operator, without its name', async () => {
  const id = await added('Ada’s loan', LARGE)
  assert.equal((await act('change', { id, name: 'Larger' })).status, 200)
  assert.deepEqual(
    (await kept()).map(({ name, request }) => [name, request]),
    [['Larger', LARGE]],
  )
  assert.equal((await act('change', { id, request: SMALL })).status, 200)
  assert.deepEqual(
    (await kept()).map(({ name, request }) => [name, request]),
    [['Larger', SMALL]],
  )
  assert.equal((await act('remove', { id })).status, 200)
  assert.deepEqual(await kept(), [])
  for (const again of [act('remove', { id }), act('change', { id, name: 'Gone' })]) {
    const { status, body } = await again
    assert.deepEqual([status, body.error.code], [404, 'scenario_not_found'])
  }
  const recorded = await entries(id)
  assert.deepEqual(
    recorded.map(({ type, actor_id }) => [type, actor_id]),
    ['added', 'changed', 'changed', 'removed'].map((step) => [`scenario.${step}`, reviewer.operatorId]),
  )
  assert.deepEqual(JSON.parse(recorded[1]!.data), { scenario_id: id, changed: ['name'] })
  assert.deepEqual(JSON.parse(recorded[2]!.data), { scenario_id: id, changed: ['request'] })
  assert.doesNotMatch(recorded.map(({ data }) => data).join(), /Ada|Larger/)
})

test('a name that another scenario has is refused, when adding and when renaming, and both stay as they are', async () => {
  const [one, two] = [await added('One', LARGE), await added('Two', SMALL)]
  for (const [name, input] of [
    ['add', { name: ' One', request: SMALL }],
    ['change', { id: two, name: 'One', request: LARGE }],
  ] as const) {
    const { status, body } = await act(name, input)
    assert.deepEqual([status, body.error.code], [409, 'name_taken'], name)
  }
  assert.deepEqual(
    (await kept()).map(({ id, name, request }) => [id, name, request]),
    [
      [one, 'One', LARGE],
      [two, 'Two', SMALL],
    ],
  )
  assert.equal((await entries(two)).length, 1, 'a refused change leaves no entry')
  for (const id of [one, two]) await act('remove', { id })
})

test('of two operators who save the same name at the same moment, one is told so', async () => {
  const saved = await Promise.all([
    act('add', { name: 'Same', request: LARGE }),
    act('add', { name: 'Same', request: SMALL }),
  ])
  assert.deepEqual(saved.map(({ status }) => status).sort(), [200, 409])
  const [only] = await kept()
  await act('remove', { id: only!.id })
})

test('a viewer keeps no scenario, and a request that cannot be decided is refused in words', async () => {
  const forbidden = await viewer.call(`${acme.id}/sandbox/scenarios.add`, { name: 'Mine', request: LARGE })
  assert.equal(forbidden.status, 403)
  for (const request of [
    {},
    { entity_id: 'e-1' },
    { ...LARGE, currency: undefined },
    { ...LARGE, unknown: 1 },
    { ...LARGE, changes: { 'request.amount': { nested: true } } },
  ])
    assert.equal((await act('add', { name: 'Wrong', request })).status, 400, JSON.stringify(request))
  for (const name of ['', '   ', 'x'.repeat(81)])
    assert.equal((await act('add', { name, request: LARGE })).status, 400, JSON.stringify(name))
  assert.deepEqual(await kept(), [])
})

test('the number and the size of scenarios are bounded', async () => {
  const changes = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`snapshot.feature_${n}`, 'x'.repeat(100)]))
  const long = await act('add', { name: 'Long', request: { ...LARGE, changes } })
  assert.deepEqual([long.status, long.body.error.code], [400, 'scenario_too_long'])
  assert.match(long.body.error.message, /at most 4000 characters\. Change fewer facts\.$/)
  const ids: string[] = []
  for (let n = 0; n < SCENARIOS_MAX; n++) ids.push(await added(`Scenario ${n}`, LARGE))
  const { status, body } = await act('add', { name: 'One more', request: LARGE })
  assert.deepEqual([status, body.error.code], [409, 'scenarios_full'])
  assert.equal((await act('change', { id: ids[0]!, request: SMALL })).status, 200, 'one that is kept can be replaced')
  assert.equal((await act('remove', { id: ids[0]! })).status, 200)
  await added('One more', LARGE)
  assert.equal((await kept()).length, SCENARIOS_MAX)
})
