import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openPostgres } from './database/postgres-database.ts'
import { openStorage } from './storage.ts'

/** A server that accepts connections and never answers, as PostgreSQL does on a machine that is too busy. */
async function startSilentServer(t: TestContext) {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { url: `postgresql://u@127.0.0.1:${port}/x`, accepted: () => once(server, 'connection') }
}

/** Whether a promise is still pending after some turns of the event loop. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise.then(settle, settle)
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  return !isSettled
}

test('a start waits 30 s for a PostgreSQL that is slow to accept a connection', async (t) => {
  const { url, accepted } = await startSilentServer(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const opening = openStorage({
    databaseUrls: { control: [url], sandbox: [url], production: [url] },
    databaseTimeoutMs: 10_000,
    dataDir: '',
    embeddedFsync: true,
  })
  await accepted()
  t.mock.timers.tick(29_999)
  assert.ok(await isPending(opening))
  t.mock.timers.tick(1)
  await assert.rejects(opening, /the database of DATABASE_URL cannot be reached: .*timeout/)
})

test('after a start, a new connection may take less', async (t) => {
  const { url, accepted } = await startSilentServer(t)
  let connectWithinMs = 30_000
  const database = openPostgres({
    urls: [url],
    schema: 'x',
    statementMs: 10_000,
    connectWithinMs: () => connectWithinMs,
  })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const during = database.query('SELECT 1')
  await accepted()
  connectWithinMs = 5_000
  const afterwards = database.query('SELECT 1')
  await accepted()
  t.mock.timers.tick(5_000)
  await assert.rejects(afterwards, /timeout/)
  assert.ok(await isPending(during))
  t.mock.timers.tick(25_000)
  await assert.rejects(during, /timeout/)
  await database.close()
})
