/** How often an entity asks, and how many entities share its device: as the facts of decisions have it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addOperator } from '../src/admin/manage-operators.ts'
import { mergeEntities } from '../src/admin/merge-entities.ts'
import { factsNow } from '../src/console/playground/dry-run.ts'
import { REQUESTS_COUNTED_MAX } from '../src/core/facts/velocity-facts.ts'
import { CROWD_MAX } from '../src/core/graph/link.ts'
import { lowestIdAt } from '../src/ids/new-id.ts'
import { entityQueries } from '../src/store/environment/entities.ts'
import { byOperator, byService } from './acts.ts'
import { newConsequenceWorker } from './consequence-worker.ts'
import { fillTable } from './fill-table.ts'
import { rowsTouched } from './rows-touched.ts'
import { startTestService } from './test-service.ts'

const START_MS = Date.parse('2026-11-15T09:00:00Z')
const DAY_MS = 86_400_000
/** Never goes back: the ids that an installation makes do not. */
let daysAhead = 0
const nowMs = () => START_MS + daysAhead * DAY_MS + performance.now()
const api = await startTestService({ nowMs })
const acme = await api.newOrganization()
const { installation } = api.service
const database = installation.storage.environments.sandbox
const store = installation.stores.sandbox
const worker = newConsequenceWorker(installation)
const REQUEST = { product: 'marketplace_access' }

let count = 0
async function newEntity(): Promise<string> {
  return (await acme.post('/v1/entities', { external_id: `velocity-${count++}` })).body.id
}

/** Makes a decision; with the key of an earlier call it is a retry. */
async function decide(entityId: string, key = `velocity-${count++}`): Promise<string> {
  const answer = await acme.post('/v1/underwrite', { entity_id: entityId, ...REQUEST }, { 'Idempotency-Key': key })
  assert.ok([200, 201].includes(answer.status), answer.text)
  return answer.body.id
}

const features = async (decisionId: string) =>
  (await acme.get(`/v1/decisions/${decisionId}/replay`)).body.evidence.feature_snapshot

/** The requests before a new one, in 7 and in 30 days. */
async function asked(entityId: string): Promise<number[]> {
  const facts = await features(await decide(entityId))
  return ['history.requests_7_days', 'history.requests_30_days'].map((name) => facts[name].value)
}

async function device(entityId: string, value: string, status = 'unverified'): Promise<void> {
  const link = { identifier: { type: 'device', value }, verification: { status } }
  assert.equal((await acme.post(`/v1/entities/${entityId}/identity-links`, link)).status, 201)
}

/** How many entities have the device of an entity, as a new decision sees it. */
async function deviceHolders(entityId: string) {
  return (await features(await decide(entityId)))['graph.device_holders']
}

test('a decision knows how many were made before it in 7 and in 30 days, and its replay does too', async () => {
  const [entity, other] = [await newEntity(), await newEntity()]
  assert.deepEqual(
    [await asked(entity), await asked(entity), await asked(entity)],
    [
      [0, 0],
      [1, 1],
      [2, 2],
    ],
  )
  assert.deepEqual(await asked(other), [0, 0])
  daysAhead += 8
  assert.deepEqual(
    [await asked(entity), await asked(entity)],
    [
      [0, 3],
      [1, 4],
    ],
  )
  daysAhead += 23
  const last = await decide(entity)
  assert.equal((await features(last))['history.requests_30_days'].value, 2)
  await decide(entity)
  const { body: replay } = await acme.get(`/v1/decisions/${last}/replay`)
  assert.equal(replay.matches, true, 'also after further requests')
})

test('a retry with the same key and a dry run are no requests', async () => {
  const entity = await newEntity()
  const made = await decide(entity, 'one-key')
  assert.equal(await decide(entity, 'one-key'), made)
  const place = { store, organizationId: acme.id, now: new Date(nowMs()).toISOString() }
  for (let run = 0; run < 3; run++) {
    const { facts } = await factsNow(place, entity, REQUEST)
    assert.deepEqual(facts.features['history.requests_7_days'], { value: 1 })
  }
  assert.deepEqual(await asked(entity), [1, 1])
})

