import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readConfig, SETTINGS, type Setting } from '../src/config.ts'
import { controlColumns, environmentColumns, type PERSONAL_CLASSES } from '../src/store/schema/column-classes.ts'
import { openStorage } from '../src/store/storage.ts'
import { documentedTables, existingTables } from './documented-tables.ts'
import { createTestStorage } from './test-storage.ts'

const place = await createTestStorage()
const storage = await openStorage(readConfig(place.env))
await storage.migrate()
after(async () => {
  await storage.close()
  await place.remove()
})
const documented = documentedTables()

test('docs/operating.md says of every table how long its rows are kept', async () => {
  assert.deepEqual([...documented.keys()].sort(), [...(await existingTables(storage))].sort())
})

test('it names every setting of how long something is kept, with its default, and no other', () => {
  const named = [...documented.values()].flatMap(({ kept }) => [...kept.matchAll(/`(\w+)` \((\d+)\)/g)])
  const isOfRetention = (name: string) => name.endsWith('_KEEP_DAYS')
  const settings = Object.entries<Setting>(SETTINGS).filter(([name]) => isOfRetention(name))
  const defaults = settings.map(([name, setting]) => [name, 'default' in setting && setting.default])
  assert.deepEqual(Object.fromEntries(named.map(([, name, days]) => [name, days])), Object.fromEntries(defaults))
  for (const [name, { kept }] of documented)
    assert.equal([...kept.matchAll(/`/g)].length, 2 * [...kept.matchAll(/`\w+_KEEP_DAYS` \(/g)].length, name)
})

test('it says whose personal data a table may hold, as its columns are classed', () => {
  const words: Record<(typeof PERSONAL_CLASSES)[number], string> = {
    ofEntities: 'entities',
    ofOperators: 'operators',
    words: 'text',
  }
  for (const [table, classes] of Object.entries({ ...environmentColumns, ...controlColumns })) {
    const personal = Object.entries(words).flatMap(([name, word]) => (name in classes ? [word] : []))
    assert.equal(documented.get(table)?.personal, personal.join(', ') || 'no', table)
  }
})

test('it says of every table that only grows that it is kept for good, and that nothing deletes its rows', async () => {
  const database = storage.environments.sandbox
  const guarded = await database.query<{ name: string }>(
    `SELECT DISTINCT event_object_table::text AS name FROM information_schema.triggers
     WHERE trigger_schema = $1 AND trigger_name = 'append_only_rows'`,
    [database.schema],
  )
  assert.ok(guarded.length > 10)
  for (const { name } of guarded) assert.equal(documented.get(name)?.kept, 'for good', name)
  for (const [name, { kept, deletedBy }] of documented)
    if (kept === 'for good') assert.match(deletedBy, /^nothing/, name)
})
