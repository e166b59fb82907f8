/** PostgreSQL frozen, half-open, cut off, killed and out of space: the service says so, and heals without a restart. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../../scripts/throwaway-postgres.ts'
import { firstRunKey, postJson, type ServiceProcess, startServiceProcess } from '../tests/service-process.ts'
import { onPostgres } from '../tests/test-storage.ts'
import { CutOffProxy } from './faults/cut-off-proxy.ts'
import { signalTree } from './faults/signal-tree.ts'
import { reportFigures, trials } from './proof-run.ts'

const skip = !onPostgres && 'needs PostgreSQL'
/** `/readyz` gives up after two seconds; the rest is for a machine under load. */
const TELLS_WITHIN_MS = 10_000
const HEALS_WITHIN_MS = 30_000
const SHORT_TIMEOUT = { DATABASE_TIMEOUT_SECONDS: '2' }

/** A service on a PostgreSQL of its own, behind a proxy. */
async function startBehindProxy({ parent, slowForMs = 0 }: { parent?: string; slowForMs?: number } = {}) {
  const postgres = await startPostgres(parent === undefined ? {} : { parent })
  const proxy = new CutOffProxy({ host: '127.0.0.1', port: Number(new URL(postgres.url).port) })
  const dataDir = mkdtempSync(join(tmpdir(), 'verdigraph-faults-'))
  const url = new URL(postgres.url)
  url.port = String(await proxy.listen())
  if (slowForMs > 0) {
    proxy.freeze()
    setTimeout(() => proxy.pass(), slowForMs)
  }
  const release = async () => {
    await proxy.close()
    await postgres.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  const env = { DATA_DIR: dataDir, DATABASE_URL: url.href, ...SHORT_TIMEOUT }
  const service = await startServiceProcess(env).catch(async (error) => {
    await release()
    throw error
  })
  return {
    postgres,
    proxy,
    service,
    key: firstRunKey(dataDir),
    async stop() {
      await service.stop()
      await release()
    },
  }
}

async function readiness({ ports }: ServiceProcess): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${ports.console}/readyz`)
  const { status } = (await response.json()) as { status: string }
  assert.equal(response.status, status === 'ready' ? 200 : 503)
  return status
}

/** Asks `/readyz` until it gives one of the answers; returns how long that took. */
async function untilReadiness(service: ServiceProcess, isWanted: (status: string) => boolean, withinMs: number) {
  const began = performance.now()
  for (let status = ''; ; await sleep(50)) {
    status = await readiness(service)
    const ms = performance.now() - began
    if (isWanted(status)) return Math.round(ms)
    assert.ok(ms < withinMs, `/readyz still says ${status} after ${Math.round(ms)} ms`)
  }
}

/** Writes entities without a pause, and remembers which were acknowledged. */
function startWriter(service: ServiceProcess, key: string) {
  const acknowledged: string[] = []
  const statuses = new Map<number, number>()
  let isStopped = false
  let number = 0
  const post = (externalId: string) =>
    postJson({ port: service.ports.sandbox, path: '/v1/entities' }, { key, body: { external_id: externalId } })
  const write = async () => {
    while (!isStopped) {
      const externalId = `written-${number++}`
      const { status } = await post(externalId)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 201) acknowledged.push(externalId)
      else await sleep(50)
    }
  }
  const writing = Promise.all([write(), write(), write(), write()])
  return {
    acknowledged,
    statuses,
    /** Resolves when a write is acknowledged that was sent from now on. */
    async untilResumed(): Promise<number> {
      const began = performance.now()
      for (const before = acknowledged.length + 4; acknowledged.length < before; await sleep(20))
        assert.ok(performance.now() - began < HEALS_WITHIN_MS, 'writes did not resume')
      return Math.round(performance.now() - began)
    },
    /** Stops, and returns how many acknowledged writes are missing. */
    async countLost(): Promise<number> {
      isStopped = true
      await writing
      let lost = 0
      for (const externalId of acknowledged) if ((await post(externalId)).status !== 200) lost++
      return lost
    },
  }
}

test('while PostgreSQL is frozen, half-open, cut off or dead, /readyz says so, and writes resume without a restart', {
  skip,
}, async (t) => {
  const { postgres, proxy, service, key, stop } = await startBehindProxy()
  after(stop)
  const writer = startWriter(service, key)
  const signal = (name: NodeJS.Signals) => signalTree(postgres.pid, name)
  const faults: Record<string, { begin: () => void; end: () => unknown }> = {
    'half-open connections': { begin: () => proxy.abandon(), end: () => {} },
    'a network that forwards nothing': { begin: () => proxy.freeze(), end: () => proxy.pass() },
    'refused connections': { begin: () => proxy.refuse(), end: () => proxy.pass() },
    'a frozen server': { begin: () => signal('SIGSTOP'), end: () => signal('SIGCONT') },
    'a killed server': {
      begin: () => process.kill(postgres.pid, 'SIGKILL'),
      end: () => postgres.restart(),
    },
  }
  let outages = 0
  for (let round = 0; round < trials(1); round++) {
    for (const [name, { begin, end }] of Object.entries(faults)) {
      await writer.untilResumed()
      outages++
      begin()
      const toldMs = await untilReadiness(service, (status) => status !== 'ready', TELLS_WITHIN_MS)
      await end()
      const healedMs = await untilReadiness(service, (status) => status === 'ready', HEALS_WITHIN_MS)
      const resumedMs = await writer.untilResumed()
      reportFigures(
        t,
        `${name}: told after ${toldMs} ms, ready ${healedMs} ms and writing ${resumedMs} ms after its end`,
      )
    }
  }
  const lost = await writer.countLost()
  assert.equal(lost, 0)
  assert.ok(!writer.statuses.has(500), 'no fault of the database is an internal error')
  const reports = service.output().match(/cannot serve requests/g)?.length ?? 0
  const databases = 3
  assert.ok(reports >= 1 && reports <= 2 * databases * outages, `${reports} reports of ${outages} outages`)
  assert.equal(service.child.exitCode, null)
  const sealed = await untilSealed(service, key)
  reportFigures(
    t,
    `${outages} outages, ${writer.acknowledged.length} acknowledged writes, ${lost} lost, ${reports} log lines, sealing again after ${sealed} ms`,
  )
})

test('a start waits for a PostgreSQL that takes longer for a connection than a request would wait', {
  skip,
}, async (t) => {
  const slowForMs = 8_000
  const { service, stop } = await startBehindProxy({ slowForMs })
  after(stop)
  assert.equal(await readiness(service), 'ready')
  reportFigures(t, `started although PostgreSQL gave no answer for ${slowForMs} ms`)
})

/** Waits until a new audit entry is sealed: the background jobs have recovered, too. */
async function untilSealed({ ports }: ServiceProcess, key: string): Promise<number> {
  const began = performance.now()
  const created = await postJson(
    { port: ports.sandbox, path: '/v1/entities' },
    { key, body: { external_id: 'sealed-afterwards' } },
  )
  const { id } = JSON.parse(created.text)
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${ports.sandbox}/v1/entities/${id}/audit-trail`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    const text = await response.text()
    if (/"leaf_index":\d/.test(text)) return Math.round(performance.now() - began)
    assert.ok(performance.now() - began < HEALS_WITHIN_MS, text)
    await sleep(100)
  }
}

