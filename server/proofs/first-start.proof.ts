/** A first start is whole or repaired: killed at any moment, the next start ends with organization, key and policy. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { startService } from '../src/service/start-service.ts'
import { listOrganizations } from '../src/store/control/organizations.ts'
import { firstRunKey, freePorts, postJson, type ServiceProcess, spawnService } from '../tests/service-process.ts'
import { createEmptyTestStorage, createTestStorage, onPostgres, type TestStorage } from '../tests/test-storage.ts'
import { crashAt } from './faults/crash-point.ts'
import { reportFigures, seededRandom, trials } from './proof-run.ts'

const ANY_PORTS = { CONSOLE_PORT: '0', SANDBOX_PORT: '0', PRODUCTION_PORT: '0' }
const random = seededRandom()

/** Starts on what a killed start left, and checks that the installation is whole: one organization that can decide. */
async function assertRepaired(env: Record<string, string>, dataDirs: readonly string[]): Promise<void> {
  const service = await startService(readConfig({ ...env, ...ANY_PORTS }), { logger: pino({ level: 'silent' }) })
  try {
    const { installation, urls } = service
    const organizations = await listOrganizations(installation.storage.control)
    assert.equal(organizations.length, 1)
    const port = Number(new URL(urls.sandbox!).port)
    const post = (key: string, path: string, body: unknown) =>
      postJson({ port, path }, { key, body, headers: { 'Idempotency-Key': path } })
    const keys = dataDirs.filter((dataDir) => existsSync(join(dataDir, 'first-run.txt'))).map(firstRunKey)
    const entities = await Promise.all(keys.map((key) => post(key, '/v1/entities', { external_id: 'first' })))
    const working = entities.findIndex(({ status }) => status < 300)
    assert.notEqual(working, -1, `no key of first-run.txt works: ${JSON.stringify(entities)}`)
    const { id } = JSON.parse(entities[working]!.text)
    const decision = await post(keys[working]!, '/v1/underwrite', { entity_id: id, product: 'marketplace_access' })
    assert.equal(decision.status, 201, decision.text)

    const { rows } = await entriesOf(installation.storage.environments.sandbox, organizations[0]!.id)
    for (const type of ['organization.created', 'policy.proposed', 'policy.approved', 'policy.activated'])
      assert.equal(rows.filter((row) => row.type === type).length, 1, `${type} is on the log once`)
  } finally {
    await service.close()
  }
}

async function entriesOf(
  database: { query(sql: string, params: unknown[]): Promise<Record<string, unknown>[]> },
  organizationId: string,
) {
  return { rows: await database.query('SELECT type FROM audit_entries WHERE org_id = $1', [organizationId]) }
}

async function kill(service: ServiceProcess): Promise<void> {
  service.child.kill('SIGKILL')
  await service.exited
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function removedAfter(t: TestContext, storage: Promise<TestStorage>): Promise<TestStorage> {
  const created = await storage
  t.after(() => created.remove())
  return created
}

test('a first start that is killed at any moment from its beginning is repaired by the next', async (t) => {
  const whole = await removedAfter(t, createEmptyTestStorage())
  const started = performance.now()
  const service = spawnService(whole.env, await freePorts())
  await service.untilOutput('"msg":"ready"')
  const wholeMs = performance.now() - started
  await kill(service)
  await assertRepaired(whole.env, [whole.dataDir])

  const kills = trials(3)
  for (let trial = 0; trial < kills; trial++) {
    const storage = await createEmptyTestStorage()
    const interrupted = spawnService(storage.env, await freePorts())
    await sleep((wholeMs * (trial + random())) / kills)
    await kill(interrupted)
    await assertRepaired(storage.env, [storage.dataDir])
    await storage.remove()
  }
  reportFigures(t, `${kills} kills spread over ${Math.round(wholeMs)} ms of a first start, all repaired`)
})

test('a first start that is killed at any statement of its organization is repaired by the next', async (t) => {
  let kills = 0
  for (let statement = 0; ; statement++) {
    const storage = await createTestStorage()
    const point = random() < 0.5 ? 'before statement' : 'statement sent'
    const crash = crashAt({ point, marker: 'SELECT first_organization_id', statement })
    const interrupted = spawnService({ ...storage.env, ...crash }, await freePorts())
    const isWhole = await Promise.race([
      interrupted.exited.then(() => false),
      interrupted.untilOutput('"msg":"ready"').then(
        () => true,
        () => false,
      ),
    ])
    await kill(interrupted)
    await assertRepaired(storage.env, [storage.dataDir])
    assert.equal(statSync(join(storage.dataDir, 'first-run.txt')).mode & 0o777, 0o600)
    assert.equal(existsSync(join(storage.dataDir, 'first-run.txt.unfinished')), false)
    await storage.remove()
    if (isWhole) break
    kills++
  }
  assert.ok(kills >= 8, `${kills} statements create an organization, a key and a policy`)
  reportFigures(t, `killed at each of ${kills} statements, all repaired`)
})

test('if one of two nodes is killed during their common first start, the other completes it', {
  skip: !onPostgres && 'needs PostgreSQL',
}, async (t) => {
  const kills = trials(3)
  for (let trial = 0; trial < kills; trial++) {
    const storage = await createEmptyTestStorage()
    const otherDir = mkdtempSync(join(tmpdir(), 'verdigraph-test-'))
    const env = { ...storage.env, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
    const doomed = spawnService(env, await freePorts())
    const other = spawnService({ ...env, DATA_DIR: otherDir }, await freePorts())
    await sleep(500 + random() * 1_500)
    await kill(doomed)
    await other.untilOutput('"msg":"ready"')
    assert.equal(await other.stop(), 0)
    await assertRepaired(env, [storage.dataDir, otherDir])
    rmSync(otherDir, { recursive: true, force: true })
    await storage.remove()
  }
  reportFigures(t, `${kills} kills of one of two nodes, all completed by the other`)
})
