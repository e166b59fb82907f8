/** Runs the embedded database in a thread of its own, so that the event loop of the service stays free. */
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { PLANNING, quotedSchema, typeParsers } from './database.ts'
import { holdsDatabase } from './database-folder.ts'
import { PgliteStatements } from './pglite-statements.ts'

/** One message of the main thread: a statement with parameters, or a script without. */
export interface WorkerRequest {
  id: number
  schema: string
  sql: string
  params?: readonly unknown[]
}

/** The answer to the request of the same id. Id 0 says whether the database opened. */
export type WorkerReply = { id: number; rows: Record<string, unknown>[] } | { id: number; error: WorkerError }

/** An error in a form that survives the way between threads. */
export interface WorkerError {
  message: string
  code?: string | undefined
  constraint?: string | undefined
}

const port = parentPort!
const { dataDir } = workerData as { dataDir: string }

async function open(): Promise<void> {
  const database = await PGlite.create({
    dataDir,
    ...(!holdsDatabase(dataDir) && { loadDataDir: await newDatabase() }),
    parsers: typeParsers,
  })
  const settings = Object.entries({ timezone: 'UTC', ...PLANNING })
  await database.exec(settings.map(([name, value]) => `SET ${name} = '${value}'`).join('; '))
  const statements = new PgliteStatements(database)
  let schema = ''

  const answer = async (request: WorkerRequest): Promise<WorkerReply> => {
    // In an aborted transaction nothing but its end is allowed.
    if (request.schema !== schema && request.sql !== 'ROLLBACK') {
      await database.exec(`SET search_path = ${quotedSchema(request.schema)}`)
      schema = request.schema
    }
    if (!request.params) {
      await database.exec(request.sql)
      return { id: request.id, rows: [] }
    }
    return { id: request.id, rows: await statements.run(schema, request.sql, request.params) }
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
      // A rolled back SET takes the search_path with it, so after any error it is set anew.
      const reply = await answer(request).catch((error) => {
        schema = ''
        return { id: request.id, error: describe(error) }
      })
      port.postMessage(reply)
    })
  })
}

/** The files of an empty database, packed: to unpack them takes a third of the time of having PostgreSQL make them. */
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