/** Mounts a small file system in memory; undefined where that is not allowed. */
function mountSmallDisk(megabytes: number): { folder: string; fill(): void; free(): void } | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
  after(() => {
    execFileSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  const filler = join(folder, 'filler')
  return {
    folder,
    fill() {
      const { bavail, bsize } = statfsSync(folder)
      try {
        writeFileSync(filler, Buffer.alloc(bavail * bsize))
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC') // PostgreSQL took some of the space meanwhile
      }
    },
    free: () => rmSync(filler),
  }
}

test('on a full disk of PostgreSQL /readyz says no, and writes resume once there is space', { skip }, async (t) => {
  const disk = mountSmallDisk(200)
  if (!disk) return t.skip('this user may not mount a tmpfs')
  const { service, key, stop } = await startBehindProxy({ parent: disk.folder })
  after(stop)
  await proveFullDisk(t, { disk, service, key })
})

test('on a full disk of the embedded database /readyz says no, and writes resume once there is space', {
  skip: onPostgres && 'is about the embedded database',
}, async (t) => {
  const disk = mountSmallDisk(200)
  if (!disk) return t.skip('this user may not mount a tmpfs')
  const dataDir = join(disk.folder, 'data')
  const service = await startServiceProcess({ DATA_DIR: dataDir })
  after(() => service.stop())
  await proveFullDisk(t, { disk, service, key: firstRunKey(dataDir) })
})

async function proveFullDisk(
  t: import('node:test').TestContext,
  { disk, service, key }: { disk: { fill(): void; free(): void }; service: ServiceProcess; key: string },
): Promise<void> {
  const writer = startWriter(service, key)
  await writer.untilResumed()
  disk.fill()
  const toldMs = await untilReadiness(service, (status) => status !== 'ready', TELLS_WITHIN_MS)
  const told = await readiness(service)
  await sleep(1_000)
  disk.free()
  const healedMs = await untilReadiness(service, (status) => status === 'ready', HEALS_WITHIN_MS)
  const resumedMs = await writer.untilResumed()
  const lost = await writer.countLost()
  assert.equal(lost, 0)
  assert.ok(!writer.statuses.has(500), 'a full disk is no internal error')
  reportFigures(
    t,
    `full disk: told ${told} after ${toldMs} ms, ready ${healedMs} ms and writing ${resumedMs} ms after it was freed, ${writer.acknowledged.length} acknowledged, ${lost} lost`,
  )
}
