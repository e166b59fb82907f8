import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Effort, Measured, Point, Series } from '../bench.ts'
import { createApplicants, underwritings } from '../load/applicants.ts'
import { openConnections, sendAll } from '../load/http-connection.ts'
import { type MeasuredService, type Storage, startMeasuredService } from '../load/measured-service.ts'

const APPLICANTS = 20
const CONNECTIONS = 32
const CHART = 'memory'

const HOW_TO_READ = [
  'memory is flat if the second half of the decisions adds next to nothing; a leak of 2 KB per decision would show',
  'idle memory is no yardstick: V8 lets the heap grow before it collects garbage, and a database that was just created still holds the memory of its creation',
]

/** The resident memory of one service, idle and after each number of decisions. */
interface Growth {
  storage: Storage
  idle: number
  after: { decisions: number; mebibytes: number }[]
}

/** Measures the memory of the process, idle and after decisions: on PostgreSQL, and without `--quick` also embedded. */
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
  const connections = await openConnections(port, CONNECTIONS)
  await sendAll(connections, count, next).finally(() => {
    for (const connection of connections) connection.close()
  })
}

/** The resident memory by the kernel's count, which is also what a container's limit counts. */
function residentMebibytes({ child }: MeasuredService): number {
  const kibibytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes) / 1024
}

function size(mebibytes: number): Series {
  return { unit: 'MiB', better: 'lower', values: [mebibytes] }
}

function describe({ storage, idle, after }: Growth): string {
  const steps = after.map(
    ({ decisions, mebibytes }) => `${mebibytes.toFixed(0)} after ${decisions.toLocaleString('en')}`,
  )
  return `${storage}: ${idle.toFixed(0)} MiB idle, ${steps.join(', ')} decisions`
}

function pointsOf({ storage, idle, after }: Growth): Point[] {
  return [{ decisions: 0, mebibytes: idle }, ...after].map(({ decisions, mebibytes }) => ({
    chart: CHART,
    series: storage,
    x: decisions,
    y: mebibytes,
  }))
}
