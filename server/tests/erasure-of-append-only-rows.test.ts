/** The one way to change append-only rows; on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENVIRONMENT_RULES } from '../src/store/erasure/erasure-rules.ts'
import { startAuditLogScene } from './audit-log-scene.ts'
import { approveErasure, sealEverything, storePerson } from './erase-entity.ts'

const scene = await startAuditLogScene()
const { api, installation, database } = scene

const erase = (organizationId: string, entryId: string, change: string) =>
  database.query<{ changed: number }>('SELECT erase_records($1, $2, $3, NULL) AS changed', [
    organizationId,
    entryId,
    change,
  ])

const deleteAll = (table: string) => `DELETE FROM ${table} WHERE org_id = $1 AND $2 <> ''`
const deleteOwn = (table: string) => `DELETE FROM ${table} WHERE org_id = $1 AND entity_id = $2`

/** The tables of which an erasure deletes or changes append-only rows. */
const GIVING_WAY = Object.entries(ENVIRONMENT_RULES)
  .filter(([table, rule]) => 'givesWay' in rule || ('redacts' in rule && table !== 'document_segments'))
  .map(([table]) => table)

async function countOf(table: string, entityId: string): Promise<number> {
  return (await database.query(`SELECT 1 FROM ${table} WHERE entity_id = $1`, [entityId])).length
}

test('append-only rows give way to the function with the id of a sealed erasure, and to no other statement', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  const entryId = await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  const stored = []
  for (const table of GIVING_WAY) if ((await countOf(table, entityId)) > 0) stored.push(table)
  assert.deepEqual(stored, GIVING_WAY)
  for (const table of stored) {
    for (const sql of [
      `DELETE FROM ${table} WHERE entity_id = $1`,
      `UPDATE ${table} SET org_id = org_id WHERE entity_id = $1`,
    ])
      await assert.rejects(database.query(sql, [entityId]), /append-only/, `${sql}, although the entity is erased`)
    const [row] = await erase(acme.id, entryId, deleteOwn(table))
    assert.ok(row!.changed > 0, table)
    assert.equal(await countOf(table, entityId), 0, table)
    await assert.rejects(database.query(`TRUNCATE ${table}`), /append-only/)
  }
})

test('no other statement changes append-only rows, even if it makes the setting that the function makes', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  const entryId = await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  for (const change of ['DELETE FROM consents', "UPDATE consents SET evidence_method = 'other'"])
    await assert.rejects(
      database.transaction(async (transaction) => {
        await transaction.query("SELECT set_config('verdigraph.erasure', $1, true)", [entryId])
        await transaction.query(`${change} WHERE entity_id = $1`, [entityId])
      }),
      /consents is append-only/,
      change,
    )
  assert.equal(await countOf('consents', entityId), 1)
})

test('the function makes no row one about another entity', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  const { body: other } = await acme.post('/v1/entities', { external_id: 'other' })
  const entryId = await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  for (const assignment of [`entity_id = '${other.id}'`, "org_id = 'org_other'", "id = 'dec_other'"])
    await assert.rejects(
      erase(acme.id, entryId, `UPDATE decisions SET ${assignment} WHERE org_id = $1 AND entity_id = $2`),
      /decisions is append-only/,
      assignment,
    )
  assert.equal(await countOf('decisions', other.id), 0)
})

test('the function changes no row about another entity, in whatever statement it is given', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  const { body: other } = await acme.post('/v1/entities', { external_id: 'other' })
  await acme.post(`/v1/entities/${other.id}/consents`, { purpose: 'marketing' })
  const entryId = await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  await assert.rejects(erase(acme.id, entryId, deleteAll('consents')), /consents is append-only/)
  assert.equal(await countOf('consents', other.id), 1)
  assert.equal(await countOf('consents', entityId), 1, 'nothing of the statement was done')
})

test('the log, its tree and policies give way to no erasure', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  const entryId = await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  for (const table of ['audit_entries', 'audit_flushes', 'audit_heads', 'policies', 'policy_steps'])
    await assert.rejects(erase(acme.id, entryId, deleteAll(table)), new RegExp(`${table} is append-only`), table)
})

test('the function refuses an entry that is not sealed, approves no erasure, or belongs to another organization', async () => {
  const acme = await api.newOrganization()
  const other = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  await sealEverything(scene, acme.id)
  const [created] = await database.query<{ id: string }>(
    "SELECT id FROM audit_entries WHERE org_id = $1 AND trail_id = $2 AND type = 'entity.created'",
    [acme.id, entityId],
  )
  for (const entryId of [created!.id, 'aud_none', ''])
    await assert.rejects(erase(acme.id, entryId, deleteAll('consents')), /approves an erasure/)
  const entryId = await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  await assert.rejects(erase(other.id, entryId, deleteAll('consents')), /approves an erasure/)
  await database.transaction(async (transaction) => {
    await transaction.script('SET LOCAL session_replication_role = replica')
    await transaction.query('UPDATE audit_flushes SET flush = -flush WHERE org_id = $1', [acme.id])
  })
  await assert.rejects(erase(acme.id, entryId, deleteAll('consents')), /approves an erasure/, 'it is not sealed')
  assert.equal(await countOf('consents', entityId), 1)
})

test('an entry that was inserted with SQL approves no erasure, even with a row of its own and in a sealed statement', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  await sealEverything(scene, acme.id)
  const forged = `aud_${'0'.repeat(26)}`
  await database.query(
    `INSERT INTO audit_entries (seq, flush, occurred_at, place, org_id, id, trail_id, type, actor_type, actor_id, subject_type,
       subject_id, data, mac)
     SELECT 1000, flush, occurred_at, place, org_id, $3, trail_id, 'entity.erased', actor_type, actor_id, 'entity', $2, data, ''
     FROM audit_entries WHERE org_id = $1 AND trail_id = $2 AND type = 'entity.created'`,
    [acme.id, entityId, forged],
  )
  await database.query('INSERT INTO erasures (org_id, entity_id, entry_id, approved_at) VALUES ($1, $2, $3, now())', [
    acme.id,
    entityId,
    forged,
  ])
  await assert.rejects(erase(acme.id, forged, deleteAll('consents')), /approves an erasure/)
  assert.equal(await countOf('consents', entityId), 1)
})

test('the setting that the function makes is forgotten after its statement', async () => {
  const acme = await api.newOrganization()
  const { entityId } = await storePerson(scene, acme)
  const entryId = await approveErasure(installation, acme.id, entityId)
  await sealEverything(scene, acme.id)
  await assert.rejects(
    database.transaction(async (transaction) => {
      await transaction.query('SELECT erase_records($1, $2, $3, NULL)', [acme.id, entryId, deleteAll('data_sources')])
      await transaction.query('DELETE FROM consents WHERE entity_id = $1', [entityId])
    }),
    /append-only/,
  )
})
