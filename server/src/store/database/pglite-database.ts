import { Worker } from 'node:worker_threads'
import {
  type Database,
  DatabaseUnavailable,
  errorOfAnswer,
  type Row,
  type StatementOptions,
  type Transaction,
} from './database.ts'
import { encodeParams } from './encode-params.ts'
import { givenRowsOf } from './kept-plans.ts'
import type { WorkerData, WorkerReply, WorkerRequest } from './pglite-worker.ts'

/**
 * Opens one schema of the embedded database in a folder. It returns before the database is open: statements wait until
 * it is open and `onOpen` has returned, and fail if it cannot be opened.
 */
export function openPglite({
  dataDir,
  syncs,
  schema,
  onOpen,
}: WorkerData & {
  schema: string
  onOpen: () => void
}): Database {
  const worker = new Worker(new URL('./pglite-worker.ts', import.meta.url), {
    workerData: { dataDir, syncs } satisfies WorkerData,
  })
  return databaseOn(new PgliteSession(worker, { dataDir, onOpen }), schema)
}

function databaseOn(session: PgliteSession, schema: string): Database {
  const query = <R extends Row>(sql: string, params: readonly unknown[] = [], { keepPlan }: StatementOptions = {}) =>
    session.betweenTransactions(() => session.send<R>({ schema, sql, params, keepPlan }))
  return {
    schema,
    query,
    within: () => ({ query }), // it is in this process, so there is no connection that could fall silent

    transaction: (work) =>
      session.exclusively(async () => {
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

    durably: (read) => read(), // it has no standby
    inSchema: (other) => databaseOn(session, other),
    close: () => session.close(),
  }
}

/** Rethrows a failed opening with the folder and what to do, because PGlite's own message has neither. */
function rethrowAsUnavailable(dataDir: string): (error: Error) => never {
  return (error) => {
    const [why] = error.message.split('. ')
    throw new DatabaseUnavailable(
      `the embedded database in ${dataDir} cannot be opened (${why}): put a copy of that folder back, or set DATA_DIR to another`,
      { cause: error },
    )
  }
}

/** What a stopped worker was doing can be found out only by the next process that opens the folder. */
const cannotEnd = async () => false

type Waiting = { resolve: (rows: Row[]) => void; reject: (error: Error) => void }

/** Sends requests to the worker thread and matches its replies. */
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
    this.#opened = this.#replyTo(0).catch(rethrowAsUnavailable(dataDir)).then(onOpen)
    this.#opened.catch(() => {
      this.#closed = true // every statement rejects with the error
      return worker.terminate()
    })
    this.#transactionEnd = this.#opened
    this.#exited = new Promise((resolve) => worker.once('exit', () => resolve()))
    worker.on('message', (reply: WorkerReply) => this.#settle(reply))
    worker.on('error', (error) => this.#failAll(error))
    worker.on('exit', () => {
      const wasServing = !this.#closed && !this.#waiting.has(0)
      this.#closed = true
      this.#failAll(new Error('the embedded database has stopped'))
      // PostgreSQL panics when its write-ahead log cannot be written or synced. A server would recover what is on disk; here
      // the next process does, so this one ends.
      if (wasServing) throw new Error('the embedded database has stopped, as it does after an error of the disk')
    })
  }

  send<R extends Row>(request: Omit<WorkerRequest, 'id'>): Promise<R[]> {
    if (this.#closed) return Promise.reject(new DatabaseUnavailable('the embedded database is closed'))
    const { values: params, buffer } = request.params ? encodeParams(request.sql, request.params) : {}
    const id = ++this.#lastId
    const reply = this.#replyTo(id)
    this.#worker.postMessage(
      { ...request, ...(params && { params }), rows: givenRowsOf(request.params ?? []), id } satisfies WorkerRequest,
      buffer ? [buffer] : [],
    )
    return reply as Promise<R[]>
  }

  /** Runs a statement after the open transaction, if any; the worker itself runs statements in order. */
  betweenTransactions<T>(work: () => Promise<T>): Promise<T> {
    return this.#transactionEnd.then(work)
  }

  /** Runs a transaction without other statements in between: PGlite has a single session. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#transactionEnd.then(work)
    // A failed transaction does not block the next one; a failed opening rejects them all.
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

  #replyTo(id: number): Promise<Row[]> {
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
    waiting?.reject(
      code ? errorOfAnswer(message, { code, constraint }) : new DatabaseUnavailable(message, { endSession: cannotEnd }),
    )
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#waiting.values())
      reject(new DatabaseUnavailable(error.message, { cause: error, endSession: cannotEnd }))
    this.#waiting.clear()
  }
}
