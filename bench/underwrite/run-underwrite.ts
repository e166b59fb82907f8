import { setTimeout as sleep } from 'node:timers/promises'
import { type Storage as OpenedStorage, openStorage } from '../../server/src/store/storage.ts'
import type { Effort, Measured, Point, Series } from '../bench.ts'
import { createApplicants, underwritings } from '../load/applicants.ts'
import { type Driven, driveClosed, driveOpen, percentile } from '../load/drive.ts'
import { openEmbeddedCopy } from '../load/embedded-copy.ts'
import { type MeasuredService, startMeasuredService } from '../load/measured-service.ts'
import { makeWriteSets, writeBare } from './bare-loop.ts'
import { type NaiveProcess, startNaive } from './naive-process.ts'

const CONNECTIONS = 64
/** What a service that is not at its limit has to keep to. */
const P99_MS = 50
const USUAL_LOAD = 0.7
const LOADS = [0.1, 0.3, 0.5, 0.7, 0.85, 1, 1.2]
const QUICK_LOADS = [0.3, 1.2]

/** Measures durable underwriting over HTTP on PostgreSQL: against its own writes alone, and against a naive service. */
export async function runUnderwritePostgres(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('postgres')
  const naive = await startBothNaive(service).catch(async (error) => {
    await service.stop()
    throw error
  })
  const storage = await openStorage(configOf(service))
  try {
    const entityIds = await createEntities(service, effort)
    for (const { port } of [service, naive.onTransactions, naive.onSums])
      await warmUp({ port, key: service.key }, entityIds, effort)
    const rounds = new Rounds(effort)
    const found = { ours: [] as number[], bare: [] as number[], naive: [] as number[], naiveOnSums: [] as number[] }
    for (const run of rounds.runs()) {
      found.bare.push(await bareRound(storage, { entityIds, count: rounds.bareCount, run }))
      await followedUp(storage)
      found.ours.push(await oursRound(service, { entityIds, forMs: rounds.forMs, run }))
      await followedUp(storage)
      const naiveRound = async ({ port }: NaiveProcess, name: string) => {
        const next = underwritings(service.key, entityIds, `${name}-${run}`)
        return (await driveClosed(port, { connections: CONNECTIONS, forMs: rounds.forMs, next })).perSecond
      }
      found.naive.push(await naiveRound(naive.onTransactions, 'naive'))
      found.naiveOnSums.push(await naiveRound(naive.onSums, 'sums'))
    }
    await naive.stop()
    const peak = median(found.ours)
    await followedUp(storage)
    const usual = await atLoad(service, entityIds, { effort, perSecond: peak * USUAL_LOAD, runs: rounds.count })
    const overloaded = await beyondCapacity(service, storage, { entityIds, effort, peak, rounds })
    const shared = await twoProcesses(service, storage, { entityIds, rounds })
    return {
      series: {
        ours: perSecond(found.ours),
        'bare batched loop': perSecond(found.bare),
        'naive service': perSecond(found.naive),
        'naive service on our running sums': perSecond(found.naiveOnSums),
        'answered at twice the peak': perSecond(overloaded.answered),
        peak: perSecond(overloaded.peaks),
        'two processes': perSecond(shared.two),
        'one process': perSecond(shared.one),
        'p99 at 70 % of peak': milliseconds(usual),
        '50 ms': milliseconds(usual.map(() => P99_MS)),
      },
      points: await saturation(service, entityIds, { effort, peak }),
      notes: [
        `${CONNECTIONS} connections, ${entityIds.length} entities; client, server and PostgreSQL share this machine, synchronous_commit is on`,
        'the naive service reads the transactions of the entity and adds them up; on our running sums it need not',
        'the bare loop writes the same rows with the same statement, 64 decisions at a time, from one process without HTTP, reading or deciding',
      ],
    }
  } finally {
    await naive.stop()
    await storage.close()
    await service.stop()
  }
}

/**
 * Measures the same on the embedded database. Only one process can hold a folder, so the bare loop writes to a copy of it; and
 * what it writes is then nobody's to seal and to follow up on while the service is measured.
 */
