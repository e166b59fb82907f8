import { readConfig } from '../../server/src/config.ts'
import { loadMasterKey } from '../../server/src/security/master-key-file.ts'
import type { EnvironmentKeys } from '../../server/src/store/environment/environment-store.ts'
import { type Storage as OpenedStorage, openStorage } from '../../server/src/store/storage.ts'
import type { Effort, Measured, Point, Series } from '../bench.ts'
import { createApplicants, underwritings } from '../load/applicants.ts'
import { type Driven, driveClosed, driveOpen } from '../load/drive.ts'
import { openEmbeddedCopy } from '../load/embedded-copy.ts'
import { type MeasuredService, startMeasuredService } from '../load/measured-service.ts'
import { untilFollowedUp } from '../load/until-followed-up.ts'
import { leftOutPeers, loadPeer } from '../peers.ts'
import { median, percentile } from '../statistics.ts'
import { makeChanges, writeBare } from './bare-loop.ts'
import { type NaiveProcess, startNaive } from './naive-process.ts'

const CONNECTIONS = 64
/** The p99 latency to stay below at 70 % of the peak. */
const P99_MS = 50
const USUAL_LOAD = 0.7
const LOADS = [0.1, 0.3, 0.5, 0.7, 0.85, 1, 1.2]
const QUICK_LOADS = [0.3, 1.2]

/** How often and how long to measure. */
interface Plan {
  passes: number
  forMs: number
  /** Decisions that the bare loop writes in each pass. */
  bareCount: number
}

/** A naive service, and the decisions per second of each pass. */
interface NaiveService {
  series: string
  process: NaiveProcess
  rates: number[]
}

/** Measures durable underwriting over HTTP on PostgreSQL: against its own writes alone, and against a naive service. */
export async function runUnderwritePostgres(effort: Effort): Promise<Measured> {
  const jsonRules = await loadPeer('json-rules-engine')
  const leftOut = leftOutPeers({ 'json-rules-engine': jsonRules })
  for (const reason of Object.values(leftOut)) effort.say(`  left out: the naive services, because ${reason}`)
  const service = await startMeasuredService('postgres')
  const storage = await openStorage(readConfig(service.env))
  try {
    const naive = 'package' in jsonRules ? await startNaiveServices(service) : []
    const entityIds = await createEntities(service, effort)
    for (const { port } of [service, ...naive.map(({ process }) => process)])
      await warmUp({ port, key: service.key }, entityIds, effort)
    const plan = planFor(effort)
    const found = { ours: [] as number[], bare: [] as number[] }
    for (let pass = 1; pass <= plan.passes; pass++) {
      effort.say(`  pass ${pass} of ${plan.passes}`)
      found.bare.push(
        await measureBare(storage, {
          keys: storeKeysOf(service),
          entityIds,
          count: plan.bareCount,
          run: `pass-${pass}`,
        }),
      )
      await untilFollowedUp(storage.environments.sandbox)
      found.ours.push(await measureOurs(service, { entityIds, forMs: plan.forMs, run: `pass-${pass}` }))
      await untilFollowedUp(storage.environments.sandbox)
      for (const { series, process, rates } of naive) {
        const next = underwritings(service.key, entityIds, `${series}-${pass}`)
        rates.push((await driveClosed(process.port, { connections: CONNECTIONS, forMs: plan.forMs, next })).perSecond)
      }
    }
    for (const { process } of naive) await process.stop()
    const peak = median(found.ours)
    await untilFollowedUp(storage.environments.sandbox)
    const p99s = await p99AtLoad(service, entityIds, { effort, perSecond: peak * USUAL_LOAD, passes: plan.passes })
    const overloaded = await measureOverload(service, storage, { entityIds, effort, peak, plan })
    const shared = await measureTwoProcesses(service, storage, { entityIds, plan })
    return {
      series: {
        ours: perSecond(found.ours),
        'bare batched loop': perSecond(found.bare),
        ...Object.fromEntries(naive.map(({ series, rates }) => [series, perSecond(rates)])),
        'answered at twice the peak': perSecond(overloaded.answered),
        peak: perSecond(overloaded.peaks),
        'two processes': perSecond(shared.two),
        'one process': perSecond(shared.one),
        'p99 at 70 % of peak': milliseconds(p99s),
        '50 ms': milliseconds(p99s.map(() => P99_MS)),
      },
      leftOut,
      points: await saturationCurve(service, entityIds, { effort, peak }),
      notes: [
        `${CONNECTIONS} connections, ${entityIds.length} entities; client, server and PostgreSQL share this machine, synchronous_commit is on`,
        'the naive service reads all transactions of the entity and adds them up; on our running sums it reads only those sums',
        'the bare loop writes the same rows with the same SQL statement, 64 decisions at a time, from one process without HTTP, reading or deciding',
      ],
    }
  } finally {
    await storage.close()
    await service.stop()
  }
}

/**
 * Measures the same on the embedded database. Only one process can open a folder, so the bare loop writes to a copy of
 * it; the service therefore does not seal or follow up on the loop's decisions while it is measured.
 */
