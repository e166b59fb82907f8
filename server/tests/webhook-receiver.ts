/** A receiver of webhooks for tests: a real HTTP server on loopback that remembers what came and answers as it is told. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'

/** One request that came in. */
export interface Received {
  id: string
  path: string
  headers: Record<string, string>
  body: string
  event: { id: string; type: string; timestamp: string; environment: string; data: Record<string, unknown> }
}

/** How to answer; nothing in particular is a 204 at once. */
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
  /** The most requests that were open at one moment. */
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

/** Whether a request was signed with this secret just now, by the reference library. */
export function isSignedBy(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

/** Waits until something holds, for as long as a slow machine may need. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`gave up waiting: ${what}`)
    await sleep(20)
  }
}
