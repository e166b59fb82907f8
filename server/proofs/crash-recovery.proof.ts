/** Acknowledged means durable, and every step of a write is crash-safe. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startPostgres } from '../../scripts/throwaway-postgres.ts'
import { readConfig } from '../src/config.ts'
import { openStorage } from '../src/store/storage.ts'
import { exampleTransaction } from '../tests/example-transaction.ts'
import { firstRunKey, postJson, runCli, type ServiceProcess, startServiceProcess } from '../tests/service-process.ts'
import { createTestStorage, onPostgres, type TestStorage } from '../tests/test-storage.ts'
import { CRASH_POINTS, crashAt } from './faults/crash-point.ts'
import { reportFigures, seededRandom, trials, until } from './proof-run.ts'

const WRITERS = 8
const random = seededRandom()
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A batch of transactions that the service acknowledged, with the entity it belongs to. */
interface Acknowledged {
  externalId: string
  entityId: string
  path: string
  batch: unknown
  answer: string
}

type Post = (path: string, body: unknown, headers?: Record<string, string>) => Promise<{ status: number; text: string }>

function postTo({ ports }: ServiceProcess, storage: TestStorage): Post {
  const key = firstRunKey(storage.dataDir)
  return (path, body, headers = {}) => postJson({ port: ports.sandbox, path }, { key, body, headers })
}

/** Creates entities with transactions until it is stopped; only what was acknowledged is added to the list. */
function write(post: Post, { prefix, acknowledged }: { prefix: string; acknowledged: Acknowledged[] }) {
  let stopped = false
  let count = 0
  const writers = Array.from({ length: WRITERS }, async () => {
    while (!stopped) {
      const externalId = `${prefix}-${count++}`
      try {
        const entity = await post('/v1/entities', { external_id: externalId })
        if (entity.status !== 201) continue
        const entityId = JSON.parse(entity.text).id
        const path = `/v1/entities/${entityId}/transactions`
        const batch = { transactions: ['t1', 't2', 't3'].map((id) => exampleTransaction(id)) }
        const { status, text: answer } = await post(path, batch, { 'Idempotency-Key': externalId })
        if (status === 201) acknowledged.push({ externalId, entityId, path, batch, answer })
      } catch {
        // The connection broke before the answer: the write may be kept or lost, because it was not acknowledged.
        await sleep(20)
      }
    }
  })
  return async () => {
    stopped = true
    await Promise.all(writers)
  }
}

/** Checks that every acknowledged write is kept, and that no entity is half written. */
async function assertNothingLost(
  storage: TestStorage,
  service: ServiceProcess,
  acknowledged: readonly Acknowledged[],
): Promise<void> {
  const post = postTo(service, storage)
  for (const { externalId, entityId, path, batch, answer } of acknowledged) {
    const again = await post('/v1/entities', { external_id: externalId })
    assert.equal(again.status, 200, `${externalId} was acknowledged and is lost`)
    assert.equal(JSON.parse(again.text).id, entityId)
    const retried = await post(path, batch, { 'Idempotency-Key': externalId })
    assert.equal(retried.text, answer, 'a retry repeats the acknowledged answer')
  }
  assert.equal(await service.stop(), 0)

  const opened = await openStorage(readConfig(storage.env))
  const entities = await opened.environments.sandbox.query(
    `SELECT entities.id, entities.version, (SELECT count(*) FROM transactions WHERE transactions.entity_id = entities.id) AS transactions,
       (SELECT count(*) FROM audit_entries WHERE trail_id = entities.id) AS entries
     FROM entities`,
  )
  await opened.close()
  assert.ok(entities.length >= acknowledged.length)
  for (const { id, version, transactions, entries } of entities) {
    assert.ok(
      (version === 1 && transactions === 0 && entries === 1) || (version === 2 && transactions === 3 && entries === 2),
      `${id} is half written`,
    )
  }
  const verified = runCli(storage.env, 'audit', 'verify')
  assert.equal(verified.status, 0, verified.stdout)
}

async function newStorage(t: TestContext): Promise<TestStorage> {
  const storage = await createTestStorage()
  t.after(() => storage.remove())
  return storage
}

