/** A dump after an erasure, searched for everything that was sent; of PostgreSQL with TEST_DATABASE_URL. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { binFolder } from '../../scripts/throwaway-postgres.ts'
import { eraseRows } from '../src/store/erasure/erase-rows.ts'
import { ENVIRONMENT_RULES, type ErasureRule } from '../src/store/erasure/erasure-rules.ts'
import { startAuditLogScene } from './audit-log-scene.ts'
import { eraseEntirely, PERSONAL_TEXTS, readEverything, type StoredPerson, storePerson } from './erase-entity.ts'
import type { TestOrganization } from './test-service.ts'
import { onPostgres } from './test-storage.ts'

const scene = await startAuditLogScene()
const { api, installation } = scene

/** A logical dump as text. The embedded database has no `pg_dump`: there it is all that statements can read. */
function dump(): string {
  const [url] = installation.config.databaseUrls?.sandbox ?? []
  if (url === undefined) return ''
  const options = { encoding: 'utf8', maxBuffer: 1024 ** 3 } as const
  return execFileSync(join(binFolder(), 'pg_dump'), ['--format=plain', url], options)
}

/** The texts of the person that are anywhere: in the dump, in packed documents, in answers of the API, or in the log of the service. */
async function textsLeft(organization: TestOrganization, { entityId, decisionId }: StoredPerson): Promise<string[]> {
  const answers = await Promise.all(
    [
      `/v1/entities/${entityId}`,
      `/v1/entities/${entityId}/audit-trail`,
      `/v1/decisions/${decisionId}`,
      `/v1/decisions/${decisionId}/replay`,
    ].map((path) => organization.get(path)),
  )
  const everything = [
    ...answers.map(({ text }) => text),
    ...api.logs,
    await readEverything(installation, organization),
    dump(),
  ].join('\n')
  return Object.entries(PERSONAL_TEXTS).flatMap(([name, text]) => (everything.includes(text) ? [name] : []))
}

test('a dump after an erasure, every answer and every document hold no text of the person', async () => {
  const acme = await api.newOrganization()
  const person = await storePerson(scene, acme)
  assert.equal(dump() !== '', onPostgres, 'pg_dump ran on PostgreSQL')
  const before = await textsLeft(acme, person)
  assert.deepEqual(
    Object.keys(PERSONAL_TEXTS).filter((name) => !before.includes(name)),
    ['masked', 'counterparty_of_another'],
    'the search finds everything that is stored; of an identifier only the last digits are, and no name beside an entity',
  )
  await eraseEntirely(scene, acme, person.entityId)
  assert.deepEqual(await textsLeft(acme, person), [])
})

test('the search finds what a table keeps whose rule does nothing', async () => {
  const rules = ENVIRONMENT_RULES as Record<string, ErasureRule>
  for (const [table, found] of [
    ['transactions', ['transaction', 'description', 'counterparty', 'category']],
    ['data_sources', ['source_name', 'source_address', 'source_phone']],
    ['webhook_attempts', ['external_id', 'response']],
  ] as const) {
    const acme = await api.newOrganization()
    const person = await storePerson(scene, acme)
    const rule = rules[table]!
    rules[table] = { keeps: 'A deliberate break.' }
    try {
      await eraseEntirely(scene, acme, person.entityId)
    } finally {
      rules[table] = rule
    }
    assert.deepEqual((await textsLeft(acme, person)).sort(), [...found].sort(), table)
    await eraseBroken(acme, person)
  }
})

/** Deletes what the break left, so that the next dump does not hold it. */
async function eraseBroken(organization: TestOrganization, person: StoredPerson): Promise<void> {
  const { database, store } = scene
  const erasures = await store.erasures.ofEntities(organization.id, [person.entityId])
  await eraseRows(database, erasures.get(person.entityId)!)
  assert.deepEqual(await textsLeft(organization, person), [])
}
