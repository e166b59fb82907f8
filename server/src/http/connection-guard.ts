import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from './network-of.ts'

/** What the connections of one listener may hold, before anything is known of their callers. */
export interface ConnectionBounds {
  /** Open connections of all networks together; one network may hold half of them. */
  connectionsMax: number
  /** Requests that may wait behind the one that is being answered on a connection. */
  pipelinedMax: number
  /** The same for all connections of a network together. */
  pipelinedPerNetworkMax: number
  /** How long a client may leave bytes of its answers unread. */
  unreadForMsMax: number
}

/**
 * The bounds of the API's listeners. Proxies and HTTP clients wait for an answer before they send the next request, so
 * they never come near the bounds on pipelining, even if all clients share the address of one proxy.
 */
export const CONNECTION_BOUNDS: ConnectionBounds = {
  connectionsMax: 8_192,
  pipelinedMax: 32,
  pipelinedPerNetworkMax: 1_024,
  unreadForMsMax: 30_000,
}

/** The requests that one network may start before other networks have their turn: a few milliseconds of work. */
const STARTS_PER_TURN = 32
/** The share of the connections that one network may hold. */
const SHARE_MAX = 0.5
const SWEEP_EVERY_MS = 1_000

/** Why a connection was cut off. */
export type CutReason = 'connections' | 'pipelined' | 'unread'

interface Waiting {
  request: IncomingMessage
  response: ServerResponse
}

interface Connection {
  socket: Socket
  network: Network
  /** Requests that were read and not started, oldest first. */
  waiting: Waiting[]
  isAnswering: boolean
  unreadSinceMs: number | undefined
}

interface Network {
  name: string
  connections: number
  /** Requests that were read and not started, of all connections. */
  waiting: number
  /** Connections with a request that may start, in the order in which they became ready. */
  ready: Connection[]
  startedThisTurn: number
}

/**
 * Bounds what clients can take from a listener before they authenticate, and shares the event loop between networks.
 *
 * Node reads pipelined requests as fast as they arrive and starts them all at once, so that a few connections could keep
 * it busy for seconds. Here each connection has one request answered at a time, which also stops a client that does not
 * read its answers; and a network starts at most `STARTS_PER_TURN` requests in each turn of the event loop, so that other
 * networks never wait for more than that. This paces a proxy that sends everything from one address without limiting
 * its rate: the next turn follows at once.
 */
export class ConnectionGuard {
  readonly #bounds: ConnectionBounds
  readonly #nowMs: () => number
  readonly #onCut: (cut: Partial<Record<CutReason, number>>) => void
  readonly #connections = new Map<Socket, Connection>()
  readonly #networks = new Map<string, Network>()
  /** Networks that have started a request in this turn, or have one that is ready. */
  readonly #active = new Set<Network>()
  #isTurnScheduled = false
  #cut: Partial<Record<CutReason, number>> = {}

  constructor({
    bounds = CONNECTION_BOUNDS,
    nowMs = () => performance.now(),
    onCut,
  }: {
    bounds?: ConnectionBounds
    nowMs?: () => number
    /** Is told once a second how many connections were cut off since, if any. */
    onCut: (cut: Partial<Record<CutReason, number>>) => void
  }) {
    this.#bounds = bounds
    this.#nowMs = nowMs
    this.#onCut = onCut
  }

  /** Guards a server that was created with the listener of `guarded`. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#open(socket))
    const sweeping = setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref()
    server.on('close', () => clearInterval(sweeping))
  }

  /** Wraps the listener of a server, so that it is given requests only when they may start. */
  guarded(listener: RequestListener): RequestListener {
    return (request, response) => {
      const connection = this.#connections.get(request.socket)
      // A cut connection still delivers the requests of the bytes that were being parsed.
      if (!connection || request.socket.destroyed) return
      const { network } = connection
      const isPipelined = connection.isAnswering || connection.waiting.length > 0
      if (isPipelined && this.#pipelinesTooMany(connection)) return this.#cutOff(connection, 'pipelined')
      connection.waiting.push({ request, response })
      network.waiting += 1
      if (isPipelined) return
      if (network.startedThisTurn < STARTS_PER_TURN && network.ready.length === 0) this.#start(connection, listener)
      else network.ready.push(connection)
      this.#scheduleTurn(network, listener)
    }
  }

  #pipelinesTooMany({ waiting, network }: Connection): boolean {
    const { pipelinedMax, pipelinedPerNetworkMax } = this.#bounds
    // Each ready connection has one request that waits only for its network's turn.
    return waiting.length >= pipelinedMax || network.waiting - network.ready.length >= pipelinedPerNetworkMax
  }

