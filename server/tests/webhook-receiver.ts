/** A webhook receiver for tests: an HTTP server on loopback that records requests and answers as the test says. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'

/** One request that was received. */
export interface Received {
  id: string
  path: string
  headers: Record<string, string>
  body: string
  event: { id: string; type: string; timestamp: string; environment: string; data: Record<string, unknown> }
}

/** How to answer; by default, with 204 and without delay. */
export interface Answer {
  status?: number
  headers?: Record<string, string | string[]>
  body?: string
  delayMs?: number
}

/** A running receiver. */
export interface Receiver {
  url: string
  received: Received[]
  /** The largest number of requests that were open at the same time. */
  mostAtOnce(): number
  close(): Promise<void>
}

/** Starts a receiver. */
export async function startReceiver(
  answer: (received: Received) => Answer | undefined = () => ({}),
): Promise<Receiver> {
  const received: Received[] = []
  let open = 0
  let mostAtOnce = 0
  const server = createServer(async (request, response) => {
    mostAtOnce = Math.max(mostAtOnce, ++open)
    response.once('close', () => {
      open -= 1
    })
    const body = await text(request)
    const headers = request.headers as Record<string, string>
    const one = { id: headers['webhook-id']!, path: request.url!, headers, body, event: JSON.parse(body || '{}') }
    received.push(one)
    const { status = 204, headers: answered = {}, body: answerBody = '', delayMs = 0 } = answer(one) ?? {}
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
    response.writeHead(status, answered).end(answerBody)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    mostAtOnce: () => mostAtOnce,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Whether the reference library accepts the signature and the timestamp of a request. */
export function isSignedBy(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

/** Polls until a condition holds; fails after a time that is enough for a slow machine. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 90_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`gave up waiting: ${what}`)
    await sleep(20)
  }
}
