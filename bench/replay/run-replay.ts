import { decide } from '../../server/src/core/decide/decide.ts'
import type { Facts } from '../../server/src/core/facts/facts.ts'
import type { CompiledPolicy } from '../../server/src/core/policy/compiled-policy.ts'
import type { Database } from '../../server/src/store/database/database.ts'
import { openPostgres } from '../../server/src/store/database/postgres-database.ts'
import { openStorage } from '../../server/src/store/storage.ts'
import type { Effort, Measured } from '../bench.ts'
import { type Contender, interleave } from '../interleave.ts'
import { createApplicants, underwritings } from '../load/applicants.ts'
import { type HttpConnection, openConnections, sendAll } from '../load/http-connection.ts'
import { type MeasuredService, startMeasuredService } from '../load/measured-service.ts'
import { loadPolicy, redecideAll } from './bulk-replay.ts'

const APPLICANTS = 10
const CONNECTIONS = 8
/** Decisions that one repetition replays one by one over HTTP. */
const REPLAYED = 32

/** Measures deciding recorded decisions again, in bulk and over HTTP, against `decide` on the same facts in memory. */
export async function runReplayPostgres(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('postgres')
  const database = openPostgres({
    url: service.env.DATABASE_URL!,
    schema: 'verdigraph_sandbox',
    statementMs: 60_000,
  })
  const connections = await openConnections(service.port, CONNECTIONS)
  try {
    await makeDecisions(service, connections, effort)
    const { series, notes } = await compareAgain(database, effort, ({ ids }) => [
      overHttp(service, connections, ids.slice(0, REPLAYED)),
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
    const storage = await openStorage({ dataDir: service.env.DATA_DIR!, databaseUrls: undefined })
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
  const recorded = await readRecorded(database)
  const { decided, changed } = await redecideAll(database, recorded.organizationId)
  if (decided !== recorded.texts.length || changed > 0)
    throw new Error(
      `${decided} of ${recorded.texts.length} decisions were decided again, ${changed} with another verdict`,
    )
  const contenders = [inBulk(database, recorded), ...others(recorded), ...inMemory(recorded)]
  return {
    series: await interleave(contenders, { ...effort, passes: Math.min(effort.passes, 11) }),
    notes: [
      `${decided} decisions, all with the same verdict again: ours reads their facts page by page, parses them and decides; decide alone has them parsed in memory`,
    ],
  }
}

async function makeDecisions(
  service: MeasuredService,
  connections: readonly HttpConnection[],
  { isQuick, say }: Effort,
): Promise<void> {
  const count = isQuick ? 300 : 4_000
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
  policy: CompiledPolicy
}

async function readRecorded(database: Database): Promise<Recorded> {
  const rows = await database.query<{ org_id: string; decision_id: string; facts: string }>(
    'SELECT org_id, decision_id, facts FROM decision_evidence ORDER BY decision_id',
  )
  const organizationId = rows[0]!.org_id
  const [policy] = await database.query<{ checksum: string }>('SELECT checksum FROM policies')
  return {
    organizationId,
    ids: rows.map(({ decision_id }) => decision_id),
    texts: rows.map(({ facts }) => facts),
    policy: await loadPolicy(database, organizationId, policy!.checksum),
  }
}

function inBulk(database: Database, { organizationId, texts }: Recorded): Contender {
  return { name: 'ours', operations: texts.length, runAll: () => redecideAll(database, organizationId) }
}

/** Deciding without a store: on parsed facts, and on their texts, which have to be parsed first. */
function inMemory({ texts, policy }: Recorded): Contender[] {
  const facts = texts.map((text) => JSON.parse(text) as Facts)
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
    inTurn('parse and decide', texts, (text) => JSON.parse(text) as Facts),
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
