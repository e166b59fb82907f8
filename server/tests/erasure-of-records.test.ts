/** What upkeep erases once an erasure is approved and sealed; on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAuditLogScene } from './audit-log-scene.ts'
import {
  approveErasure,
  eraseAfter,
  eraseEntirely,
  PERSONAL_TEXTS,
  readEverything,
  sealEverything,
  storePerson,
} from './erase-entity.ts'

const scene = await startAuditLogScene()
const { api, installation, database, store } = scene

test('of an erased entity no text that was sent about it is left in any table or document', async () => {
  const acme = await api.newOrganization()
  const { entityId, decisionId } = await storePerson(scene, acme)
  const before = await readEverything(installation)
  for (const [name, text] of Object.entries(PERSONAL_TEXTS))
    assert.ok(before.includes(text) || name === 'masked', `${name} is stored: ${text}`)
  await eraseEntirely(scene, acme, entityId)
  const after = await readEverything(installation)
  for (const [name, text] of Object.entries(PERSONAL_TEXTS))
    assert.ok(!after.includes(text), `${name} is left: ${text}`)
  assert.ok(after.includes(decisionId), 'the decision is kept')
})

test('before its entry is sealed an erasure erases nothing', async () => {
  const acme = await api.newOrganization()
  const { body: entity } = await acme.post('/v1/entities', { external_id: 'unsealed' })
  await acme.post(`/v1/entities/${entity.id}/consents`, { purpose: 'marketing' })
  const count = async () => (await database.query('SELECT 1 FROM consents WHERE entity_id = $1', [entity.id])).length
  const unsealed = {
    ...store,
    erasures: {
      ...store.erasures,
      pending: async (limit: number) =>
        (await store.erasures.pending(limit)).map((erasure) => ({ ...erasure, is_sealed: false })),
    },
  }
  await approveErasure(installation, acme.id, entity.id)
  await eraseAfter({ ...scene, store: unsealed }, 11)
  assert.equal(await count(), 1)
  await sealEverything(scene, acme.id)
  await eraseAfter(scene, 11)
  assert.equal(await count(), 0)
})
