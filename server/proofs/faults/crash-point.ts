/**
 * Loaded with `--import` into a service that is to kill itself (SIGKILL) at a named point. The service's code does not
 * know of it: it counts the statements that go to the database, and sees the answers that go to clients.
 */
import { ServerResponse } from 'node:http'
import { Worker } from 'node:worker_threads'
import pg from 'pg'

/** The points at which a service can be killed. */
export const CRASH_POINTS = ['before statement', 'statement sent', 'before answer', 'answer sent'] as const

/** Where to kill: at the n-th statement from the one that contains a marker on, or at the next answer after that one. */
export interface CrashAt {
  point: (typeof CRASH_POINTS)[number]
  marker: string
  statement?: number
}

/** The settings with which a process started by tests kills itself. */
export function crashAt(at: CrashAt): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.filename}`, CRASH_AT: JSON.stringify(at) }
}

if (process.env.CRASH_AT) arm(JSON.parse(process.env.CRASH_AT))

function arm({ point, marker, statement = 0 }: CrashAt): void {
  let seen = -1
  const crash = () => process.kill(process.pid, 'SIGKILL')

  /** Sends a statement, and kills the process before or after it if it is the one. */
  const send = <T>(text: string, original: () => T): T => {
    if (seen >= 0 || text.includes(marker)) seen++
    if (point === 'before statement' && seen === statement) crash()
    const result = original()
    if (point === 'statement sent' && seen === statement) crash()
    return result
  }

  const { postMessage } = Worker.prototype
  Worker.prototype.postMessage = function (message, transfer) {
    const request = message as { sql?: string; params?: unknown }
    const bytes = (transfer ?? []).map((part) => Buffer.from(part as ArrayBuffer).toString('latin1'))
    const text = `${request.sql}${JSON.stringify(request.params)}${bytes.join()}`
    return send(text, () => postMessage.call(this, message, transfer))
  }

  // biome-ignore lint/suspicious/noExplicitAny: `query` has seven signatures, and this passes on any of them.
  const prototype = pg.Client.prototype as any
  const { query } = prototype
  prototype.query = function (...args: unknown[]) {
    return send(JSON.stringify(args[0]), () => query.apply(this, args))
  }

  const { end } = ServerResponse.prototype
  ServerResponse.prototype.end = function (this: ServerResponse, ...args: unknown[]) {
    if (seen < 0) return end.apply(this, args as never)
    if (point === 'before answer') crash()
    if (point === 'answer sent') this.once('finish', () => setImmediate(crash))
    return end.apply(this, args as never)
  } as typeof end
}
