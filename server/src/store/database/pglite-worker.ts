/** Runs the embedded database in a worker thread, so that it does not block the event loop of the service. */
import { setFlagsFromString } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { PLANNER_SETTINGS, quotedSchema, typeParsers } from './database.ts'
import { holdsDatabase } from './database-folder.ts'
import { PgliteFileSystem, startParamsOf } from './pglite-file-system.ts'
import { PgliteStatements } from './pglite-statements.ts'

/** The folder of the database, and whether its writes are synced to the disk. */
export interface WorkerData {
  dataDir: string
  syncs: boolean
}

/** A request of the main thread: a statement with parameters, or a script without. */
export interface WorkerRequest {
  id: number
  schema: string
  sql: string
  params?: readonly unknown[]
  /** The length of its longest array. */
  rows?: number
  keepPlan?: boolean | undefined
}

/** The reply to the request with the same id. Id 0 reports whether the database opened. */
export type WorkerReply = { id: number; rows: Record<string, unknown>[] } | { id: number; error: WorkerError }

/** An error as plain data, because structured cloning between threads drops the fields of a database error. */
export interface WorkerError {
  message: string
  code?: string | undefined
  constraint?: string | undefined
}

// V8 may abort the process when it frees replaced code of a WebAssembly module (nodejs/node#64500). Keeping that code costs
// some megabytes.
setFlagsFromString('--no-wasm-code-gc')
// V8 compiles a function of a WebAssembly module anew, optimized, once it has run this many bytes of its code. Its default of
// 13 million has some 80 functions of PostgreSQL optimized during a start, in threads that take the processors from the start
// itself. With this budget they are optimized under load, and the database is as fast after some seconds of it.
setFlagsFromString('--wasm-tiering-budget=1000000000')
// And it validates a function when it first runs, instead of all 13,725 before any does.
setFlagsFromString('--wasm-lazy-validation')

const port = parentPort!
const { dataDir, syncs } = workerData as WorkerData

async function open(): Promise<void> {
  const database = await PGlite.create({
    // At once: a PostgreSQL that panicked loops for ever in whatever is called next.
    fs: new PgliteFileSystem({ folder: dataDir, syncs, onPanic: () => process.exit(1) }),
    startParams: startParamsOf({ syncs }),
    ...(!holdsDatabase(dataDir) && { loadDataDir: await newDatabase() }),
    parsers: typeParsers,
  })
  const settings = Object.entries({ timezone: 'UTC', ...PLANNER_SETTINGS })
  await database.exec(settings.map(([name, value]) => `SET ${name} = '${value}'`).join('; '))
  const statements = new PgliteStatements(database)
  let schema = ''

  const replyTo = async (request: WorkerRequest): Promise<WorkerReply> => {
    // PostgreSQL refuses everything but ROLLBACK in an aborted transaction.
    if (request.schema !== schema && request.sql !== 'ROLLBACK') {
      await database.exec(`SET search_path = ${quotedSchema(request.schema)}`)
      schema = request.schema
    }
    const { id, sql, params, rows, keepPlan } = request
    if (params) return { id, rows: await statements.run(schema, { sql, params, rows, keepPlan }) }
    await statements.script(sql)
    return { id, rows: [] }
  }

  // One at a time and in order: the embedded database is a single session.
  let last: Promise<unknown> = Promise.resolve()
  port.on('message', (request: WorkerRequest | 'close') => {
    last = last.then(async () => {
      if (request === 'close') {
        await database.close()
        port.close()
        return
      }
      // A rollback also undoes SET search_path, so it is set again after any error.
      const reply = await replyTo(request).catch((error) => {
        schema = ''
        return { id: request.id, error: describe(error) }
      })
      port.postMessage(reply)
    })
  })
}

/** A packed empty database: unpacking it takes a third of the time that initdb takes. */
async function newDatabase(): Promise<Blob> {
  const { dataDir: pack } = await import('@electric-sql/pglite-prepopulatedfs')
  return pack()
}

function describe(error: unknown): WorkerError {
  const { message, code, constraint } = error as WorkerError
  return { message, code, constraint }
}

open().then(
  () => port.postMessage({ id: 0, rows: [] } satisfies WorkerReply),
  (error) => {
    port.postMessage({ id: 0, error: describe(error) } satisfies WorkerReply)
    port.close()
  },
)
