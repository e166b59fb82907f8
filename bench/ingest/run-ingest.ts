import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type PersonaTransaction, personas } from '../../server/tests/personas.ts'
import type { Effort, Measured } from '../bench.ts'
import { createApplicant } from '../load/applicants.ts'
import { openEmbeddedCopy } from '../load/embedded-copy.ts'
import { type HttpConnection, openConnections, postText } from '../load/http-connection.ts'
import { type MeasuredService, startMeasuredService } from '../load/measured-service.ts'

const BATCH = 1_000
/** The service ingests batches of one entity one after the other, so every connection has its own entity. */
const CONNECTIONS = 4
const PERSONA = personas(new Date().toISOString())[0]!

/** A transaction as callers send it. */
type SentTransaction = Required<PersonaTransaction> & { description: string }

/** Transactions of one entity in one pass: the service ingests them, and `COPY` loads them too. */
interface Batch {
  entityId: string
  transactions: SentTransaction[]
}

/** A database that loads a file: the file's path for us, and its path as the database sees it. */
interface Copier {
  file: string
  path: string
  query(sql: string): Promise<unknown>
}

/** Measures ingesting transactions over HTTP against `COPY` of as many rows of the same kind into the same table. */
export async function runIngestPostgres(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('postgres')
  const folder = mkdtempSync(join(tmpdir(), 'verdigraph-bench-copy-'))
  // The PostgreSQL server runs as another user and reads the file itself, which is its fastest way to load rows.
  chmodSync(folder, 0o755)
  const client = new pg.Client(service.env.DATABASE_URL)
  await client.connect()
  const file = join(folder, 'rows.tsv')
  try {
    return await compareIngest(service, { file, path: file, query: (sql) => client.query(sql) }, effort)
  } finally {
    await client.end()
    rmSync(folder, { recursive: true, force: true })
    await service.stop()
  }
}

/** Measures the same on the embedded database. Only one process can open a folder, so `COPY` writes to a copy of it. */
export async function runIngestEmbedded(effort: Effort): Promise<Measured> {
  const service = await startMeasuredService('embedded')
  try {
    const copy = await openEmbeddedCopy(service)
    const { sandbox } = copy.storage.environments
    const [row] = await sandbox.query<{ folder: string }>("SELECT current_setting('data_directory') AS folder")
    const copier: Copier = {
      file: join(copy.folder, 'rows.tsv'),
      path: `${row!.folder}/rows.tsv`,
      query: (sql) => sandbox.query(sql),
    }
    return await compareIngest(service, copier, effort).finally(() => copy.remove())
  } finally {
    await service.stop()
  }
}

async function compareIngest(service: MeasuredService, copier: Copier, effort: Effort): Promise<Measured> {
  const passes = effort.isQuick ? 3 : Math.min(effort.passes, 9)
  const batchesPerRound = effort.isQuick ? 6 : 40
  const entities = await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, index) =>
      createApplicant(service, { ...PERSONA, transactions: [] }, `account-${index}`),
    ),
  )
  const measured = { ours: [] as number[], copy: [] as number[] }
  for (let pass = -1; pass < passes; pass++) {
    const batches = Array.from({ length: batchesPerRound }, (_, index) =>
      newBatch(entities[index % entities.length]!, `${pass}-${index}`),
    )
    effort.say(pass < 0 ? '  warming up' : `  pass ${pass + 1} of ${passes}: ${batches.length * BATCH} rows each`)
    const ours = await ingest(service, batches)
    const copy = await copyRows(copier, batches)
    if (pass < 0) continue
    measured.ours.push(ours)
    measured.copy.push(copy)
  }
  const rate = (values: number[]) => ({ unit: 'rows/s', better: 'higher' as const, values })
  return {
    series: { ours: rate(measured.ours), COPY: rate(measured.copy) },
    notes: [
      `batches of ${BATCH} for ${CONNECTIONS} entities over ${CONNECTIONS} connections; ours also validates every element, skips duplicates and updates the entity's state`,
      'COPY reads one file of as many rows of the same kind into the same table with its indexes and checks, in one transaction per pass',
    ],
  }
}

/** A thousand transactions over the last year, under new ids. */
function newBatch(entityId: string, name: string): Batch {
  const now = Date.now()
  const transactions = Array.from({ length: BATCH }, (_, index): SentTransaction => {
    const isCredit = index % 5 === 0
    return {
      external_id: `${name}-${String(index).padStart(4, '0')}`,
      occurred_at: new Date(now - (1 + index) * 31_000_000).toISOString(),
      amount: 10 + (index % 977) / 4,
      currency: 'EUR',
      direction: isCredit ? 'credit' : 'debit',
      balance_after: 5_000 + (index % 1_999),
      category: isCredit ? 'salary' : 'groceries',
      description: `Card payment ${index}`,
    }
  })
  return { entityId, transactions }
}

/** Rows per second over HTTP. The request texts are built before the clock starts. */
async function ingest({ port, key }: MeasuredService, batches: readonly Batch[]): Promise<number> {
  const requests = batches.map(({ entityId, transactions }) =>
    postText({
      path: `/v1/entities/${entityId}/transactions`,
      key,
      idempotencyKey: transactions[0]!.external_id,
      body: { transactions },
    }),
  )
  const connections = await openConnections(port, CONNECTIONS)
  const started = performance.now()
  const send = async (connection: HttpConnection, first: number) => {
    for (let index = first; index < requests.length; index += CONNECTIONS) {
      const { status, body } = await connection.send(requests[index]!)
      if (status !== 201) throw new Error(`ingesting was answered with status ${status}: ${body}`)
    }
  }
  await Promise.all(connections.map(send))
  const elapsedMs = performance.now() - started
  for (const connection of connections) connection.close()
  return (batches.length * BATCH * 1000) / elapsedMs
}

/** Rows per second with `COPY`. The rows belong to another organization, so they do not collide with the service's. */
async function copyRows({ file, path, query }: Copier, batches: readonly Batch[]): Promise<number> {
  const lines = batches.flatMap(({ entityId, transactions }) =>
    transactions.map((one) =>
      [
        'org_copied',
        entityId,
        one.external_id,
        'txb_00000000000000000000000000',
        one.occurred_at,
        one.amount,
        one.currency,
        one.direction,
        one.balance_after,
        one.category,
        one.description,
      ].join('\t'),
    ),
  )
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o644 })
  const started = performance.now()
  await query(
    `COPY verdigraph_sandbox.transactions (org_id, entity_id, external_id, batch_id, occurred_at, amount, currency, direction,
       balance_after, category, description) FROM '${path}'`,
  )
  return (batches.length * BATCH * 1000) / (performance.now() - started)
}
