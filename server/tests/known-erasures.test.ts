/** Erasures are known outside the database: a backup from before one does not bring the person back. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { binFolder } from '../../scripts/throwaway-postgres.ts'
import { eraseEntity } from '../src/admin/erase-entity.ts'
import { addOperator } from '../src/admin/manage-operators.ts'
import { readConfig } from '../src/config.ts'
import { type Service, startService } from '../src/service/start-service.ts'
import { WatchedErasures } from '../src/service/watch-erasures.ts'
import { byOperator, byService } from './acts.ts'
import { call, callForJson } from './command-line.ts'
import { firstRunKey } from './service-process.ts'
import { createTestStorage, onPostgres } from './test-storage.ts'
import { until } from './webhook-receiver.ts'

const ANY_PORTS = { CONSOLE_PORT: '0', SANDBOX_PORT: '0', PRODUCTION_PORT: '0' }
const storage = await createTestStorage()
const elsewhere = mkdtempSync(join(tmpdir(), 'verdigraph-backup-'))
const restored: string[] = []
let running: Service | undefined
after(async () => {
  await running?.close()
  if (onPostgres) for (const name of restored) await administer(`DROP DATABASE ${name} WITH (FORCE)`)
  await storage.remove()
  rmSync(elsewhere, { recursive: true, force: true })
})

const { dataDir } = storage
const file = join(dataDir, 'erasures-sandbox.jsonl')
const kept = join(elsewhere, 'erasures-sandbox.jsonl')
let logs: string[] = []

async function start(env: Record<string, string> = storage.env): Promise<Service> {
  logs = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void logs.push(line) })
  running = await startService(readConfig({ ...env, ...ANY_PORTS }), { logger })
  return running
}

async function stop(): Promise<void> {
  await running?.close()
  running = undefined
}

async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: storage.env.DATABASE_URL! })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

/** Takes a backup of the database alone, while the service is stopped. */
function backUp(): void {
  if (onPostgres)
    execFileSync(join(binFolder(), 'pg_dump'), ['-Fc', '-f', join(elsewhere, 'dump'), storage.env.DATABASE_URL!])
  else cpSync(join(dataDir, 'database'), join(elsewhere, 'database'), { recursive: true })
}

/** Puts the backup in place; the data folder stays. */
async function restore(): Promise<Record<string, string>> {
  if (!onPostgres) {
    rmSync(join(dataDir, 'database'), { recursive: true })
    cpSync(join(elsewhere, 'database'), join(dataDir, 'database'), { recursive: true })
    return storage.env
  }
  const url = new URL(storage.env.DATABASE_URL!)
  const name = `${url.pathname.slice(1)}_r${restored.length}`
  await administer(`CREATE DATABASE ${name}`)
  restored.push(name)
  url.pathname = `/${name}`
  execFileSync(join(binFolder(), 'pg_restore'), ['-d', url.href, join(elsewhere, 'dump')])
  return { ...storage.env, DATABASE_URL: url.href }
}

