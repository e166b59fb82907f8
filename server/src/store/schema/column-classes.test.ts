/** The classes of text columns, on the embedded database and, with TEST_DATABASE_URL, on PostgreSQL. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createTestStorage } from '../../../tests/test-storage.ts'
import { readConfig } from '../../config.ts'
import type { Database } from '../database/database.ts'
import { openStorage } from '../storage.ts'
import { controlColumns, environmentColumns, PERSONAL_CLASSES } from './column-classes.ts'

const testStorage = await createTestStorage()
const storage = await openStorage(readConfig(testStorage.env))
await storage.migrate()
after(async () => {
  await storage.close()
  await testStorage.remove()
})

/** The types that hold no text. A column of any other type has to be classed. */
const UNCLASSED_TYPES = ['bool', 'int2', 'int4', 'int8', '_int8', 'numeric', 'float8', 'date', 'timestamptz']

async function storedColumns(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = $1 AND NOT udt_name = ANY($2::text[])`,
    [database.schema, UNCLASSED_TYPES],
  )
  return rows.map(({ name }) => name).sort()
}

/** `table.column` for each column that is classed; twice for a column that is in two classes. */
function classedColumns(classed: typeof environmentColumns): string[] {
  return Object.entries(classed)
    .flatMap(([table, classes]) =>
      Object.values(classes)
        .flat()
        .map((column) => `${table}.${column}`),
    )
    .sort()
}

for (const [family, database, classed] of [
  ['an environment', storage.environments.sandbox, environmentColumns],
  ['the control database', storage.control, controlColumns],
] as const) {
  test(`every text column of ${family} is classed once as personal or not, and every classed one exists`, async () => {
    const stored = await storedColumns(database)
    const names = classedColumns(classed)
    assert.deepEqual(
      {
        unclassed: stored.filter((name) => !names.includes(name)),
        unknown: names.filter((name) => !stored.includes(name)),
        twice: names.filter((name, index) => names.indexOf(name) !== index),
      },
      { unclassed: [], unknown: [], twice: [] },
    )
  })
}

test('docs/operating.md lists the columns that may hold personal data, by their class', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/operating.md'), 'utf8')
  const start = page.indexOf('## Where can personal data be?')
  const section = page.slice(start, page.indexOf('\n## ', start + 1))
  const documented = section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [table, ...cells] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
      return [table![0], ...cells]
    })
  const personal = Object.entries({ ...environmentColumns, ...controlColumns })
    .map(([table, classes]) => [table, ...PERSONAL_CLASSES.map((name) => [...(classes[name] ?? [])])])
    .filter(([, ...cells]) => cells.flat().length > 0)
  assert.deepEqual(documented, personal)
})
