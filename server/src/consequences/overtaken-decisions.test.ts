/** Decisions that a fact overtook while they were made; on PGlite and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { decisionRow } from '../../tests/decision-row.ts'
import { entityRow } from '../../tests/entity-row.ts'
import { newOrganizationId } from '../../tests/new-organization.ts'
import { createTestStorage } from '../../tests/test-storage.ts'
import { readConfig } from '../config.ts'
import { openInstallation } from '../installation/installation.ts'
import { madeOn } from '../underwriting/facts-of.ts'

const NOW = '2026-11-16T09:30:00.000Z'

const place = await createTestStorage()
const installation = await openInstallation(readConfig(place.env))
await installation.storage.migrate()
const store = installation.stores.sandbox
const database = installation.storage.environments.sandbox
after(async () => {
  await installation.close()
  await place.remove()
})

beforeEach(async () => {
  for (const queue of ['unchecked_decisions', 'consequences']) await database.query(`DELETE FROM ${queue}`)
})

/** An organization with so many entities. */
async function newEntities(count: number): Promise<{ organizationId: string; ids: string[] }> {
  const organizationId = await newOrganizationId(installation)
  const ids = Array.from({ length: count }, () => installation.newId('ent'))
  await store.commit({ organizationId, newEntities: ids.map((id) => entityRow(id, NOW)) })
  return { organizationId, ids }
}

/** Writes a decision about each entity, as it is stored now, in one statement. */
async function decide(organizationId: string, ids: readonly string[]): Promise<void> {
  const decisions = await Promise.all(
    ids.map(async (id) => {
      const entity = (await store.entities.find({ organizationId, id }))!
      return decisionRow({ id: installation.newId('dec'), entity_id: id, madeOn: madeOn([entity]) })
    }),
  )
  await store.commit({ organizationId, decisions })
}

const changeEntity = (organizationId: string, id: string, version = 2) =>
  store.commit({ organizationId, changedEntities: [entityRow(id, NOW, { version })] })

/** Checks all decisions, and returns the entities that are then queued for a re-evaluation. */
async function overtaken(organizationId: string): Promise<string[]> {
  while ((await store.consequences.queueOvertaken({ after: '', limit: 50 })).length > 0) {}
  const due = await store.consequences.due('reevaluation', { after: '', limit: 1_000, now: NOW })
  return due.filter(({ org_id }) => org_id === organizationId).map(({ entity_id }) => entity_id)
}

test('decisions on what is still stored queue nothing and are checked once', async () => {
  const { organizationId, ids } = await newEntities(40)
  await decide(organizationId, ids)
  assert.equal(await store.consequences.isAny(), true)
  assert.deepEqual(await overtaken(organizationId), [])
  assert.equal(await store.consequences.isAny(), false)
})

test('a decision on an earlier version of its entity queues a re-evaluation', async () => {
  const { organizationId, ids } = await newEntities(3)
  const entity = (await store.entities.find({ organizationId, id: ids[1]! }))!
  await changeEntity(organizationId, ids[1]!)
  const late = decisionRow({ id: installation.newId('dec'), entity_id: ids[1]!, madeOn: madeOn([entity]) })
  await store.commit({ organizationId, decisions: [late] })
  assert.deepEqual(await overtaken(organizationId), [ids[1]])
})

test('a fact that is written in the same statement as the decision queues a re-evaluation', async () => {
  const { organizationId, ids } = await newEntities(2)
  const entity = (await store.entities.find({ organizationId, id: ids[0]! }))!
  const decision = decisionRow({ id: installation.newId('dec'), entity_id: ids[0]!, madeOn: madeOn([entity]) })
  await Promise.all([store.commit({ organizationId, decisions: [decision] }), changeEntity(organizationId, ids[0]!)])
  assert.deepEqual(await overtaken(organizationId), [ids[0]])
})

test('a decision on an earlier exposure, or on none, queues a re-evaluation', async () => {
  const { organizationId, ids } = await newEntities(3)
  const expose = (summary: string) =>
    database.query(
      `INSERT INTO graph_exposures (org_id, entity_id, summary, trust, as_of, read_number) VALUES ($1, $2, $3, '{}', $4, 1)
       ON CONFLICT (org_id, entity_id) DO UPDATE SET summary = excluded.summary`,
      [organizationId, ids[2], summary, NOW],
    )
  await decide(organizationId, ids)
  await expose('{"a":1}')
  assert.deepEqual(await overtaken(organizationId), [ids[2]])

  const due = await store.consequences.due('reevaluation', { after: '', limit: 1_000, now: NOW })
  await store.consequences.remove(due)
  const fresh = await store.entities.find({ organizationId, id: ids[2]! })
  assert.equal(fresh!.graph, '{"a":1}')
  await decide(organizationId, ids)
  assert.deepEqual(await overtaken(organizationId), [])
  await decide(organizationId, ids)
  await expose('{"a":2}')
  assert.deepEqual(await overtaken(organizationId), [ids[2]])
})

test('a re-evaluation that began before the decision is not the end of the queued one', async () => {
  const { organizationId, ids } = await newEntities(1)
  const [id] = ids as [string]
  await decide(organizationId, [id])
  await changeEntity(organizationId, id)
  const [begun] = await store.consequences.due('reevaluation', { after: '', limit: 1_000, now: NOW })
  assert.equal(begun!.entity_id, id)
  const entity = (await store.entities.find({ organizationId, id }))!
  await changeEntity(organizationId, id, 3)
  await store.consequences.remove(await store.consequences.due('reevaluation', { after: '', limit: 1_000, now: NOW }))
  await store.consequences.queue([begun!])
  const late = decisionRow({ id: installation.newId('dec'), entity_id: id, madeOn: madeOn([entity]) })
  await store.commit({ organizationId, decisions: [late] })
  assert.deepEqual(await overtaken(organizationId), [id])
  await store.consequences.remove([begun!])
  assert.deepEqual(await overtaken(organizationId), [id])
})

test('a batch takes statements of the organizations after one, and an entity of several statements is queued once', async () => {
  const groups = await Promise.all([newEntities(1), newEntities(1)])
  const [first, second] = groups.toSorted((a, b) => (a.organizationId < b.organizationId ? -1 : 1))
  for (const { organizationId, ids } of [first!, second!])
    for (let count = 0; count < 3; count++) await decide(organizationId, ids)
  for (const { organizationId, ids } of [first!, second!]) await changeEntity(organizationId, ids[0]!)
  const take = (after: string) => store.consequences.queueOvertaken({ after, limit: 2 })
  assert.deepEqual(await take(first!.organizationId), Array(2).fill(second!.organizationId))
  assert.deepEqual(await take(''), Array(2).fill(first!.organizationId))
  assert.deepEqual(await overtaken(first!.organizationId), first!.ids)
  assert.deepEqual(await overtaken(second!.organizationId), second!.ids)
})
