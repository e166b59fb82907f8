/**
 * The embedded database loses no acknowledged write in a power failure. The service is killed under load, its database folder is
 * rebuilt from what was synced, and the next start is on that. No power is switched off here: `unsynced-disk.ts` is the disk.
 */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { openStorage } from '../src/store/storage.ts'
import { firstRunKey, postJson, runCli, type ServiceProcess, startServiceProcess } from '../tests/service-process.ts'
import { createTestStorage, onPostgres, type TestStorage } from '../tests/test-storage.ts'
import { recordDisk } from './faults/disk-recorder.ts'
import { failSyncsWhile } from './faults/failing-sync.ts'
import { type Dropped, UnsyncedDisk } from './faults/unsynced-disk.ts'
import { reportFigures, seededRandom, trials, until } from './proof-run.ts'

const WRITERS = 8
/** How many earlier writes a trial looks up; the last one looks up all. */
const EARLIER = 10
/** An empty setting counts as unset; that of tests is not the default. */
const DEFAULT_FSYNC = { EMBEDDED_FSYNC: '' }
const random = seededRandom()
const skip = onPostgres && 'the embedded database only'

/** The ids of entities and decisions that were acknowledged. */
type Acknowledged = { entities: string[]; decisions: string[] }

/** A service on a disk that loses what was not synced. */
interface Scene {
  storage: TestStorage
  journal: string
  disk: UnsyncedDisk
  env: Record<string, string>
  /** The last one that was started. */
  service?: ServiceProcess
}

async function newScene(t: TestContext, settings: Record<string, string> = {}): Promise<Scene> {
  const storage = await createTestStorage()
  t.after(() => storage.remove())
  const folder = join(storage.dataDir, 'database')
  const journal = join(storage.dataDir, 'disk-journal')
  const env = { ...storage.env, ...DEFAULT_FSYNC, ...settings, ...recordDisk({ folder, journal }) }
  const scene: Scene = { storage, journal, disk: new UnsyncedDisk(folder), env }
  t.after(() => scene.service?.child.kill('SIGKILL')) // a proof that fails does not end it
  return scene
}

/** Creates entities and decides about them until it is stopped. */
function write({ ports }: ServiceProcess, { key, prefix }: { key: string; prefix: string }) {
  const acknowledged: Acknowledged = { entities: [], decisions: [] }
  let stopped = false
  let count = 0
  const post = async (path: string, body: unknown, headers = {}): Promise<string | undefined> => {
    const { status, text } = await postJson({ port: ports.sandbox, path }, { key, body, headers })
    return status === 201 ? JSON.parse(text).id : undefined
  }
  const writers = Array.from({ length: WRITERS }, async () => {
    while (!stopped) {
      const name = `${prefix}-${count++}`
      try {
        const entityId = await post('/v1/entities', { external_id: name })
        if (entityId === undefined) continue
        acknowledged.entities.push(entityId)
        const request = { entity_id: entityId, product: 'marketplace_access' }
        const decisionId = await post('/v1/underwrite', request, { 'Idempotency-Key': name })
        if (decisionId !== undefined) acknowledged.decisions.push(decisionId)
      } catch {
        stopped = true // the service was killed
      }
    }
  })
  return { acknowledged, ended: () => Promise.all(writers) }
}

/** Starts the service, kills it at a random moment under load, and loses what was not synced. */
async function killUnderLoad(
  scene: Scene,
  { prefix, known, keepsSome }: { prefix: string; known: Acknowledged; keepsSome: boolean },
): Promise<{ acknowledged: Acknowledged; dropped: Dropped }> {
  const { storage, journal, disk, env } = scene
  const service = await startServiceProcess(env)
  scene.service = service
  const key = firstRunKey(storage.dataDir)
  await assertFound(service, key, known)
  const { acknowledged, ended } = write(service, { key, prefix })
  const target = 5 + Math.floor(random() * 40)
  await until(() => acknowledged.entities.length + acknowledged.decisions.length >= target, 'writes are acknowledged')
  await new Promise((resolve) => setTimeout(resolve, random() * 30))
  service.child.kill('SIGKILL')
  await service.exited
  await ended()
  disk.follow(journal)
  rmSync(journal)
  return { acknowledged, dropped: disk.failPower(keepsSome ? random : undefined) }
}

