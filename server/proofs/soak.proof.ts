/** Under a load with kills nothing is lost, and memory stays flat (promise 15). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { firstRunKey, runCli, type ServiceProcess, startServiceProcess } from '../tests/service-process.ts'
import { createTestStorage } from '../tests/test-storage.ts'
import { type Acknowledged, findLost, write } from './load/writing-clients.ts'
import { reportFigures, seededRandom, soakMinutes } from './proof-run.ts'

const CLIENTS = 8
/** A moderate rate: the proof is about time and kills, overload has its own. */
const PAUSE_MS = 40
/** Half of the soak is interrupted by kills; in the other half one process runs on, and its memory is measured. */
const KILLS_PER_MINUTE = 4
const SAMPLES = 20
/** What the process may use in the last quarter of its half, in comparison with the second quarter. */
const GROWTH_MAX = 1.2
/** A process grows into its heap for some minutes after its start: a shorter soak only shows that memory is bounded. */
const SETTLED_MINUTES = 5
const MEGABYTES_MAX = 1_000

const storage = await createTestStorage()
after(() => storage.remove())

test('under a long load with kills nothing is lost, memory stays flat and the audit log stays intact', async (t) => {
  const random = seededRandom()
  let service: ServiceProcess = await startServiceProcess(storage.env)
  const { ports } = service
  after(() => service.child.kill('SIGKILL'))
  const origin = `http://127.0.0.1:${ports.sandbox}`
  const key = firstRunKey(storage.dataDir)
  const acknowledged: Acknowledged = new Map()
  const halfMs = soakMinutes * 30_000
  const kills = Math.max(2, Math.round((halfMs / 60_000) * KILLS_PER_MINUTE))

  /** Has clients write while `during` runs. */
  const load = async (name: string, during: () => Promise<void>) => {
    const ending = new AbortController()
    const { signal } = ending
    const writing = write({ origin, key, clients: CLIENTS, pauseMs: PAUSE_MS, name, acknowledged, signal })
    await during()
    ending.abort()
    assert.deepEqual((await writing).impolite, [])
  }

  for (let kill = 0; kill < kills; kill++) {
    await load(`kill-${kill}`, async () => {
      await sleep(random() * 2 * (halfMs / kills))
      service.child.kill('SIGKILL')
      await service.exited
    })
    service = await startServiceProcess(storage.env, ports)
  }
  const megabytes: number[] = []
  await load('steady', async () => {
    for (let sample = 0; sample < SAMPLES; sample++) {
      await sleep(halfMs / SAMPLES)
      megabytes.push(residentMegabytes(service.child.pid!))
    }
  })
  const quarter = SAMPLES / 4
  const [early, late] = [median(megabytes.slice(quarter, 2 * quarter)), median(megabytes.slice(-quarter))]
  const bound = soakMinutes / 2 >= SETTLED_MINUTES ? early * GROWTH_MAX : MEGABYTES_MAX
  assert.ok(late <= bound, `resident megabytes: ${megabytes}`)
  assert.deepEqual(await findLost({ origin, key, acknowledged }), [])
  assert.equal(await service.stop(), 0)
  const verified = runCli(storage.env, 'audit', 'verify')
  assert.equal(verified.status, 0, verified.stdout + verified.stderr)
  reportFigures(
    t,
    `${soakMinutes} min, ${kills} kills, ${acknowledged.size} acknowledged, 0 lost, ${early} → ${late} MB, log intact`,
  )
})

/** The memory of a process as the kernel counts it. */
function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024)
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}
