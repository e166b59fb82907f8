/** Several servers in `DATABASE_URL`: the service works on the primary alone, and follows it to another server. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { startPostgres, type ThrowawayPostgres } from '../../scripts/throwaway-postgres.ts'
import type { Check } from '../src/cli/doctor.ts'
import { DatabaseUnavailable } from '../src/store/database/database.ts'
import { findPrimary } from '../src/store/database/find-primary.ts'
import { openPostgres } from '../src/store/database/postgres-database.ts'
import { firstRunKey, postJson, runCli, type ServiceProcess, startServiceProcess } from '../tests/service-process.ts'
import { onPostgres } from '../tests/test-storage.ts'
import { reportFigures, until } from './proof-run.ts'

const skip = !onPostgres && 'needs PostgreSQL'
const WITHIN = { withinMs: 10_000 }

/** A primary and its standby. */
async function startPair() {
  const first = await startPostgres({ fsync: false })
  const second = await first.startStandby()
  return {
    first,
    second,
    async stop() {
      await second.stop()
      await first.stop()
    },
  }
}

async function on({ url }: ThrowawayPostgres, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const promote = (standby: ThrowawayPostgres) => on(standby, 'SELECT pg_promote()')

/** The value of `DATABASE_URL` that names all of the servers. */
function allOf(...servers: ThrowawayPostgres[]): string {
  const hosts = servers.map(({ url }) => new URL(url).host)
  return `postgresql://postgres@${hosts.join(',')}/postgres`
}

/** The first server then answers as a demoted one does on connections that outlived the demotion. */
async function replace(first: ThrowawayPostgres, second: ThrowawayPostgres): Promise<void> {
  await promote(second)
  await on(first, 'ALTER SYSTEM SET default_transaction_read_only = on')
  await on(first, 'SELECT pg_reload_conf()')
}

const ASYNCHRONOUS =
  'an answer waits for the disk of the primary alone, so a failover loses what the standby that takes over has not received: set synchronous_standby_names, or in Patroni synchronous_mode and synchronous_mode_strict'

/** What the metric says about the commits of the sandbox; undefined before the first check of the database. */
async function commitsMetric({ ports }: ServiceProcess): Promise<string | undefined> {
  const metrics = await (await fetch(`http://127.0.0.1:${ports.console}/metrics`)).text()
  return /commits_synchronous\{database="sandbox"\} (\S+)/.exec(metrics)?.[1]
}

/** What `doctor` says about them. */
function commitsByDoctor(env: Record<string, string>): Omit<Check, 'name'> {
  const checks: Check[] = JSON.parse(runCli(env, 'doctor', '--json').stdout)
  const { ok, detail } = checks.find(({ name }) => name === 'commits sandbox')!
  return { ok, detail }
}

const open = (urls: readonly string[]) =>
  openPostgres({ urls, schema: 'public', statementMs: 10_000, connectWithinMs: () => 10_000 })

test('a standby is refused, although it would answer reads', { skip }, async (t) => {
  const { second, stop } = await startPair()
  t.after(stop)
  const database = open([second.url])
  t.after(() => database.close())
  await assert.rejects(database.query('SELECT 1'), (error: unknown) => {
    return error instanceof DatabaseUnavailable && error.code === '25006' && /standby/.test(error.message)
  })
})

test('of a primary that was replaced and the one that replaced it, the later is used', { skip }, async (t) => {
  const { first, second, stop } = await startPair()
  t.after(stop)
  const urls = [first.url, second.url]
  assert.deepEqual(await findPrimary(urls, WITHIN), { url: first.url, timeline: '00000001' })
  // Both accept writes now, as if the first were cut off from its cluster.
  await promote(second)
  assert.deepEqual(await findPrimary(urls, WITHIN), { url: second.url, timeline: '00000002' })
  assert.deepEqual(await findPrimary(urls.toReversed(), WITHIN), { url: second.url, timeline: '00000002' })
  await assert.rejects(
    findPrimary([first.url], { ...WITHIN, since: '00000002' }),
    /its timeline 00000001 ended before 00000002 began/,
  )
})

test('a standby that is promoted during a search is found, while another server stays silent', { skip }, async (t) => {
  const { first, second, stop } = await startPair()
  t.after(stop)
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const connected = new Promise((resolve) => silent.once('connection', resolve))
  const finding = findPrimary([second.url, `postgresql://postgres@127.0.0.1:${port}/postgres`], WITHIN)
  await connected
  // By then the standby has most likely been asked, and has said that it is read-only.
  await on(second, 'SELECT')
  process.kill(first.pid, 'SIGKILL')
  await promote(second)
  assert.deepEqual(await finding, { url: second.url, timeline: '00000002' })
})

test('a server that becomes read-only is left at once, with all connections to it', { skip }, async (t) => {
  const { first, second, stop } = await startPair()
  t.after(stop)
  await on(first, 'CREATE TABLE written (n integer)')
  const database = open([first.url, second.url])
  t.after(() => database.close())
  const port = async () => (await database.query<{ port: number }>('SELECT inet_server_port() AS port'))[0]!.port
  await Promise.all(Array.from({ length: 8 }, () => database.query('INSERT INTO written VALUES (1)')))
  assert.equal(await port(), Number(new URL(first.url).port))
  await until(
    async () => (await on(second, "SELECT FROM pg_tables WHERE tablename = 'written'")).length > 0,
    'it is copied',
  )
  await replace(first, second)
  await until(async () => {
    const error = await database.query('INSERT INTO written VALUES (2)').then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (error) assert.ok(error instanceof DatabaseUnavailable, String(error))
    return error !== undefined
  }, 'the first server refuses a write')
  for (let n = 0; n < 20; n++) assert.equal(await port(), Number(new URL(second.url).port))
  await database.query('INSERT INTO written VALUES (3)')
  assert.deepEqual(await on(second, 'SELECT n FROM written WHERE n > 1'), [{ n: 3 }])
})

test('a primary that still accepts connections, but lost its standby to a failover, is left for the one that took over', {
  skip,
}, async (t) => {
  const { first, second, stop } = await startPair()
  t.after(stop)
  await on(first, 'CREATE TABLE written (n integer)')
  await on(first, "ALTER SYSTEM SET synchronous_standby_names = '*'")
  await on(first, 'SELECT pg_reload_conf()')
  const database = openPostgres({
    urls: [first.url, second.url],
    schema: 'public',
    statementMs: 1_000,
    connectWithinMs: () => 1_000,
  })
  t.after(() => database.close())
  const write = (n: number) =>
    database
      .query<{ port: number }>('INSERT INTO written VALUES ($1) RETURNING inet_server_port() AS port', [n])
      .then(([row]) => row!.port)
  assert.equal(await write(1), Number(new URL(first.url).port))
  // The standby is cut off from its primary, and nothing else.
  await on(second, "ALTER SYSTEM SET primary_conninfo = ''")
  await on(second, 'SELECT pg_reload_conf()')
  await until(async () => (await on(second, 'SELECT FROM pg_stat_wal_receiver')).length === 0, 'it receives nothing')
  const waiting = async () => (await on(first, "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).length
  await assert.rejects(write(2), DatabaseUnavailable)
  await assert.rejects(write(3), /no standby has confirmed/)
  const left = await waiting()
  for (let n = 0; n < 3; n++) await assert.rejects(write(3), /no standby has confirmed/)
  assert.equal(await waiting(), left, 'as long as no other took over, no more processes wait')
  await promote(second)
  const began = performance.now()
  // Several at once: a connection to the old primary that is opened while it is left must not keep the others waiting.
  const attempt = () =>
    write(4).catch((error: unknown) => assert.ok(error instanceof DatabaseUnavailable, String(error)))
  await until(async () => {
    const ports = await Promise.all(Array.from({ length: 5 }, attempt))
    return ports.every((port) => port === Number(new URL(second.url).port))
  }, 'writes succeed on the other server')
  const leftMs = Math.round(performance.now() - began)
  assert.deepEqual(await on(second, 'SELECT DISTINCT n FROM written ORDER BY n'), [{ n: 1 }, { n: 4 }])
  reportFigures(t, `old primary without its standby: left ${leftMs} ms after the promotion`)
})

test('what has to be durable is read again if another server took over before it was confirmed', {
  skip,
}, async (t) => {
  const { first, second, stop } = await startPair()
  t.after(stop)
  const database = open([first.url, second.url])
  t.after(() => database.close())
  const port = async () => (await database.query<{ port: number }>('SELECT inet_server_port() AS port'))[0]!.port
  assert.equal(await port(), Number(new URL(first.url).port))
  const read: number[] = []
  const found = await database.durably(async () => {
    const answered = await port()
    if (read.push(answered) > 1) return answered
    await replace(first, second)
    // The first server refuses a write once it is read-only, and is left.
    await until(async () => {
      await database.query('CREATE TABLE IF NOT EXISTS written ()').catch(() => {})
      return (await port()) !== answered
    }, 'another server is used')
    return answered
  })
  assert.deepEqual([found, read.length], [Number(new URL(second.url).port), 2])
})

test('when the primary is killed and its standby promoted, the service goes on without a restart', {
  skip,
}, async (t) => {
  const { first, second, stop } = await startPair()
  t.after(stop)
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-primary-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  // The standby comes first, so that the order does not matter.
  const env = { DATA_DIR: dataDir, DATABASE_URL: allOf(second, first), DATABASE_TIMEOUT_SECONDS: '2' }
  const service = await startServiceProcess(env)
  t.after(() => service.stop())
  const key = firstRunKey(dataDir)
  await until(async () => (await commitsMetric(service)) === '0', 'the metric says that commits are not synchronous')
  assert.deepEqual(commitsByDoctor(env), { ok: false, detail: ASYNCHRONOUS })
  await on(first, "ALTER SYSTEM SET synchronous_standby_names = '*'")
  await on(first, 'SELECT pg_reload_conf()')
  await until(async () => (await commitsMetric(service)) === '1', 'the metric says that they are')
  assert.deepEqual(commitsByDoctor(env), {
    ok: true,
    detail: 'an answer waits until synchronous standbys have the write: *',
  })
  const create = (external_id: string) =>
    postJson({ port: service.ports.sandbox, path: '/v1/entities' }, { key, body: { external_id } })
  assert.equal((await create('before')).status, 201)
  process.kill(first.pid, 'SIGKILL')
  const statuses = new Set<number>()
  const began = performance.now()
  await promote(second)
  await until(async () => {
    const { status } = await create('after')
    statuses.add(status)
    return status === 201
  }, 'writes resume')
  const resumedMs = Math.round(performance.now() - began)
  assert.deepEqual(
    [...statuses].filter((status) => status !== 201 && status !== 503),
    [],
  )
  assert.equal((await create('before')).status, 200, 'what was acknowledged before is there')
  reportFigures(t, `primary killed, standby promoted: writes resumed after ${resumedMs} ms`)
})
