import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * One HTTP server of the service, which can be stopped without waiting for idle clients.
 *
 * Fastify closes connections that wait for their next request, and says `Connection: close` on requests that arrive after
 * the stop began. What remains open without this class are connections whose request began before the stop, because
 * their answer keeps them alive, and connections that never sent a byte, which Node.js does not count as idle.
 */
export class Listener {
  readonly #app: FastifyInstance
  readonly #sockets = new Set<Socket>()
  #isStopping = false

  constructor(app: FastifyInstance) {
    this.#app = app
    app.addHook('onSend', (_request, reply, _payload, done) => {
      if (this.#isStopping) reply.header('Connection', 'close')
      done()
    })
    app.server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Loads what the server needs; hooks cannot be added afterwards. */
  async ready(): Promise<void> {
    await this.#app.ready()
  }

  /** Accepts connections on an address, and returns its URL. */
  listen(address: { host: string; port: number }): Promise<string> {
    return this.#app.listen(address)
  }

  /** Stops accepting and waits for requests that have begun; after `finishWithinMs` their connections are cut. */
  async stop(finishWithinMs: number): Promise<void> {
    this.#isStopping = true
    const timeout = setTimeout(() => this.#app.server.closeAllConnections(), finishWithinMs)
    const closed = this.#app.close()
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
    await closed
    clearTimeout(timeout)
  }
}