test('an entity with 100,000 decisions is read in as few rows as one with twenty', async () => {
  const entity = await newEntity()
  const id = `'${lowestIdAt('dec', nowMs() - 2 * DAY_MS).slice(0, 14)}' || lpad(n::text, 16, '0')`
  await fillTable(database, 'decisions', {
    range: [1, 100_000],
    columns: { org_id: `'${acme.id}'`, id, entity_id: `'${entity}'` },
  })
  assert.deepEqual(await asked(entity), [REQUESTS_COUNTED_MAX, REQUESTS_COUNTED_MAX])
  const touched: Record<string, number> = {}
  const explained = entityQueries({
    ...database,
    async query(sql, params = []) {
      for (const { table, rows } of await rowsTouched(database, sql, params)) touched[table] = rows
      return []
    },
  })
  await explained.toDecide({ organizationId: acme.id, id: entity })
  assert.equal(touched.decisions, REQUESTS_COUNTED_MAX, JSON.stringify(touched))
})

test('merged entities have asked as often as all of them together, and share a device as one', async () => {
  const [one, other, third] = [await newEntity(), await newEntity(), await newEntity()]
  for (const entity of [one, other, third]) await device(entity, 'merged-device')
  assert.deepEqual(
    [await asked(one), await asked(one), await asked(other)],
    [
      [0, 0],
      [1, 1],
      [0, 0],
    ],
  )
  for (const name of ['ada', 'grace']) {
    const operator = { email: `${name}@example.com`, name, role: 'admin' }
    const added = await addOperator(installation, byService(acme.id), operator)
    await mergeEntities(installation, byOperator(added, { reason: 'The same person.' }), { entity: one, other })
  }
  await worker.drain()
  assert.deepEqual(
    [await asked(one), await asked(other)],
    [
      [3, 3],
      [4, 4],
    ],
  )
  assert.deepEqual([await deviceHolders(one), await deviceHolders(third)], [{ value: 2 }, { value: 3 }])
})

test('the device that most entities have counts, and a crowd is bounded', async () => {
  const [alone, shared] = [await newEntity(), await newEntity()]
  assert.deepEqual(await deviceHolders(alone), { missing: 'no_data' })
  await device(alone, 'device-of-one')
  assert.deepEqual(await deviceHolders(alone), { value: 1 })
  await device(shared, 'device-of-many')
  await device(shared, 'device-of-two')
  await device(alone, 'device-of-two', 'verified')
  await device(alone, 'device-of-two', 'verified')
  assert.deepEqual([await deviceHolders(alone), await deviceHolders(shared)], [{ value: 2 }, { value: 2 }])
  for (let holders = 2; holders <= CROWD_MAX + 3; holders++) {
    await device(await newEntity(), 'device-of-many')
    if (holders > CROWD_MAX - 1)
      assert.deepEqual(await deviceHolders(shared), { value: Math.min(holders, CROWD_MAX + 1) })
  }
  assert.deepEqual(await deviceHolders(alone), { value: 2 })
})

test('an identifier that is no device, or failed its check, makes no holder', async () => {
  const entity = await newEntity()
  await device(entity, 'failed-device', 'failed')
  const link = { identifier: { type: 'phone', value: '+49 170 1234567' }, verification: { status: 'verified' } }
  await acme.post(`/v1/entities/${entity}/identity-links`, link)
  assert.deepEqual(await deviceHolders(entity), { missing: 'no_data' })
  await device(entity, 'own-device')
  await device(await newEntity(), 'own-device', 'failed')
  assert.deepEqual(await deviceHolders(entity), { value: 1 })
  const consent = { purpose: 'credit_underwriting', status: 'revoked' }
  await acme.post(`/v1/entities/${entity}/consents`, consent)
  assert.deepEqual(await deviceHolders(entity), { missing: 'consent_revoked' })
})