// biome-ignore lint/suspicious/noExplicitAny: the test reads bodies of every shape.
async function ask(method: string, path: string, body?: object): Promise<{ status: number; body: any }> {
  const response = await fetch(running!.urls.sandbox! + path, {
    method,
    headers: { Authorization: `Bearer ${firstRunKey(dataDir)}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

await start()
const { installation } = running!
const [{ org_id: organizationId }] = (await installation.storage.environments.sandbox.query<{ org_id: string }>(
  'SELECT org_id FROM api_keys LIMIT 1',
)) as [{ org_id: string }]
const act = async (name: string) =>
  byOperator(
    await addOperator(installation, byService(organizationId), { email: `${name}@example.com`, name, role: 'owner' }),
    { reason: 'Request 17.' },
  )
const [ada, grace] = [await act('ada'), await act('grace')]
const entity: string = (await ask('POST', '/v1/entities', { external_id: 'maria' })).body.id
const other: string = (await ask('POST', '/v1/entities', { external_id: 'other' })).body.id
const isSealed = async (id: string) =>
  (await ask('GET', `/v1/entities/${id}/audit-trail`)).body.data[0].leaf_index !== null
await until('the log is sealed', () => isSealed(other))
await stop()
backUp()

test('an erasure is in the data folder, signed, before a head covers its entry', async () => {
  assert.equal(readFileSync(file, 'utf8'), '', 'made at the first start, so that a missing file was lost')
  const { installation: now } = await start()
  await eraseEntity(now, ada, { entity, move: 'propose' })
  await eraseEntity(now, grace, { entity, move: 'approve' })
  const erasure = async () => (await now.stores.sandbox.erasures.ofEntities(organizationId, [entity])).get(entity)!
  await until('the erasure is sealed', async () => {
    const { is_sealed } = await erasure()
    if (is_sealed) assert.match(readFileSync(file, 'utf8'), new RegExp(entity))
    return is_sealed
  })
  const line = JSON.parse(readFileSync(file, 'utf8').trim())
  assert.deepEqual(Object.keys(line), [
    'organization_id',
    'entity_id',
    'entry_id',
    'proposed_by',
    'approved_at',
    'signature',
  ])
  assert.equal(line.entry_id, (await erasure()).entry_id)
  await stop()
  cpSync(file, kept)
})

test('a start on a backup from before the erasure applies it again before it serves', async () => {
  const { installation: now } = await start(await restore())
  assert.equal((await ask('GET', `/v1/entities/${entity}`)).status, 404)
  assert.equal((await ask('GET', `/v1/entities/${other}`)).status, 200)
  assert.equal(logs.filter((line) => line.includes('erased_again') && line.includes(entity)).length, 1)
  const [entry] = await now.storage.environments.sandbox.query<{ data: string; actor_id: string }>(
    `SELECT data, actor_id FROM audit_entries WHERE trail_id = $1 AND type = 'entity.erased'`,
    [entity],
  )
  const line = JSON.parse(readFileSync(kept, 'utf8').trim())
  assert.deepEqual([entry!.actor_id, JSON.parse(entry!.data).lost_entry_id], ['restore', line.entry_id])
  assert.ok((await now.stores.sandbox.erasures.ofEntities(organizationId, [entity])).has(entity))
  assert.equal(readFileSync(file, 'utf8'), readFileSync(kept, 'utf8'), 'it was known already')
  await stop()
})

test('without the file, a start on the backup is refused until an operator supplies the erasures', async () => {
  const env = await restore()
  rmSync(file)
  const refused = {
    name: 'MissingErasures',
    message: /erasures-sandbox\.jsonl is missing, and the sandbox database may/,
  }
  await assert.rejects(start(env), refused)
  await assert.rejects(start(env), refused, 'again: the first start has changed nothing')
  assert.ok(!existsSync(file))
  const foreign = await call(env, 'audit', 'apply-erasures', '--from', kept, '--environment', 'production')
  assert.equal(foreign.status, 1)
  assert.match(foreign.stderr, /says that ent_\w+ of production was erased, which this installation did not sign/)
  const { supplied, erased_again } = await callForJson(env, 'audit', 'apply-erasures', '--from', kept)
  assert.deepEqual(
    [supplied, erased_again],
    [1, [{ environment: 'sandbox', organization_id: organizationId, entity_id: entity }]],
  )
  await start(env)
  assert.equal((await ask('GET', `/v1/entities/${entity}`)).status, 404)
  await stop()
})

test('a node that runs on a database of another timeline is not ready while it lacks the file', async () => {
  const { installation: now } = await start()
  const watched = new WatchedErasures(now, { environment: 'sandbox', logger: pino({ enabled: false }) })
  await watched.lookOn('1')
  assert.equal(watched.problem, undefined)
  await now.storage.environments.sandbox.query(`UPDATE erasures_compared SET place = 'another server'`)
  rmSync(file)
  await watched.lookOn('2')
  assert.equal(watched.problem, 'erasures_missing')
  cpSync(kept, file)
  await watched.lookOn('2')
  assert.equal(watched.problem, undefined, 'the file is back')
  await stop()
})

test('without the file, an operator can waive the erasures, which the log records', async () => {
  const env = await restore()
  rmSync(file)
  await assert.rejects(start(env), { name: 'MissingErasures' })
  const silent = await call(env, 'audit', 'waive-erasures')
  assert.match(silent.stderr, /^Add --reason/)
  await assert.rejects(start(env), { name: 'MissingErasures' })
  const waived = await callForJson(env, 'audit', 'waive-erasures', '--reason', 'Only the dump survived the fire.')
  assert.deepEqual(waived, [{ environment: 'sandbox', organization_id: organizationId }])
  const again = await call(env, 'audit', 'waive-erasures', '--reason', 'Twice.')
  assert.match(again.stdout, /^No file of erasures is missing/)
  const { installation: now } = await start(env)
  assert.equal((await ask('GET', `/v1/entities/${entity}`)).status, 200)
  const entries = await now.storage.environments.sandbox.query<{ data: string }>(
    `SELECT data FROM audit_entries WHERE type = 'audit_log.erasures_waived'`,
  )
  assert.deepEqual(
    entries.map(({ data }) => JSON.parse(data)),
    [{ reason: 'Only the dump survived the fire.' }],
  )
  await stop()
})

test('every node has the erasures of all: one that joins with an empty folder, and one that runs meanwhile', {
  skip: !onPostgres,
}, async () => {
  const folder = join(elsewhere, 'joining')
  cpSync(join(dataDir, 'master.key'), join(folder, 'master.key'))
  const joined = await start({ ...storage.env, DATA_DIR: folder })
  after(() => joined.close())
  assert.equal((await ask('GET', `/v1/entities/${entity}`)).status, 404)
  const known = () => readFileSync(join(folder, 'erasures-sandbox.jsonl'), 'utf8')
  assert.match(known(), new RegExp(entity))

  const { installation: first } = await start()
  await eraseEntity(first, ada, { entity: other, move: 'propose' })
  await eraseEntity(first, grace, { entity: other, move: 'approve' })
  // The sealer of one of them writes it at once; the other takes it with its next look at the database.
  await until('both nodes know it', async () =>
    [known(), readFileSync(file, 'utf8')].every((text) => text.includes(other)),
  )
  await stop()
})