  #open(socket: Socket): void {
    const name = networkOf(socket.remoteAddress)
    const network = this.#networks.get(name) ?? {
      name,
      connections: 0,
      waiting: 0,
      ready: [],
      startedThisTurn: 0,
    }
    const { connectionsMax } = this.#bounds
    if (this.#connections.size >= connectionsMax || network.connections >= connectionsMax * SHARE_MAX) {
      this.#count('connections')
      socket.destroy()
      return
    }
    this.#networks.set(name, network)
    network.connections += 1
    const connection = { socket, network, waiting: [], isAnswering: false, unreadSinceMs: undefined }
    this.#connections.set(socket, connection)
    socket.once('close', () => this.#close(connection))
  }

  #close(connection: Connection): void {
    const { socket, network } = connection
    this.#connections.delete(socket)
    network.waiting -= connection.waiting.length
    connection.waiting = []
    network.connections -= 1
    if (network.connections === 0) this.#networks.delete(network.name)
  }

  #start(connection: Connection, listener: RequestListener): void {
    const next = connection.waiting.shift()
    if (!next) return
    const { network } = connection
    network.waiting -= 1
    network.startedThisTurn += 1
    connection.isAnswering = true
    // Emitted once all bytes of the answer were handed to the operating system, or the connection was closed.
    next.response.once('close', () => {
      connection.isAnswering = false
      if (connection.waiting.length === 0) return
      network.ready.push(connection)
      this.#scheduleTurn(network, listener)
    })
    listener(next.request, next.response)
  }

  #scheduleTurn(network: Network, listener: RequestListener): void {
    this.#active.add(network)
    if (this.#isTurnScheduled) return
    this.#isTurnScheduled = true
    setImmediate(() => this.#takeTurn(listener))
  }

  #takeTurn(listener: RequestListener): void {
    this.#isTurnScheduled = false
    const active = [...this.#active]
    this.#active.clear()
    for (const network of active) {
      network.startedThisTurn = 0
      const ready = network.ready.splice(0, STARTS_PER_TURN)
      for (const connection of ready) this.#start(connection, listener)
      if (network.startedThisTurn > 0 || network.ready.length > 0) this.#scheduleTurn(network, listener)
    }
  }

  /** Cuts off clients that do not read their answers. */
  #sweep(): void {
    const now = this.#nowMs()
    for (const connection of this.#connections.values()) {
      if (connection.socket.writableLength === 0) connection.unreadSinceMs = undefined
      else {
        connection.unreadSinceMs ??= now
        if (now - connection.unreadSinceMs >= this.#bounds.unreadForMsMax) this.#cutOff(connection, 'unread')
      }
    }
    if (Object.keys(this.#cut).length === 0) return
    this.#onCut(this.#cut)
    this.#cut = {}
  }

  #cutOff({ socket }: Connection, reason: CutReason): void {
    this.#count(reason)
    // The parser goes on to the end of the bytes it was given. Without its callback, the requests among them get no
    // response object and need not be aborted one by one, which took most of the time of a flood:
    // 100 connections with 400 requests each took 1.3 to 2 s, and take 0.4 s. Undocumented, so it may be missing.
    const { parser } = socket as Socket & { parser?: { onIncoming?: unknown } }
    if (typeof parser?.onIncoming === 'function') parser.onIncoming = ignoreRequest
    socket.destroy()
  }

  #count(reason: CutReason): void {
    this.#cut[reason] = (this.#cut[reason] ?? 0) + 1
  }
}

/** Stands in for Node's own callback for a parsed request; 0 means that its body, if any, is parsed as usual. */
const ignoreRequest = () => 0
