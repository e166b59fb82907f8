import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { ConnectionGuard } from './connection-guard.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

// An import reads every export of the module, and reading `WebSocket` loads the HTTP client of Node.js: 50 ms of each start.
const { createServer } = process.getBuiltinModule('node:http')

/** How long a client may take to send a whole request, how often that is checked, and how long it may be idle. */
const TIMEOUTS = {
  requestTimeout: 30_000,
  headersTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 72_000,
}

/** What a request without the header `Host` is told. */
export const NO_HOST = 'The header Host is missing, which HTTP/1.1 requires.'

/** Whether a request lacks the header that HTTP/1.1 requires. Node.js would answer such a request without a word. */
export function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined
}

/** Makes the servers of a port, whose clients are bounded before anything is known of them; for Fastify's `serverFactory`. */
export function guardedServer({ proxies, logger }: { proxies: TrustedProxies; logger: FastifyBaseLogger }) {
  return (listener: RequestListener): Server => {
    const guard = new ConnectionGuard({
      proxies,
      onCut: (connections) => logger.warn({ connections }, 'connections cut off'),
    })
    const server = createServer({ ...TIMEOUTS, requireHostHeader: false }, guard.guarded(listener))
    guard.watch(server)
    return server
  }
}
