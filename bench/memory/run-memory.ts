import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Effort, Measured, Point, Series } from '../bench.ts'
import { createApplicants, underwritings } from '../load/applicants.ts'
import { HttpConnection } from '../load/http-connection.ts'
import { type MeasuredService, type Storage, startMeasuredService } from '../load/measured-service.ts'

const APPLICANTS = 20
const CONNECTIONS = 32
const CHART = 'memory'

const HOW_TO_READ = [
  'flat means that the second half of the decisions adds next to nothing to the first; a leak of 2 KB a decision would show',
  'idle is no yardstick: V8 lets garbage lie until the heap has the size it likes, and a database just created holds what that took',
]

/** What one service occupies, before any decision, and each time as many as in `decisions` have been made. */
interface Growth {
  storage: Storage
  idle: number
  after: { decisions: number; mebibytes: number }[]
}

/** Measures the memory of the process idle and under decisions: on PostgreSQL, and with more time also embedded. */
export async function runMemory(effort: Effort): Promise<Measured> {
  const steps = effort.isQuick ? [200, 400, 800] : [10_000, 25_000, 50_000, 100_000]
  const settleMs = effort.isQuick ? 200 : 3_000
  const storages: Storage[] = effort.isQuick ? ['postgres'] : ['postgres', 'embedded']
  const grown: Growth[] = []
  for (const storage of storages) grown.push(await watch(storage, { steps, settleMs, effort }))
  const series: Record<string, Series> = {}
  for (const { storage, idle, after } of grown) {
    series[`${storage}, idle`] = size(idle)
    series[`${storage}, after half`] = size(after.at(-2)!.mebibytes)
    series[`${storage}, after all`] = size(after.at(-1)!.mebibytes)
  }
  return { series, notes: [...grown.map(describe), ...HOW_TO_READ], points: grown.flatMap(pointsOf) }
}

async function watch(
  storage: Storage,
  { steps, settleMs, effort }: { steps: readonly number[]; settleMs: number; effort: Effort },
): Promise<Growth> {
  const service = await startMeasuredService(storage)
  try {
    await sleep(settleMs)
    const idle = residentMebibytes(service)
    const next = underwritings(service.key, await createApplicants(service, APPLICANTS), 'memory')
    const after: Growth['after'] = []
    let made = 0
    for (const decisions of steps) {
      await makeDecisions(service, next, decisions - made)
      made = decisions
      await sleep(settleMs)
      after.push({ decisions, mebibytes: residentMebibytes(service) })
      effort.say(`  ${storage}: ${after.at(-1)!.mebibytes.toFixed(0)} MiB after ${decisions} decisions`)
    }
    return { storage, idle, after }
  } finally {
    await service.stop()
  }
}

async function makeDecisions({ port }: MeasuredService, next: () => string, count: number): Promise<void> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => HttpConnection.open(port)))
  let left = count
  const work = async (connection: HttpConnection) => {
    while (left-- > 0) {
      const { status, body } = await connection.send(next())
      if (status !== 201) throw new Error(`underwriting was answered ${status}: ${body}`)
    }
  }
  await Promise.all(connections.map(work)).finally(() => {
    for (const connection of connections) connection.close()
  })
}

/** What the kernel says the process occupies, which is what a container's limit counts. */
function residentMebibytes({ child }: MeasuredService): number {
  const kibibytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes) / 1024
}

function size(mebibytes: number): Series {
  return { unit: 'MiB', better: 'lower', values: [mebibytes] }
}

function describe({ storage, idle, after }: Growth): string {
  const told = after.map(
    ({ decisions, mebibytes }) => `${mebibytes.toFixed(0)} after ${decisions.toLocaleString('en')}`,
  )
  return `${storage}: ${idle.toFixed(0)} MiB idle, ${told.join(', ')} decisions`
}

function pointsOf({ storage, idle, after }: Growth): Point[] {
  return [{ decisions: 0, mebibytes: idle }, ...after].map(({ decisions, mebibytes }) => ({
    chart: CHART,
    series: storage,
    x: decisions,
    y: mebibytes,
  }))
}
