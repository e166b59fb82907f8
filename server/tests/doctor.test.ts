import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Check, checkMachine, doctor } from '../src/cli/doctor.ts'
import { readConfig } from '../src/config.ts'
import { startTestService } from './test-service.ts'

const api = await startTestService()
const { installation } = api.service
const { sandbox } = installation.storage.environments

async function checkNumbers(): Promise<Check> {
  const checks: Check[] = await doctor.run(installation, { positionals: [], options: {} } as never)
  return checks.find(({ name }) => name === 'statement numbers sandbox')!
}

test('doctor says if the numbers of statements are behind what is stored, and its advice mends it', async () => {
  const acme = await api.newOrganization()
  for (const name of ['a', 'b', 'c']) await acme.post('/v1/entities', { external_id: name })
  assert.equal((await checkNumbers()).ok, true)
  await sandbox.query("SELECT setval('flush_numbers', 1)")
  const { ok, detail } = await checkNumbers()
  assert.equal(ok, false)
  assert.match(
    detail,
    /^the sequence flush_numbers is at \d+, but statement \d+ is stored: stop the service and run SELECT/,
  )
  await sandbox.query(detail.slice(detail.indexOf('SELECT')))
  assert.equal((await checkNumbers()).ok, true)
})

test('a node on PostgreSQL that is given its master key needs no data folder before its first start', () => {
  const folderOf = (settings: Record<string, string>) => {
    const config = readConfig({ DATA_DIR: join(tmpdir(), 'verdigraph-nowhere'), ...settings })
    return checkMachine(config).find(({ name }) => name === 'data folder')?.ok
  }
  const server = { DATABASE_URL: 'postgres://user@host/database' }
  assert.equal(folderOf({}), false)
  assert.equal(folderOf(server), false, 'a new master key would not fit the database')
  assert.equal(folderOf({ ...server, MASTER_KEY: 'x'.repeat(44) }), true)
})
