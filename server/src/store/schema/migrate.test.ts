/** Migrations, on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createEmptyTestStorage, createTestStorage } from '../../../tests/test-storage.ts'
import { readConfig } from '../../config.ts'
import { openStorage } from '../storage.ts'

const testStorage = await createTestStorage()
const storage = await openStorage(readConfig(testStorage.env))
await storage.migrate()
after(async () => {
  await storage.close()
  await testStorage.remove()
})

test('migrations that several nodes run at once are applied once', async () => {
  const empty = await createEmptyTestStorage()
  try {
    const config = readConfig(empty.env)
    // Only PostgreSQL can be opened twice; on the embedded database, all four runs share one handle.
    const first = await openStorage(config)
    const second = storage.embedded ? first : await openStorage(config)
    assert.deepEqual(
      await first.control.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'verdigraph%'"),
      [],
      'there is no schema yet',
    )
    const applied = (await Promise.all([first.migrate(), second.migrate(), first.migrate(), second.migrate()])).flat()
    assert.ok(applied.length > 0)
    assert.equal(new Set(applied).size, applied.length, 'each step is applied once')
    assert.deepEqual(await second.migrate(), [], 'no step is left')
    if (second !== first) await second.close()
    await first.close()
  } finally {
    await empty.remove()
  }
})

test('a database with an unknown or an edited migration is refused', async () => {
  await storage.control.query(
    "INSERT INTO schema_migrations (number, name, sha256) VALUES (999, 'control/999-future', 'x')",
  )
  await assert.rejects(storage.migrate(), /999-future, which this release does not know/)
  await storage.control.query('DELETE FROM schema_migrations WHERE number = 999')
  const [row] = await storage.control.query(
    "UPDATE schema_migrations SET sha256 = 'edited' WHERE number = 1 RETURNING name",
  )
  await assert.rejects(storage.migrate(), new RegExp(`${row!.name} differs`))
})

test('nothing is migrated if one of the three schemas is refused', async () => {
  const { control, environments } = storage
  await control.query('DELETE FROM schema_migrations') // now all are pending, and fail if they are applied
  await environments.production.query(
    "INSERT INTO schema_migrations (number, name, sha256) VALUES (999, 'environment/999-future', 'x')",
  )
  await assert.rejects(storage.migrate(), /999-future, which this release does not know/)
})
