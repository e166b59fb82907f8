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

test('audit verify finds a log intact after an erasure, and counts what it erased', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  await sealEverything(scene, acme.id)
  const before = await scene.verify(acme)
  assert.deepEqual([before.intact, before.records_erased], [true, 0], before.problems.join('\n'))
  await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  assert.equal((await scene.verify(acme)).intact, true, 'while it is pending')
  await eraseAfter(scene, 11)
  await sealEverything(scene, acme.id)
  const after = await scene.verify(acme)
  assert.deepEqual(after.problems, [])
  assert.ok(after.records_erased >= 10, String(after.records_erased))
})

/** What `audit verify` says of an organization in which one record of an erased person, or one erasure, was changed with SQL. */
async function problemsAfter(sql: string, params: (person: { entityId: string; decisionId: string }) => unknown[]) {
  const acme = await api.newOrganization()
  const person = await storePerson(scene, acme)
  await eraseEntirely(scene, acme, person.entityId)
  await alter(sql, params(person))
  return (await scene.verify(acme)).problems
}

/** Changes rows of append-only tables, as an administrator of the database can. */
async function alter(sql: string, params: unknown[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.script('SET LOCAL session_replication_role = replica')
    await transaction.query(sql, params)
  })
}

test('what an erasure leaves is verified as before: a deleted or edited record is a problem', async () => {
  const ofEntity = ({ entityId }: { entityId: string }) => [entityId]
  for (const [sql, what] of [
    ['DELETE FROM reviews WHERE entity_id = $1', /^The review rev_\w+ is missing/],
    ['DELETE FROM outcomes WHERE entity_id = $1', /^The outcome out_\w+ is missing/],
    [
      `UPDATE reviews SET body = replace(body, '[erased]', 'forged') WHERE entity_id = $1`,
      /^The review rev_\w+ was changed/,
    ],
    ['UPDATE decisions SET score = 1 WHERE entity_id = $1', /^The decision dec_\w+ was changed \(score\)/],
    ['UPDATE erasures SET entry_id = $1 WHERE entity_id = $1', /is missing|is not on the log/],
    ['DELETE FROM erasures WHERE entity_id = $1', /^The entity ent_\w+ is missing/],
  ] as const) {
    const problems = await problemsAfter(sql, ofEntity)
    assert.ok(
      problems.some((problem) => what.test(problem)),
      `${sql}: ${problems.join('\n')}`,
    )
  }
})

test('the same rows deleted with SQL, without an erasure, are problems', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  await sealEverything(scene, acme.id)
  await alter('DELETE FROM consents WHERE entity_id = $1', [entityId])
  assert.match((await scene.verify(acme)).problems.join('\n'), /^The consent con_\w+ is missing/)
  await alter('INSERT INTO erasures (org_id, entity_id, entry_id, approved_at) VALUES ($2, $1, $1, now())', [
    entityId,
    acme.id,
  ])
  const problems = (await scene.verify(acme)).problems.join('\n')
  assert.match(problems, /The consent con_\w+ is missing/, 'an inserted erasure explains nothing')
  assert.match(problems, /The erasure of ent_\w+ is not on the log/)
})
