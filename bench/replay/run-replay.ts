import { readConfig } from '../../server/src/config.ts'
import { decide } from '../../server/src/core/decide/decide.ts'
import type { Facts } from '../../server/src/core/facts/facts.ts'
import type { Database } from '../../server/src/store/database/database.ts'
import { openPostgres } from '../../server/src/store/database/postgres-database.ts'
import { readDocuments } from '../../server/src/store/documents/documents.ts'
import { openStorage } from '../../server/src/store/storage.ts'
import { copyDecisions } from '../../server/tests/copy-decisions.ts'
import type { Effort, Measured } from '../bench.ts'
import { type Contender, interleave } from '../interleave.ts'
import { createApplicants, underwritings } from '../load/applicants.ts'
import { type HttpConnection, openConnections, sendAll } from '../load/http-connection.ts'
import { type MeasuredService, startMeasuredService } from '../load/measured-service.ts'
import { backtestAll, compiled, readPolicy, type StoredDocument } from './bulk-replay.ts'

/** The aim of a backtest, as a yardstick that is the same in every pass. */
const AIM = '20,000 a second'
const AIM_US = 50

const APPLICANTS = 10
/** How often each decision is copied: a backtest is meant for many. */
const COPIES = 9
/** The decisions that are decided in memory: the facts of all, parsed, would fill it. */
const IN_MEMORY = 4_000
const CONNECTIONS = 8
/** Decisions whose documents are in memory at once while their facts are read. */
const PAGE = 1_000
/** Decisions that one repetition replays one by one over HTTP. */
const REPLAYED = 32

/** Measures deciding recorded decisions again, in bulk and over HTTP, against `decide` on the same facts in memory. */
export async function runReplayPostgres(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('postgres')
  const database = openPostgres({
    urls: [service.env.DATABASE_URL!],
    schema: 'verdigraph_sandbox',
    statementMs: 60_000,
    connectWithinMs: () => 30_000,
  })
  const connections = await openConnections(service.port, CONNECTIONS)
  try {
    await makeDecisions(service, connections, effort)
    const { series, notes } = await compareAgain(database, effort, ({ ids }) => [
      overHttp(service, connections, ids.slice(-REPLAYED)),
    ])
    return {
      series,
      notes: [
        ...notes,
        `over HTTP with ${CONNECTIONS} connections: every replay also compares byte by byte, checks all hashes and proves the audit entry`,
      ],
    }
  } finally {
    for (const connection of connections) connection.close()
    await database.close()
    await service.stop()
  }
}

/** Measures the same in bulk on the embedded database. Only one process can open its folder, so the service is paused. */
export async function runReplayEmbedded(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('embedded')
  try {
    const connections = await openConnections(service.port, CONNECTIONS)
    await makeDecisions(service, connections, effort)
    for (const connection of connections) connection.close()
    await service.pause()
    const storage = await openStorage(readConfig({ DATA_DIR: service.env.DATA_DIR }))
    return await compareAgain(storage.environments.sandbox, effort).finally(() => storage.close())
  } finally {
    await service.stop()
  }
}

/** Checks that every decision gets the same verdict again, and then measures. */
async function compareAgain(
  database: Database,
  effort: Effort,
  others: (recorded: Recorded) => Contender[] = () => [],
): Promise<Measured> {
  const [{ org_id } = { org_id: '' }] = await database.query<{ org_id: string }>('SELECT org_id FROM decisions LIMIT 1')
  await copyDecisions(database, { from: org_id, to: org_id, copies: COPIES })
  await database.query('ANALYZE')
  const recorded = await readRecorded(database, org_id)
  const { decided, changed } = await backtestAll(database, { ...recorded, last: recorded.texts.length })
  if (decided !== recorded.texts.length || changed > 0)
    throw new Error(
      `${decided} of ${recorded.texts.length} decisions were decided again, ${changed} with another verdict`,
    )
  const contenders = [inBulk(database, recorded), ...others(recorded), ...inMemory(recorded)]
  const series = await interleave(contenders, { ...effort, passes: Math.min(effort.passes, 11) })
  return {
    series: { ...series, [AIM]: { ...series.ours!, values: series.ours!.values.map(() => AIM_US) } },
    notes: [
      `${decided} decisions, all with the same verdict again: ours is policy backtest, which reads their facts page by page and decides in a thread of the pool; decide alone has them parsed in memory`,
    ],
  }
}

async function makeDecisions(
  service: MeasuredService,
  connections: readonly HttpConnection[],
  { isQuick, say }: Effort,
): Promise<void> {
  const count = isQuick ? 1_000 : 4_000
  say(`  making ${count} decisions`)
  const next = underwritings(service.key, await createApplicants(service, APPLICANTS), 'replay')
  await sendAll(connections, count, next)
}

/** The recorded decisions. */
interface Recorded {
  organizationId: string
  ids: string[]
  /** The facts of each, as stored text. */
  texts: string[]
  policy: StoredDocument
}

async function readRecorded(database: Database, organizationId: string): Promise<Recorded> {
  const rows = await database.query<{ org_id: string; id: string; flush: number }>(
    'SELECT org_id, id, flush FROM decisions ORDER BY id',
  )
  const texts: string[] = []
  // The other documents of all decisions would fill the memory.
  for (let start = 0; start < rows.length; start += PAGE)
    for (const { facts } of await readDocuments(database, rows.slice(start, start + PAGE))) texts.push(facts!)
  return { organizationId, ids: rows.map(({ id }) => id), texts, policy: await readPolicy(database) }
}

function inBulk(database: Database, recorded: Recorded): Contender {
  const last = recorded.texts.length
  return { name: 'ours', operations: last, runAll: () => backtestAll(database, { ...recorded, last }) }
}

/** Deciding without a store: on parsed facts, and on their texts, which have to be parsed first. */
function inMemory({ texts, policy: stored }: Recorded): Contender[] {
  const policy = compiled(stored)
  const some = texts.slice(0, IN_MEMORY)
  const facts = some.map((text) => JSON.parse(text) as Facts)
  const inTurn = <T>(name: string, cases: readonly T[], factsOf: (one: T) => Facts): Contender => ({
    name,
    operations: cases.length,
    runAll() {
      // Returning the last evaluation keeps the compiler from dropping the work.
      let last: object | undefined
      for (const one of cases) last = decide(policy, factsOf(one))
      return last
    },
  })
  return [
    inTurn('decide alone', facts, (one) => one),
    inTurn('parse and decide', some, (text) => JSON.parse(text) as Facts),
  ]
}

function overHttp({ key }: MeasuredService, connections: readonly HttpConnection[], ids: readonly string[]): Contender {
  const requests = ids.map(
    (id) => `GET /v1/decisions/${id}/replay HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  )
  return {
    name: 'over HTTP',
    operations: requests.length,
    runAll: () => sendAll(connections, requests.length, (index) => requests[index]!),
  }
}