export async function runUnderwriteEmbedded(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('embedded')
  try {
    const entityIds = await createEntities(service, effort)
    const { storage, remove } = await openEmbeddedCopy(service)
    const rounds = new Rounds(effort)
    await warmUp(service, entityIds, effort)
    await bareRound(storage, { entityIds, count: rounds.bareCount / 4, run: 'warm-up' })
    const found = { ours: [] as number[], bare: [] as number[] }
    for (const run of rounds.runs()) {
      found.ours.push(await oursRound(service, { entityIds, forMs: rounds.forMs, run }))
      found.bare.push(await bareRound(storage, { entityIds, count: rounds.bareCount, run }))
    }
    await remove()
    return {
      series: { ours: perSecond(found.ours), 'bare batched loop': perSecond(found.bare) },
      notes: [
        `${CONNECTIONS} connections, ${entityIds.length} entities; the embedded database runs in a thread of the service`,
      ],
    }
  } finally {
    await service.stop()
  }
}

/** How often and how long to measure. */
class Rounds {
  readonly count: number
  readonly forMs: number
  readonly bareCount: number
  readonly #effort: Effort

  constructor(effort: Effort) {
    this.#effort = effort
    this.count = effort.isQuick ? 1 : 7
    this.forMs = effort.isQuick ? 400 : 4_000
    this.bareCount = effort.isQuick ? 256 : 4_096
  }

  *runs(): Generator<string> {
    for (let round = 1; round <= this.count; round++) {
      this.#effort.say(`  round ${round} of ${this.count}`)
      yield `round-${round}`
    }
  }
}

/** The naive service as it is, and once more on the sums that ours keeps of an entity's transactions. */
async function startBothNaive({ env, key }: MeasuredService) {
  const start = (factsFrom: 'transactions' | 'sums') => startNaive({ databaseUrl: env.DATABASE_URL!, key, factsFrom })
  const [onTransactions, onSums] = [await start('transactions'), await start('sums')]
  const stop = async () => void (await Promise.all([onTransactions.stop(), onSums.stop()]))
  return { onTransactions, onSums, stop }
}

async function createEntities(service: MeasuredService, { isQuick, say }: Effort): Promise<string[]> {
  say('  entities with a year of transactions each')
  return createApplicants(service, isQuick ? 32 : 1_000)
}

async function warmUp(
  { port, key }: Pick<MeasuredService, 'port' | 'key'>,
  entityIds: readonly string[],
  { isQuick }: Effort,
): Promise<void> {
  const next = underwritings(key, entityIds, `warm-up-${port}`)
  await driveClosed(port, { connections: CONNECTIONS, forMs: isQuick ? 600 : 3_000, next })
}

