import { setTimeout as sleep } from 'node:timers/promises'
import { type HttpConnection, openConnections } from './http-connection.ts'

/** The answers to the requests of one drive. */
export interface Driven {
  /** Answers with a status below 300 per second. */
  perSecond: number
  /** The number of other answers, by status. */
  refused: Record<number, number>
  /** Latencies of the answers with a status below 300, ascending. */
  latenciesMs: number[]
}

/** Makes the text of the next request. */
export type NextRequest = () => string

interface Tally {
  latenciesMs: number[]
  refused: Record<number, number>
}

/** Closed loop, for a time or for a number of requests: each connection sends its next as soon as the last is answered. */
export async function driveClosed(
  port: number,
  {
    connections,
    forMs = Number.POSITIVE_INFINITY,
    count = Number.POSITIVE_INFINITY,
    next,
  }: { connections: number; forMs?: number; count?: number; next: NextRequest },
): Promise<Driven> {
  const opened = await openConnections(port, connections)
  const tally: Tally = { latenciesMs: [], refused: {} }
  const startedMs = performance.now()
  let sent = 0
  const loop = async (connection: HttpConnection) => {
    while (sent++ < count && performance.now() - startedMs < forMs)
      await sendOne(connection, next(), performance.now(), tally)
  }
  await Promise.all(opened.map(loop))
  const elapsedMs = performance.now() - startedMs
  for (const connection of opened) connection.close()
  return driven(tally, elapsedMs)
}

/**
 * Open loop: sends requests at a steady rate, however slow the answers are. Latency counts from the moment a request was
 * due, so a stall of the server also counts for every request that queues behind it.
 */
export async function driveOpen(
  port: number,
  { connections, perSecond, forMs, next }: { connections: number; perSecond: number; forMs: number; next: NextRequest },
): Promise<Driven> {
  const idle = await openConnections(port, connections)
  const all = [...idle]
  const tally: Tally = { latenciesMs: [], refused: {} }
  const count = Math.max(1, Math.round((perSecond * forMs) / 1000))
  const startedMs = performance.now()
  const due = (index: number) => startedMs + (index * 1000) / perSecond
  let nextIndex = 0
  const pending = new Set<Promise<void>>()
  const serve = (): void => {
    while (nextIndex < count && idle.length > 0 && due(nextIndex) <= performance.now()) {
      const connection = idle.pop()!
      const sent = sendOne(connection, next(), due(nextIndex++), tally).then(() => {
        idle.push(connection)
        pending.delete(sent)
        serve()
      })
      pending.add(sent)
    }
  }
  while (nextIndex < count) {
    serve()
    await sleep(1)
  }
  await Promise.all(pending)
  const elapsedMs = performance.now() - startedMs
  for (const connection of all) connection.close()
  return driven(tally, elapsedMs)
}

async function sendOne(connection: HttpConnection, request: string, sinceMs: number, tally: Tally): Promise<void> {
  const { status } = await connection.send(request)
  if (status < 300) tally.latenciesMs.push(performance.now() - sinceMs)
  else tally.refused[status] = (tally.refused[status] ?? 0) + 1
}

function driven({ latenciesMs, refused }: Tally, elapsedMs: number): Driven {
  return {
    perSecond: (latenciesMs.length * 1000) / elapsedMs,
    refused,
    latenciesMs: latenciesMs.sort((a, b) => a - b),
  }
}
