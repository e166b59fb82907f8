import { Worker } from 'node:worker_threads'
import { type Database, DatabaseError, DatabaseUnavailable, type Row, type Transaction } from './database.ts'
import { encodeParams } from './encode-params.ts'
import type { WorkerReply, WorkerRequest } from './pglite-worker.ts'

/**
 * Opens the embedded database in a folder and looks at one schema of it. It goes on opening after this returns: statements
 * wait until it is open and `onOpen` is done, and fail if it cannot be opened.
 */
export function openPglite({
  dataDir,
  schema,
  onOpen,
}: {
  dataDir: string
  schema: string
  onOpen: () => void
}): Database {
  const worker = new Worker(new URL('./pglite-worker.ts', import.meta.url), { workerData: { dataDir } })
  return databaseOn(new PgliteSession(worker, { dataDir, onOpen }), schema)
}

function databaseOn(session: PgliteSession, schema: string): Database {
  return {
    schema,
    query: <R extends Row>(sql: string, params: readonly unknown[] = []) =>
      session.betweenTransactions(() => session.send<R>({ schema, sql, params })),

    transaction: (work) =>
      session.alone(async () => {
        const transaction: Transaction = {
          query: (sql, params = []) => session.send({ schema, sql, params }),
          script: async (sql) => void (await session.send({ schema, sql })),
        }
        await transaction.script('BEGIN')
        try {
          const result = await work(transaction)
          await transaction.script('COMMIT')
          return result
        } catch (error) {
          await transaction.script('ROLLBACK')
          throw error
        }
      }),

    inSchema: (other) => databaseOn(session, other),
    close: () => session.close(),
  }
}

/** PostgreSQL in WebAssembly says little about why it stops; where, and what to do, is known. */
function tellUnopened(dataDir: string): (error: Error) => never {
  return (error) => {
    const [why] = error.message.split('. ')
    throw new DatabaseUnavailable(
      `the embedded database in ${dataDir} cannot be opened (${why}): put a copy of that folder back, or set DATA_DIR to another`,
      { cause: error },
    )
  }
}

type Waiting = { resolve: (rows: Row[]) => void; reject: (error: Error) => void }

/** The conversation with the worker thread. */
class PgliteSession {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #exited: Promise<void>
  #lastId = 0
  /** Rejects if the database cannot be opened, and so does every statement. */
  readonly #opened: Promise<unknown>
  #transactionEnd: Promise<unknown>
  #closed = false

  constructor(worker: Worker, { dataDir, onOpen }: { dataDir: string; onOpen: () => void }) {
    this.#worker = worker
    this.#opened = this.#answerTo(0).catch(tellUnopened(dataDir)).then(onOpen)
    this.#opened.catch(() => worker.terminate()) // whoever asks for anything will hear of it
    this.#transactionEnd = this.#opened
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()))
    worker.on('message', (reply: WorkerReply) => this.#settle(reply))
    worker.on('error', (error) => this.#failAll(error))
    worker.on('exit', () => {
      this.#closed = true
      this.#failAll(new Error('the embedded database has stopped'))
    })
  }

  send<R extends Row>(request: Omit<WorkerRequest, 'id'>): Promise<R[]> {
    if (this.#closed) return Promise.reject(new DatabaseUnavailable('the embedded database is closed'))
    const { values: params, buffer } = request.params ? encodeParams(request.sql, request.params) : {}
    const id = ++this.#lastId
    const answer = this.#answerTo(id)
    this.#worker.postMessage(
      { ...request, ...(params && { params }), id } satisfies WorkerRequest,
      buffer ? [buffer] : [],
    )
    return answer as Promise<R[]>
  }

  /** The worker answers in order, so statements only have to keep out of an open transaction. */
  betweenTransactions<T>(work: () => Promise<T>): Promise<T> {
    return this.#transactionEnd.then(work)
  }

  /** Runs work without anyone else's statements in between: there is only one session, so a transaction takes it whole. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#transactionEnd.then(work)
    // A transaction may fail, and the next begins; a database that could not be opened lets nobody begin.
    this.#transactionEnd = turn.catch(() => this.#opened)
    this.#transactionEnd.catch(() => {})
    return turn
  }

  async close(): Promise<void> {
    if (this.#closed) return this.#exited
    await this.#transactionEnd.catch(() => {})
    this.#closed = true
    this.#worker.postMessage('close')
    await this.#exited
  }

  #answerTo(id: number): Promise<Row[]> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  #settle(reply: WorkerReply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('rows' in reply) {
      waiting?.resolve(reply.rows)
      return
    }
    const { message, code, constraint } = reply.error
    waiting?.reject(code ? new DatabaseError(message, { code, constraint }) : new DatabaseUnavailable(message))
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(new DatabaseUnavailable(error.message, { cause: error }))
    this.#waiting.clear()
  }
}