async function oursRound(
  service: MeasuredService,
  { entityIds, forMs, run }: { entityIds: readonly string[]; forMs: number; run: string },
): Promise<number> {
  const next = underwritings(service.key, entityIds, run)
  const { perSecond, refused } = await driveClosed(service.port, { connections: CONNECTIONS, forMs, next })
  if (Object.keys(refused).length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`)
  return perSecond
}

async function bareRound(
  { environments: { sandbox } }: OpenedStorage,
  { entityIds, count, run }: { entityIds: readonly string[]; count: number; run: string },
): Promise<number> {
  return writeBare(sandbox, await makeWriteSets(sandbox, { entityIds, count, run: `bare-${run}` }))
}

/** Waits until the service has sealed and followed up on everything: that is not part of what comes next. */
async function followedUp({ environments: { sandbox } }: OpenedStorage): Promise<void> {
  for (;;) {
    const [left] = await sandbox.query<{ any: boolean }>(
      'SELECT EXISTS (SELECT 1 FROM audit_pending) OR EXISTS (SELECT 1 FROM consequences) AS any',
    )
    if (!left!.any) return
    await sleep(50)
  }
}

async function atLoad(
  service: MeasuredService,
  entityIds: readonly string[],
  { effort, perSecond, runs }: { effort: Effort; perSecond: number; runs: number },
): Promise<number[]> {
  const p99s: number[] = []
  for (let run = 0; run < runs; run++) {
    effort.say(`  ${Math.round(perSecond)} a second, ${run + 1} of ${runs}`)
    const forMs = effort.isQuick ? 400 : 5_000
    const next = underwritings(service.key, entityIds, `usual-${run}`)
    const { latenciesMs } = await driveOpen(service.port, { connections: CONNECTIONS, perSecond, forMs, next })
    p99s.push(percentile(latenciesMs, 0.99))
  }
  return p99s
}

/** What is answered while twice as much is asked for as can be answered: the rest is to be turned away, not waited on. */
async function beyondCapacity(
  service: MeasuredService,
  storage: OpenedStorage,
  { entityIds, effort, peak, rounds }: { entityIds: readonly string[]; effort: Effort; peak: number; rounds: Rounds },
): Promise<{ answered: number[]; peaks: number[] }> {
  const answered: number[] = []
  const peaks: number[] = []
  for (let run = 0; run < rounds.count; run++) {
    effort.say(`  twice the peak, ${run + 1} of ${rounds.count}`)
    peaks.push(await oursRound(service, { entityIds, forMs: rounds.forMs, run: `peak-${run}` }))
    await followedUp(storage)
    const next = underwritings(service.key, entityIds, `beyond-${run}`)
    const options = {
      connections: effort.isQuick ? 400 : 1_000,
      perSecond: peak * 2,
      forMs: effort.isQuick ? 400 : 4_000,
      next,
    }
    answered.push((await driveOpen(service.port, options)).perSecond)
    await followedUp(storage)
  }
  return { answered, peaks }
}

/** A second process on the same database, and half of the connections to each. */
async function twoProcesses(
  service: MeasuredService,
  storage: OpenedStorage,
  { entityIds, rounds: { count, forMs } }: { entityIds: readonly string[]; rounds: Rounds },
): Promise<{ two: number[]; one: number[] }> {
  const second = await service.another()
  const two: number[] = []
  const one: number[] = []
  for (let run = 0; run < count; run++) {
    one.push(await oursRound(service, { entityIds, forMs, run: `one-${run}` }))
    await followedUp(storage)
    const halves = await Promise.all(
      [service.port, second.port].map((port, half) =>
        driveClosed(port, {
          connections: CONNECTIONS / 2,
          forMs,
          next: underwritings(service.key, entityIds, `two-${run}-${half}`),
        }),
      ),
    )
    two.push(halves.reduce((sum, { perSecond }) => sum + perSecond, 0))
    await followedUp(storage)
  }
  return { two, one }
}

/** Throughput and latency from little load to more than the service can take. */
async function saturation(
  service: MeasuredService,
  entityIds: readonly string[],
  { effort, peak }: { effort: Effort; peak: number },
): Promise<Point[]> {
  const points: Point[] = []
  for (const load of effort.isQuick ? QUICK_LOADS : LOADS) {
    effort.say(`  at ${Math.round(load * 100)} % of peak`)
    const next = underwritings(service.key, entityIds, `load-${load}`)
    const options = { connections: 256, perSecond: peak * load, forMs: effort.isQuick ? 300 : 3_000, next }
    const drives: Driven[] = []
    for (let drive = 0; drive < (effort.isQuick ? 1 : 3); drive++) drives.push(await driveOpen(service.port, options))
    const x = median(drives.map(({ perSecond }) => perSecond))
    for (const [series, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const)
      points.push({
        ...{ chart: 'saturation', series, x },
        y: median(drives.map(({ latenciesMs }) => percentile(latenciesMs, share))),
      })
  }
  return points
}

function configOf({ env: { DATA_DIR, DATABASE_URL } }: MeasuredService): Parameters<typeof openStorage>[0] {
  const url = DATABASE_URL!
  return { dataDir: DATA_DIR!, databaseUrls: { control: url, sandbox: url, production: url } }
}

function perSecond(rounds: number[]): Series {
  return { unit: 'per second', better: 'higher', rounds }
}

function milliseconds(rounds: number[]): Series {
  return { unit: 'ms', better: 'lower', rounds }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}
