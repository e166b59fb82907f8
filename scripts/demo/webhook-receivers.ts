import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** The port of the first receiver where it is free, so that the URLs of the sample are the same on most machines. */
const FIRST_PORT = 4090

/** How a receiver answers during a part of the history. */
export interface Outage {
  path: string
  from: number
  to: number
  status: number
}

/** The webhook receivers of the sample organization: real HTTP servers on this machine, which run while it is made. */
export class WebhookReceivers {
  readonly #nowMs: () => number
  readonly #outages: readonly Outage[]
  readonly #servers: Server[] = []
  #open = 0

  constructor({ nowMs, outages }: { nowMs: () => number; outages: readonly Outage[] }) {
    this.#nowMs = nowMs
    this.#outages = outages
  }

  /** Starts a receiver on this machine, on a port of its own because lists show the host of a URL; returns its URL. */
  async start(path: string): Promise<string> {
    const listen = (port: number) =>
      new Promise<Server>((resolve, reject) => {
        const server = createServer((request, response) => {
          this.#open++
          response.once('close', () => this.#open--)
          request.resume().once('end', () => {
            const status = this.#statusAt(path)
            response.writeHead(status).end(status === 200 ? 'ok' : 'not now')
          })
        })
        server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server))
      })
    const server = await listen(FIRST_PORT + this.#servers.length).catch(() => listen(0))
    this.#servers.push(server)
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  }

  /** Waits until no delivery is due and none is being answered. */
  async settle(hasDue: () => Promise<boolean>): Promise<void> {
    // The dispatcher leases a due delivery some milliseconds before it connects, so one quiet look is not enough.
    for (let quiet = 0; quiet < 2; ) {
      quiet = this.#open === 0 && !(await hasDue()) ? quiet + 1 : 0
      await setTimeout(4)
    }
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  #statusAt(path: string): number {
    const now = this.#nowMs()
    return this.#outages.find((one) => one.path === path && one.from <= now && now < one.to)?.status ?? 200
  }
}
