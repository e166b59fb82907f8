import { decide } from '../../server/src/core/decide/decide.ts'
import type { Facts } from '../../server/src/core/facts/facts.ts'
import { compilePolicy } from '../../server/src/core/policy/compile-policy.ts'
import type { PolicyDocument } from '../../server/src/core/policy/policy-document.ts'
import type { Database } from '../../server/src/store/database/database.ts'
import { openPostgres } from '../../server/src/store/database/postgres-database.ts'
import { openStorage } from '../../server/src/store/storage.ts'
import type { Effort, Measured } from '../bench.ts'
import { type Contender, interleave } from '../interleave.ts'
import { createApplicants, underwritings } from '../load/applicants.ts'
import { HttpConnection } from '../load/http-connection.ts'
import { type MeasuredService, startMeasuredService } from '../load/measured-service.ts'
import { redecideAll } from './bulk-replay.ts'

const APPLICANTS = 10
const CONNECTIONS = 8
/** Decisions that are replayed one by one over HTTP in one repetition. */
const REPLAYED = 32

/** Measures deciding recorded decisions again, in bulk and over HTTP, against `decide` on the same facts in memory. */
export async function runReplayPostgres(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('postgres')
  const database = openPostgres({ url: service.env.DATABASE_URL!, schema: 'verdigraph_sandbox' })
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => HttpConnection.open(service.port)))
  try {
    await makeDecisions(service, connections, effort)
    const { series, notes } = await compareAgain(database, effort, ({ ids }) => [
      overHttp(service, connections, ids.slice(0, REPLAYED)),
    ])
    return {
      series,
      notes: [
        ...notes,
        `over HTTP with ${CONNECTIONS} connections: every replay also compares to the byte, checks all hashes and proves the audit entry`,
      ],
    }
  } finally {
    for (const connection of connections) connection.close()
    await database.close()
    await service.stop()
  }
}

/** Measures the same in bulk on the embedded database. Only one process can hold its folder, so the service ends before that. */
export async function runReplayEmbedded(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('embedded')
  try {
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => HttpConnection.open(service.port)))
    await makeDecisions(service, connections, effort)
    for (const connection of connections) connection.close()
    await service.pause()
    const storage = await openStorage({ dataDir: service.env.DATA_DIR!, databaseUrls: undefined })
    return await compareAgain(storage.environments.sandbox, effort).finally(() => storage.close())
  } finally {
    await service.stop()
  }
}

/** Sees to it that every decision comes out the same, and then measures. */
async function compareAgain(
  database: Database,
  effort: Effort,
  others: (recorded: Recorded) => Contender[] = () => [],
): Promise<Measured> {
  const recorded = await readRecorded(database)
  const { decided, turned } = await redecideAll(database, recorded.organizationId)
  if (decided !== recorded.texts.length || turned > 0)
    throw new Error(`of ${recorded.texts.length} decisions ${decided} were decided again and ${turned} turned`)
  const contenders = [inBulk(database, recorded), ...others(recorded), ...inMemory(recorded)]
  return {
    series: await interleave(contenders, { ...effort, passes: Math.min(effort.passes, 11) }),
    notes: [
      `${decided} decisions, all of which came out the same: ours reads their facts page by page, parses them and decides; decide alone has them in memory, parsed`,
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
  await sendAll(
    connections,
    Array.from({ length: count }, () => next()),
  )
}

/** What the store has of all decisions. */
interface Recorded {
  organizationId: string
  ids: string[]
  /** The facts of each, as the text that is stored. */
  texts: string[]
  policy: PolicyDocument
}

async function readRecorded(database: Database): Promise<Recorded> {
  const rows = await database.query<{ org_id: string; decision_id: string; facts: string }>(
    'SELECT org_id, decision_id, facts FROM decision_evidence ORDER BY decision_id',
  )
  const [policy] = await database.query<{ document: string }>('SELECT document FROM policies')
  return {
    organizationId: rows[0]!.org_id,
    ids: rows.map(({ decision_id }) => decision_id),
    texts: rows.map(({ facts }) => facts),
    policy: JSON.parse(policy!.document) as PolicyDocument,
  }
}

function inBulk(database: Database, { organizationId, texts }: Recorded): Contender {
  return { name: 'ours', operations: texts.length, runAll: () => redecideAll(database, organizationId) }
}

/** Deciding without a store: on facts that are ready, and on their texts, which somebody has to parse. */
function inMemory({ texts, policy }: Recorded): Contender[] {
  const compiled = compilePolicy(policy)
  if (!('policy' in compiled)) throw new Error('the recorded policy does not compile')
  const facts = texts.map((text) => JSON.parse(text) as Facts)
  const inTurn = <T>(name: string, cases: readonly T[], factsOf: (one: T) => Facts): Contender => ({
    name,
    operations: cases.length,
    runAll() {
      // The last answer is returned, so that the compiler cannot drop the work.
      let last: object | undefined
      for (const one of cases) last = decide(compiled.policy, factsOf(one))
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
  return { name: 'over HTTP', operations: requests.length, runAll: () => sendAll(connections, requests) }
}

/** Sends requests over all connections; each takes the next as soon as its last is answered. */
async function sendAll(connections: readonly HttpConnection[], requests: readonly string[]): Promise<void> {
  let next = 0
  const work = async (connection: HttpConnection) => {
    while (next < requests.length) {
      const { status, body } = await connection.send(requests[next++]!)
      if (status >= 300) throw new Error(`a request was answered ${status}: ${body}`)
    }
  }
  await Promise.all(connections.map(work))
}