async function assertFound({ ports }: ServiceProcess, key: string, { entities, decisions }: Acknowledged) {
  const find = async (path: string) => {
    const url = `http://127.0.0.1:${ports.sandbox}/v1/${path}`
    const { status } = await fetch(url, { headers: { Authorization: `Bearer ${key}` } })
    assert.equal(status, 200, `${path} was acknowledged and is lost`)
  }
  await Promise.all([
    ...entities.map((id) => find(`entities/${id}`)),
    ...decisions.map((id) => find(`decisions/${id}`)),
  ])
}

/** Of all acknowledged writes, those that the database does not have. */
async function lostOf({ storage }: Scene, { entities, decisions }: Acknowledged): Promise<string[]> {
  const opened = await openStorage(readConfig(storage.env))
  const rows = await opened.environments.sandbox.query<{ id: string }>(
    'SELECT id FROM entities UNION ALL SELECT id FROM decisions',
  )
  await opened.close()
  const there = new Set(rows.map(({ id }) => id))
  return [...entities, ...decisions].filter((id) => !there.has(id))
}

function sample(ids: readonly string[]): string[] {
  return Array.from({ length: Math.min(EARLIER, ids.length) }, () => ids[Math.floor(random() * ids.length)]!)
}

test('no power failure under load loses an acknowledged write of the embedded database', { skip }, async (t) => {
  const scene = await newScene(t)
  const all: Acknowledged = { entities: [], decisions: [] }
  const dropped: Dropped = { writes: 0, names: 0 }
  const failures = trials(100)
  let last = all
  for (let failure = 0; failure < failures; failure++) {
    const known = {
      entities: [...last.entities, ...sample(all.entities)],
      decisions: [...last.decisions, ...sample(all.decisions)],
    }
    const found = await killUnderLoad(scene, { prefix: `failure-${failure}`, known, keepsSome: failure % 2 === 1 })
    last = found.acknowledged
    all.entities.push(...last.entities)
    all.decisions.push(...last.decisions)
    dropped.writes += found.dropped.writes
    dropped.names += found.dropped.names
  }
  assert.deepEqual(await lostOf(scene, all), [])
  const verified = runCli(scene.storage.env, 'audit', 'verify')
  assert.equal(verified.status, 0, verified.stdout)
  reportFigures(
    t,
    `${failures} power failures, ${all.entities.length + all.decisions.length} acknowledged writes, 0 lost; ${dropped.writes} unsynced writes and ${dropped.names} unsynced changes of names dropped`,
  )
})

test('without fsync, the same power failure loses acknowledged writes', { skip }, async (t) => {
  const scene = await newScene(t, { EMBEDDED_FSYNC: 'false' })
  const known = { entities: [], decisions: [] }
  const { acknowledged } = await killUnderLoad(scene, { prefix: 'unsynced', known, keepsSome: false })
  assert.notDeepEqual(await lostOf(scene, acknowledged), [])
})

test('a write whose fsync fails is not acknowledged, and the service ends, to be started again', {
  skip,
}, async (t) => {
  const storage = await createTestStorage()
  t.after(() => storage.remove())
  const failing = join(storage.dataDir, 'failing')
  const first = await startServiceProcess({ ...storage.env, ...DEFAULT_FSYNC, ...failSyncsWhile(failing) })
  const key = firstRunKey(storage.dataDir)
  const create = ({ ports }: ServiceProcess, externalId: string) =>
    postJson({ port: ports.sandbox, path: '/v1/entities' }, { key, body: { external_id: externalId } })
  assert.equal((await create(first, 'before')).status, 201)
  writeFileSync(failing, '')
  const refused = await create(first, 'during').catch(() => undefined)
  assert.ok(refused === undefined || refused.status === 503, refused?.text)
  assert.equal(await first.exited, 1)
  assert.match(first.output(), /the embedded database has stopped/)
  const second = await startServiceProcess(storage.env)
  assert.equal((await create(second, 'before')).status, 200)
  assert.equal((await create(second, 'after')).status, 201)
  assert.equal(await second.stop(), 0)
})
