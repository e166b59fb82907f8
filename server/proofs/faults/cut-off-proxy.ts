/** A TCP proxy before PostgreSQL, or before the service itself, that fails on request, in the ways in which networks fail. */
import { createConnection, createServer, type Socket } from 'node:net'

interface Pair {
  client: Socket
  server: Socket
}

/** A fault of the one connection that sends a statement with a certain text. */
interface Trap {
  text: string
  spring(pair: Pair, statement: Buffer): void
}

/** A proxy on a loopback port and its faults; `pass` ends them. */
export class CutOffProxy {
  readonly #target: { host: string; port: number }
  readonly #listener = createServer((client) => this.#accept(client))
  readonly #pairs = new Set<Pair>()
  readonly #held = new Set<Socket>()
  #mode: 'pass' | 'freeze' | 'refuse' = 'pass'
  #trap: Trap | undefined
  #isPooler = false

  constructor(target: { host: string; port: number }) {
    this.#target = target
  }

  /** Listens on a free port and returns it. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#listener.listen(0, '127.0.0.1', resolve))
    return (this.#listener.address() as { port: number }).port
  }

  /** Passes everything on again, and delivers what was held back. */
  pass(): void {
    this.#mode = 'pass'
    for (const socket of this.#held) socket.resume()
    this.#held.clear()
  }

  /** Keeps all connections open, old and new, and forwards nothing. */
  freeze(): void {
    this.#mode = 'freeze'
    for (const { client, server } of this.#pairs) this.#hold(client, server)
  }

  /** Keeps the open connections and forwards nothing on them, ever: half-open connections. New ones are passed on. */
  abandon(): void {
    for (const { client, server } of this.#pairs) {
      for (const socket of [client, server]) socket.removeAllListeners('data').pause()
    }
  }

  /** Resets the open connections and every new one. */
  refuse(): void {
    this.#mode = 'refuse'
    this.#drop()
  }

  /** Forwards the next statement that contains a text, and nothing that comes back on its connection. */
  swallowAnswerTo(text: string): void {
    const spring = ({ server }: Pair, statement: Buffer) => {
      server.removeAllListeners('data').resume()
      server.write(statement)
    }
    this.#trap = { text, spring }
  }

  /** Holds back the next statement that contains a text, until `pass`. */
  holdStatementWith(text: string): void {
    const spring = ({ client }: Pair, statement: Buffer) => {
      this.#hold(client)
      client.unshift(statement)
    }
    this.#trap = { text, spring }
  }

  /** Forwards the next statement that contains a text, and resets its connection when the answer comes. */
  resetAnswerTo(text: string): void {
    const spring = ({ client, server }: Pair, statement: Buffer) => {
      server.removeAllListeners('data').once('data', () => client.resetAndDestroy())
      server.write(statement)
    }
    this.#trap = { text, spring }
  }

  /** Forwards the next statement that contains a text, and is as after `refuse` from the moment when its answer comes. */
  refuseFromAnswerTo(text: string): void {
    const spring = ({ server }: Pair, statement: Buffer) => {
      server.removeAllListeners('data').once('data', () => this.refuse())
      server.write(statement)
    }
    this.#trap = { text, spring }
  }

  /** Ends all connections, and names another process than PostgreSQL's own on new ones, as poolers do. */
  actAsPooler(): void {
    this.#isPooler = true
    this.#drop()
  }

  async close(): Promise<void> {
    this.#drop()
    await new Promise((resolve) => this.#listener.close(resolve))
  }

  #accept(client: Socket): void {
    if (this.#mode === 'refuse') {
      client.resetAndDestroy()
      return
    }
    const pair = { client, server: createConnection(this.#target) }
    this.#pairs.add(pair)
    if (this.#isPooler) pair.server.on('data', replaceProcessId)
    this.#forward(pair, pair.client, pair.server)
    this.#forward(pair, pair.server, pair.client)
    if (this.#mode === 'freeze') this.#hold(pair.client, pair.server)
  }

  #forward(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (bytes) => {
      const trap = this.#trap
      if (!trap || from !== pair.client || !bytes.includes(trap.text)) {
        to.write(bytes)
        return
      }
      this.#trap = undefined
      trap.spring(pair, bytes)
    })
    from.on('error', () => {})
    from.on('close', () => {
      this.#pairs.delete(pair)
      // A held connection hides the end of the other side as well.
      if (!this.#held.has(to)) to.end()
    })
  }

  #hold(...sockets: Socket[]): void {
    for (const socket of sockets) {
      socket.pause()
      this.#held.add(socket)
    }
  }

  #drop(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy()
      server.resetAndDestroy()
    }
    this.#pairs.clear()
  }
}

/** How PostgreSQL's message BackendKeyData begins: its type and its length. The process id follows. */
const BACKEND_KEY_DATA = Buffer.from('K\0\0\0\x0c')

/** Changes the process id in place, before the bytes are forwarded. */
function replaceProcessId(bytes: Buffer): void {
  const start = bytes.indexOf(BACKEND_KEY_DATA)
  if (start >= 0) bytes.writeUInt32BE(1, start + BACKEND_KEY_DATA.length)
}
