import { personas } from '../../server/tests/personas.ts'
import type { Effort, Measured, Point, Series } from '../bench.ts'
import { createApplicant } from '../load/applicants.ts'
import { withClusterSetting } from '../load/bench-database.ts'
import { type MeasuredService, startMeasuredService } from '../load/measured-service.ts'
import { withSandboxSql } from '../load/sandbox-sql.ts'
import { median } from '../statistics.ts'
import { fillDecisions, vacuumStore } from './fill-decisions.ts'
import { fillLinks, untilExposed } from './fill-links.ts'
import { fillTransactions, thousandTransactions } from './fill-transactions.ts'
import { measureSizes, type Place } from './measure-sizes.ts'

/** How many rows of each kind are measured; the last size is compared with the first. */
interface Sizes {
  transactions: readonly number[]
  decisions: readonly number[]
  links: readonly number[]
}

const FULL: Sizes = {
  transactions: [1e3, 1e4, 1e5, 1e6],
  decisions: [1e3, 1e4, 1e5, 1e6],
  links: [10, 100, 1e3, 1e4, 1e5],
}
const QUICK: Sizes = { transactions: [1e3, 5e4], decisions: [1e3, 1e4], links: [10, 5e3] }
/** Smaller, because a single thread of WebAssembly fills the embedded database. */
const EMBEDDED: Sizes = { transactions: [1e3, 1e5], decisions: [1e3, 1e5], links: [10, 1e4] }

const PERSONA = personas(new Date().toISOString())[0]!
const THOUSAND = thousandTransactions(PERSONA.transactions)
const REQUEST = { product: 'personal_loan', requested_amount: 6000, currency: 'EUR' }

/** Measures whether latency depends on the size of the store: on PostgreSQL, and without `--quick` also embedded. */
export async function runGrowth(effort: Effort): Promise<Measured> {
  // Filling writes gigabytes of WAL; the default would run a checkpoint after each of them.
  const found = await withClusterSetting('max_wal_size', '16GB', () =>
    measureGrowth(effort, {
      sizes: effort.isQuick ? QUICK : FULL,
      where: '',
      newService: () => startMeasuredService('postgres'),
    }),
  )
  if (effort.isQuick) return { ...found, notes: [...found.notes, 'without --quick: up to 10⁶, 10⁶ and 10⁵'] }

  effort.say('  the same on the embedded database')
  const embedded = await measureGrowth(effort, {
    sizes: EMBEDDED,
    where: ', embedded',
    newService: () => startMeasuredService('embedded'),
  })
  return {
    series: { ...found.series, ...embedded.series },
    notes: [...found.notes, ...embedded.notes],
    points: [...found.points, ...embedded.points],
  }
}

/** The figures, with their points for the chart. */
type GrowthFound = Measured & { points: Point[] }

interface Setting {
  sizes: Sizes
  /** The suffix of all series names. */
  where: string
  newService(): Promise<MeasuredService>
}

async function measureGrowth(effort: Effort, { sizes, where, newService }: Setting): Promise<GrowthFound> {
  const services: MeasuredService[] = []
  try {
    effort.say(`  starting ${sizes.decisions.length} services`)
    const started = await Promise.allSettled(sizes.decisions.map(() => newService()))
    for (const start of started) if (start.status === 'fulfilled') services.push(start.value)
    for (const start of started) if (start.status === 'rejected') throw start.reason
    const places = await Promise.all(services.map((service, index) => decidedPlace(service, sizes.decisions[index]!)))
    // Transactions in the smallest store, links in the largest, so that both services get equally many requests: a
    // warmer process answers faster.
    places.push(...(await placesOf('transactions', sizes.transactions, services[0]!, THOUSAND)))
    places.push(...(await placesOf('links', sizes.links, services.at(-1)!)))
    for (const service of services) {
      await fill(
        service,
        places.filter((place) => place.service === service),
        effort,
      )
    }
    const turns = effort.isQuick ? { passes: 5, turnMs: 50 } : { passes: Math.min(effort.passes, 11), turnMs: 300 }
    return describeGrowth(await measureSizes(places, { ...effort, ...turns }), where)
  } finally {
    for (const service of services) await service.stop()
  }
}

async function decidedPlace(service: MeasuredService, size: number): Promise<Place> {
  const entityId = await createApplicant(service, PERSONA, 'decided')
  await service.post('/v1/underwrite', { entity_id: entityId, ...REQUEST }, 'model')
  return { of: 'decisions', size, service, entityId }
}

async function placesOf(
  of: string,
  sizes: readonly number[],
  service: MeasuredService,
  transactions = PERSONA.transactions,
): Promise<Place[]> {
  const places: Place[] = []
  for (const size of sizes) {
    const entityId = await createApplicant(service, { ...PERSONA, transactions }, `${of}-${size}`)
    places.push({ of, size, service, entityId })
  }
  return places
}

/** Fills one store with the rows of all its places. */
async function fill(service: MeasuredService, places: readonly Place[], { say }: Effort): Promise<void> {
  const { DATA_DIR: dataDir, DATABASE_URL } = service.env
  const hubs = places.filter(({ of }) => of === 'links').map(({ entityId, size }) => ({ entityId, count: size }))
  await withSandboxSql(service, async (sql) => {
    for (const { of, size, entityId } of places) {
      say(`  inserting ${size} ${of}`)
      if (of === 'decisions') await fillDecisions(sql, { entityId, count: size, dataDir: dataDir! })
      if (of === 'transactions') await fillTransactions(sql, { entityId, thousand: THOUSAND, count: size })
    }
    if (hubs.length > 0) await fillLinks(sql, hubs)
    if (DATABASE_URL) await vacuumStore(sql)
  })
  await untilExposed(service, hubs)
}

/** Names series by `few` and `many` instead of by size, so that the manifest need not know the sizes. */
function describeGrowth(measured: Map<Place, Series>, where: string): GrowthFound {
  const series: Record<string, Series> = {}
  const points: Point[] = []
  const notes = [
    `p50 of underwriting with 4 connections${where}; small and large stores take turns on one machine, and the rows were inserted by SQL`,
  ]
  for (const [of, places] of Map.groupBy(measured.keys(), (place) => place.of)) {
    series[`few ${of}${where}`] = measured.get(places[0]!)!
    series[`many ${of}${where}`] = measured.get(places.at(-1)!)!
    const medians = places.map((place) => ({ x: place.size, y: median(measured.get(place)!.values) }))
    points.push(...medians.map((point) => ({ chart: 'growth', series: `${of}${where}`, ...point })))
    notes.push(
      `${of}${where}: ${medians.map(({ x, y }) => `${y.toFixed(2)} ms at ${x.toLocaleString('en')}`).join(', ')}`,
    )
  }
  return { series, notes, points }
}
