/** Every way in which SQL alone could forge a row that grants power, tried on each table and each of its columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../src/admin/problem.ts'
import type { Database, Row } from '../src/store/database/database.ts'
import type { ControlPowerTable } from '../src/store/power/control-database.ts'
import { POWER_TABLES, type PowerTable } from '../src/store/power/power-tables.ts'
import { startTestService } from '../tests/test-service.ts'
import { POWER_SCENES } from './alterations/power-alterations.ts'
import { reportFigures } from './proof-run.ts'

let clockAheadMs = 0
const api = await startTestService({ nowMs: () => Date.now() + clockAheadMs })
const { installation } = api.service
const { control, environments } = installation.storage
const tables = Object.keys(POWER_TABLES) as PowerTable[]
let alterations = 0

const databaseOf = (table: PowerTable): Database => (table === 'api_keys' ? environments.sandbox : control)

/** Whether the service uses the row with this MAC. */
async function isUsed(table: PowerTable, mac: unknown): Promise<boolean> {
  clockAheadMs += 1_000 // past what the node has cached
  if (table === 'api_keys') {
    const [row] = await environments.sandbox.query('SELECT key_hash FROM api_keys WHERE mac = $1', [mac])
    return (await installation.stores.sandbox.apiKeys.byHash(String(row!.key_hash))) !== undefined
  }
  const read = () => control.query(`SELECT * FROM ${table} WHERE mac = $1`, [mac])
  assert.equal((await read()).length, 1)
  return (await control.genuine(table as ControlPowerTable, read)).length === 1
}

async function replace(table: PowerTable, { mac }: Row, row: Row): Promise<void> {
  const columns = Object.keys(row)
  await databaseOf(table).query(`DELETE FROM ${table} WHERE mac = $1`, [mac])
  await databaseOf(table).query(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  )
}

/** Another value for a column. */
function altered(column: string, value: unknown): unknown {
  if (column === 'role') return value === 'owner' ? 'viewer' : 'owner'
  if (/_(at|since)$/.test(column))
    return new Date(value === null ? Date.now() : Date.parse(String(value)) + 1_000).toISOString()
  return `${value ?? ''}x`
}

for (const table of tables) {
  test(`${table}: a row is refused with any covered column altered, and with another entry`, async () => {
    const { id } = await api.newOrganization()
    const { where, key } = await POWER_SCENES[table](installation, id)
    const [row] = await databaseOf(table).query(`SELECT * FROM ${table} WHERE ${where}`, [key])
    assert.equal(await isUsed(table, row!.mac), true)
    for (const column of [...POWER_TABLES[table].columns, 'entry_id']) {
      await replace(table, row!, { ...row, [column]: altered(column, row![column]) })
      assert.equal(await isUsed(table, row!.mac), false, column)
      await replace(table, row!, row!)
      assert.equal(await isUsed(table, row!.mac), true, `${column} put right`)
      alterations += 1
    }
  })

  test(`${table}: an earlier version is refused when it is put back`, async () => {
    const { id } = await api.newOrganization()
    const { where, key, next } = await POWER_SCENES[table](installation, id)
    const earlier = await databaseOf(table).query(`SELECT * FROM ${table} WHERE ${where}`, [key])
    await next()
    await databaseOf(table).query(`DELETE FROM ${table} WHERE ${where}`, [key])
    for (const row of earlier) {
      await replace(table, row, row)
      assert.equal(await isUsed(table, row.mac), false)
      alterations += 1
    }
  })
}

/** The tables of which an act needs the row itself: while it is out of sight, the act is refused, and its person told. */
const NEEDS_ITS_ROW = new Set<PowerTable>(['api_keys', 'operators', 'accounts', 'recovery_codes'])

for (const table of tables) {
  const needsRow = NEEDS_ITS_ROW.has(table)
  const words = needsRow ? 'is not ended unnoticed while it is out of sight' : 'that is out of sight ends all the same'
  test(`${table}: a row ${words}`, async () => {
    const { id } = await api.newOrganization()
    const { where, key, next, endAll } = await POWER_SCENES[table](installation, id)
    const hidden = await databaseOf(table).query(`DELETE FROM ${table} WHERE ${where} RETURNING *`, [key])
    assert.ok(hidden.length > 0)
    const isRefused = await failsWithProblem(endAll ?? next)
    assert.equal(isRefused, needsRow)
    await databaseOf(table).query(`DELETE FROM ${table} WHERE ${where}`, [key])
    for (const row of hidden) {
      await replace(table, row, row)
      assert.equal(await isUsed(table, row.mac), isRefused)
      if (!isRefused) alterations += 1
    }
  })
}

async function failsWithProblem(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act()
    return false
  } catch (error) {
    if (error instanceof Problem) return true
    throw error
  }
}

test('every alteration was refused', (context) => {
  reportFigures(context, `${alterations} alterations of rows of ${tables.length} tables that grant power refused`)
  assert.ok(alterations >= 80, String(alterations))
})