export async function runUnderwriteEmbedded(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('embedded')
  try {
    const entityIds = await createEntities(service, effort)
    const { storage, remove } = await openEmbeddedCopy(service)
    const plan = planFor(effort)
    await warmUp(service, entityIds, effort)
    await measureBare(storage, { keys: storeKeysOf(service), entityIds, count: plan.bareCount / 4, run: 'warm-up' })
    const found = { ours: [] as number[], bare: [] as number[] }
    for (let pass = 1; pass <= plan.passes; pass++) {
      effort.say(`  pass ${pass} of ${plan.passes}`)
      found.ours.push(await measureOurs(service, { entityIds, forMs: plan.forMs, run: `pass-${pass}` }))
      found.bare.push(
        await measureBare(storage, {
          keys: storeKeysOf(service),
          entityIds,
          count: plan.bareCount,
          run: `pass-${pass}`,
        }),
      )
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

function planFor({ isQuick }: Effort): Plan {
  return isQuick ? { passes: 1, forMs: 400, bareCount: 256 } : { passes: 7, forMs: 4_000, bareCount: 4_096 }
}

/** Starts the naive service twice: once as it is, and once on the sums that ours keeps of an entity's transactions. */
async function startNaiveServices({ env, key }: MeasuredService): Promise<NaiveService[]> {
  const start = (factsFrom: 'transactions' | 'sums') => startNaive({ databaseUrl: env.DATABASE_URL!, key, factsFrom })
  return [
    { series: 'naive service', process: await start('transactions'), rates: [] },
    { series: 'naive service on our running sums', process: await start('sums'), rates: [] },
  ]
}

async function createEntities(service: MeasuredService, { isQuick, say }: Effort): Promise<string[]> {
  say('  creating entities with a year of transactions each')
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

async function measureOurs(
  service: MeasuredService,
  { entityIds, forMs, run }: { entityIds: readonly string[]; forMs: number; run: string },
): Promise<number> {
  const next = underwritings(service.key, entityIds, run)
  const { perSecond, refused } = await driveClosed(service.port, { connections: CONNECTIONS, forMs, next })
  if (Object.keys(refused).length > 0) throw new Error(`the service refused requests: ${JSON.stringify(refused)}`)
  return perSecond
}

async function measureBare(
  { environments: { sandbox } }: OpenedStorage,
  { keys, entityIds, count, run }: { keys: EnvironmentKeys; entityIds: readonly string[]; count: number; run: string },
): Promise<number> {
  return writeBare(sandbox, await makeChanges(sandbox, { keys, entityIds, count, run: `bare-${run}` }), keys)
}

async function p99AtLoad(
  service: MeasuredService,
  entityIds: readonly string[],
  { effort, perSecond, passes }: { effort: Effort; perSecond: number; passes: number },
): Promise<number[]> {
  const p99s: number[] = []
  for (let pass = 1; pass <= passes; pass++) {
    effort.say(`  ${Math.round(perSecond)} a second, pass ${pass} of ${passes}`)
    const forMs = effort.isQuick ? 400 : 5_000
    const next = underwritings(service.key, entityIds, `usual-${pass}`)
    const { latenciesMs } = await driveOpen(service.port, { connections: CONNECTIONS, perSecond, forMs, next })
    p99s.push(percentile(latenciesMs, 0.99))
  }
  return p99s
}

/** Measures how many requests are answered at twice the peak rate; the service should refuse the others at once. */
async function measureOverload(
  service: MeasuredService,
  storage: OpenedStorage,
  { entityIds, effort, peak, plan }: { entityIds: readonly string[]; effort: Effort; peak: number; plan: Plan },
): Promise<{ answered: number[]; peaks: number[] }> {
  const answered: number[] = []
  const peaks: number[] = []
  for (let pass = 1; pass <= plan.passes; pass++) {
    effort.say(`  twice the peak, pass ${pass} of ${plan.passes}`)
    peaks.push(await measureOurs(service, { entityIds, forMs: plan.forMs, run: `peak-${pass}` }))
    await untilFollowedUp(storage.environments.sandbox)
    const next = underwritings(service.key, entityIds, `overload-${pass}`)
    const options = {
      connections: effort.isQuick ? 400 : 1_000,
      perSecond: peak * 2,
      forMs: effort.isQuick ? 400 : 4_000,
      next,
    }
    answered.push((await driveOpen(service.port, options)).perSecond)
    await untilFollowedUp(storage.environments.sandbox)
  }
  return { answered, peaks }
}

/** Measures one process, then two on the same database with half of the connections each. */
async function measureTwoProcesses(
  service: MeasuredService,
  storage: OpenedStorage,
  { entityIds, plan: { passes, forMs } }: { entityIds: readonly string[]; plan: Plan },
): Promise<{ two: number[]; one: number[] }> {
  const second = await service.another()
  const two: number[] = []
  const one: number[] = []
  for (let pass = 1; pass <= passes; pass++) {
    one.push(await measureOurs(service, { entityIds, forMs, run: `one-${pass}` }))
    await untilFollowedUp(storage.environments.sandbox)
    const halves = await Promise.all(
      [service.port, second.port].map((port, half) =>
        driveClosed(port, {
          connections: CONNECTIONS / 2,
          forMs,
          next: underwritings(service.key, entityIds, `two-${pass}-${half}`),
        }),
      ),
    )
    two.push(halves.reduce((sum, { perSecond }) => sum + perSecond, 0))
    await untilFollowedUp(storage.environments.sandbox)
  }
  return { two, one }
}

/** Throughput and latency at loads from a tenth of the peak to more than the service can answer. */
async function saturationCurve(
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
    const latency = (share: number) => median(drives.map(({ latenciesMs }) => percentile(latenciesMs, share)))
    points.push({ chart: 'saturation', series: 'p50', x, y: latency(0.5) })
    points.push({ chart: 'saturation', series: 'p99', x, y: latency(0.99) })
  }
  return points
}

/** The keys of the service's store: its sealer refuses entries without their MAC. */
function storeKeysOf({ env: { DATA_DIR } }: MeasuredService): EnvironmentKeys {
  return loadMasterKey({ masterKey: undefined, dataDir: DATA_DIR! })!.storeKeys('sandbox')
}

function perSecond(values: number[]): Series {
  return { unit: 'per second', better: 'higher', values }
}

function milliseconds(values: number[]): Series {
  return { unit: 'ms', better: 'lower', values }
}