test('after kill -9 of the service, every acknowledged write is kept and none is half written', async (t) => {
  const storage = await newStorage(t)
  const kills = trials(3)
  const acknowledged: Acknowledged[] = []
  let service = await startServiceProcess(storage.env)
  for (let kill = 0; kill < kills; kill++) {
    const stop = write(postTo(service, storage), { prefix: `kill-${kill}`, acknowledged })
    const target = acknowledged.length + 20 + Math.floor(random() * 40)
    await until(() => acknowledged.length >= target, 'writes are acknowledged')
    service.child.kill('SIGKILL')
    await service.exited
    await stop()
    service = await startServiceProcess(storage.env)
  }
  await assertNothingLost(storage, service, acknowledged)
  reportFigures(t, `${kills} kills of the service, ${acknowledged.length} acknowledged pairs of writes, 0 lost`)
})

test('after kill -9 of PostgreSQL, and of PostgreSQL with the service, every acknowledged write is kept', {
  skip: !onPostgres && 'needs PostgreSQL',
}, async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  const { dataDir, remove } = await newStorage(t)
  const storage: TestStorage = { dataDir, remove, env: { DATA_DIR: dataDir, DATABASE_URL: postgres.url } }
  const kills = trials(3)
  const acknowledged: Acknowledged[] = []
  let service = await startServiceProcess(storage.env)
  for (let kill = 0; kill < kills; kill++) {
    const stop = write(postTo(service, storage), { prefix: `kill-${kill}`, acknowledged })
    const target = acknowledged.length + 20 + Math.floor(random() * 40)
    await until(() => acknowledged.length >= target, 'writes are acknowledged')
    const withService = kill % 2 === 1
    process.kill(postgres.pid, 'SIGKILL')
    if (withService) service.child.kill('SIGKILL')
    await postgres.restart()
    if (withService) {
      await stop()
      await service.exited
      service = await startServiceProcess(storage.env)
    } else {
      const resumed = acknowledged.length + 5
      await until(() => acknowledged.length >= resumed, 'writes resume without a restart of the service')
      await stop()
    }
  }
  await assertNothingLost(storage, service, acknowledged)
  reportFigures(t, `${kills} kills of PostgreSQL, ${acknowledged.length} acknowledged pairs of writes, 0 lost`)
})

test('a write that is cut off at any step is whole or absent after a restart, and its retry takes effect once', async (t) => {
  const storage = await newStorage(t)
  let service = await startServiceProcess(storage.env)
  const post: Post = (path, body, headers) => postTo(service, storage)(path, body, headers)
  const entity = JSON.parse((await post('/v1/entities', { external_id: 'cut-off' })).text)
  const path = `/v1/entities/${entity.id}/transactions`
  for (const point of CRASH_POINTS) {
    const batch = { transactions: [exampleTransaction(point.replace(' ', '-'))] }
    const send = () => post(path, batch, { 'Idempotency-Key': point.replace(' ', '-') })
    await service.stop()
    service = await startServiceProcess({ ...storage.env, ...crashAt({ point, marker: 'INSERT INTO transactions' }) })
    const first = await send().catch(() => undefined)
    assert.equal(await Promise.race([service.exited, sleep(5_000)]), 'SIGKILL', `the service was killed: ${point}`)
    service = await startServiceProcess(storage.env)
    const retried = await send()
    assert.equal(retried.status, 201, retried.text)
    if (first) assert.equal(retried.text, first.text, 'the retry repeats the answer that the client saw')
    assert.equal((await send()).text, retried.text)
  }
  await service.stop()
  const opened = await openStorage(readConfig(storage.env))
  const [row] = await opened.environments.sandbox.query(
    'SELECT (SELECT count(*) FROM transactions) AS transactions, (SELECT version FROM entities) AS version',
  )
  await opened.close()
  assert.deepEqual(row, { transactions: CRASH_POINTS.length, version: 1 + CRASH_POINTS.length })
  reportFigures(t, `killed at ${CRASH_POINTS.length} points (${CRASH_POINTS.join(', ')}), each write took effect once`)
})
