/** The erasure of an entity: what is gone at once, what goes once its entry is sealed, and what stays. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approveErasure } from './erase-entity.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const acme = await api.newOrganization()
const { installation } = api.service
const store = installation.stores.sandbox
const database = installation.storage.environments.sandbox

async function saveScenario(id: string, name: string, request: object) {
  const scenario = { id, name, request: JSON.stringify(request), saved_by: 'opr_one', saved_at: '2026-03-01T00:00:00Z' }
  await store.commit({ organizationId: acme.id, rows: { playground_scenarios: [scenario] } })
}

test('from its approval on an erased entity is unknown, its external id is free, and scenarios that name it are gone', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'customer-1', display_name: 'Maria Muster' })
  await saveScenario('scn_1', 'Lower amount', { entity_id: entity.id })
  await saveScenario('scn_2', 'What MARIA MUSTER asked', {})
  await saveScenario('scn_3', 'Another', { entity_id: 'ent_another' })
  const entryId = await approveErasure(installation, acme.id, entity.id)

  assert.equal((await acme.get(`/v1/entities/${entity.id}`)).status, 404)
  const asked = { entity_id: entity.id, product: 'credit_line' }
  assert.equal((await acme.post('/v1/underwrite', asked, { 'Idempotency-Key': 'erased' })).status, 404)
  const again = await acme.post('/v1/entities', { external_id: 'customer-1' })
  assert.equal(again.status, 201)
  assert.notEqual(again.body.id, entity.id)
  const scenarios = (await store.scenarios.list(acme.id)).map(({ id }) => id)
  assert.deepEqual(scenarios, ['scn_3'])

  for await (const pending of store.erasures.pending())
    assert.deepEqual(
      pending.map(({ entity_id, entry_id, is_confirmed }) => [entity_id, entry_id, is_confirmed]),
      [[entity.id, entryId, true]],
    )
})

test('an erasure of an entity that changed meanwhile writes nothing', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'customer-2' })
  const change = {
    organizationId: acme.id,
    newErasures: [{ entity_id: entity.id, version: 7, entry_id: 'aud_x', approved_at: '2026-03-01T00:00:00Z' }],
  }
  assert.deepEqual(await store.commit(change), { lost: 'entity_version' })
  assert.equal((await acme.get(`/v1/entities/${entity.id}`)).status, 200)
  assert.deepEqual(await database.query('SELECT FROM erasures WHERE entity_id = $1', [entity.id]), [])
})

test('an erasure that was inserted with SQL is not confirmed', async () => {
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'customer-3' })
  const [created] = await database.query<{ id: string }>('SELECT id FROM audit_entries WHERE subject_id = $1', [
    entity.id,
  ])
  await database.query(`INSERT INTO erasures (org_id, entity_id, entry_id, approved_at) VALUES ($1, $2, $3, now())`, [
    ...[acme.id, entity.id, created!.id],
  ])
  assert.equal((await store.erasures.ofEntities(acme.id, [entity.id])).size, 0)
})
