import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { openStorage } from '../src/store/storage.ts'
import { createTestStorage } from './test-storage.ts'
import { documentedTables, existingTables } from './what-grows.ts'

const place = await createTestStorage()
const storage = await openStorage(readConfig(place.env))
await storage.migrate()
after(async () => {
  await storage.close()
  await place.remove()
})

test('docs/operating.md says of every table how long its rows are kept', async () => {
  assert.deepEqual([...documentedTables().keys()].sort(), [...(await existingTables(storage))].sort())
})
