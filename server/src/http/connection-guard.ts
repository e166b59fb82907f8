import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from './network-of.ts'
import { TrustedProxies } from './trusted-proxies.ts'

/** What the connections of one listener may hold, before anything is known of their callers. */
export interface ConnectionBounds {
  /**
   * Open connections of all networks together; one network may hold half of them. A trusted proxy may hold all, and each
   * client behind it half, by requests that are not answered yet.
   */
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
  /** Of the client: the network of the connection, except behind a trusted proxy. */
  network: Network
}

interface Connection {
  socket: Socket
  network: Network
  isProxy: boolean
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
  /** Requests that were started and not answered, of all connections. */
  answering: number
  /** Connections whose next request is of this network and may start, in the order in which they became ready. */
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
 * its rate: the next turn follows at once. Behind a trusted proxy, the turns are those of the clients that it names.
 */
export class ConnectionGuard {
  readonly #bounds: ConnectionBounds
  readonly #nowMs: () => number
  readonly #proxies: TrustedProxies
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
    proxies = new TrustedProxies([]),
    onCut,
  }: {
    bounds?: ConnectionBounds
    nowMs?: () => number
    proxies?: TrustedProxies
    /** Is told once a second how many connections were cut off since, if any. */
    onCut: (cut: Partial<Record<CutReason, number>>) => void
  }) {
    this.#bounds = bounds
    this.#nowMs = nowMs
    this.#proxies = proxies
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
      const network = connection.isProxy
        ? this.#networkNamed(networkOf(this.#proxies.clientOf(request)))
        : connection.network
      const isPipelined = connection.isAnswering || connection.waiting.length > 0
      if (isPipelined && this.#pipelinesTooMany(connection, network)) {
        this.#cutOff(connection, 'pipelined')
        return this.#forgetUnused(network)
      }
      if (connection.isProxy && !isPipelined && this.#holdsTooMany(network)) {
        this.#cutOff(connection, 'connections')
        return this.#forgetUnused(network)
      }
      connection.waiting.push({ request, response, network })
      network.waiting += 1
      if (isPipelined) return
      if (network.startedThisTurn < STARTS_PER_TURN && network.ready.length === 0) this.#start(connection, listener)
      else network.ready.push(connection)
      this.#scheduleTurn(network, listener)
    }
  }

  #pipelinesTooMany({ waiting }: Connection, network: Network): boolean {
    const { pipelinedMax, pipelinedPerNetworkMax } = this.#bounds
    // Each ready connection has one request that waits only for its network's turn.
    return waiting.length >= pipelinedMax || network.waiting - network.ready.length >= pipelinedPerNetworkMax
  }

  /** Whether a client behind a proxy has its share of the connections, by requests that are not answered yet. */
  #holdsTooMany({ answering, ready }: Network): boolean {
    return answering + ready.length >= this.#bounds.connectionsMax * SHARE_MAX
  }

  #open(socket: Socket): void {
    const isProxy = this.#proxies.trusts(socket.remoteAddress)
    const network = this.#networkNamed(networkOf(socket.remoteAddress))
    const { connectionsMax } = this.#bounds
    const networkMax = isProxy ? connectionsMax : connectionsMax * SHARE_MAX
    if (this.#connections.size >= connectionsMax || network.connections >= networkMax) {
      this.#count('connections')
      socket.destroy()
      this.#forgetUnused(network)
      return
    }
    network.connections += 1
    const connection = { socket, network, isProxy, waiting: [], isAnswering: false, unreadSinceMs: undefined }
    this.#connections.set(socket, connection)
    socket.once('close', () => this.#close(connection))
  }

  #close({ socket, network, waiting }: Connection): void {
    this.#connections.delete(socket)
    for (const { network: ofRequest } of waiting.splice(0)) {
      ofRequest.waiting -= 1
      this.#forgetUnused(ofRequest)
    }
    network.connections -= 1
    this.#forgetUnused(network)
  }

  #networkNamed(name: string): Network {
    const known = this.#networks.get(name)
    if (known) return known
    const network = { name, connections: 0, waiting: 0, answering: 0, ready: [], startedThisTurn: 0 }
    this.#networks.set(name, network)
    return network
  }

  /** Forgets a network that holds nothing. One that is active still has what it started in this turn. */
  #forgetUnused(network: Network): void {
    const { connections, waiting, answering } = network
    if (connections + waiting + answering === 0 && !this.#active.has(network)) this.#networks.delete(network.name)
  }

  #start(connection: Connection, listener: RequestListener): void {
    const next = connection.waiting.shift()
    if (!next) return
    next.network.waiting -= 1
    next.network.answering += 1
    next.network.startedThisTurn += 1
    connection.isAnswering = true
    // Emitted once all bytes of the answer were handed to the operating system, or the connection was closed.
    next.response.once('close', () => {
      connection.isAnswering = false
      next.network.answering -= 1
      this.#forgetUnused(next.network)
      const following = connection.waiting[0]
      if (!following) return
      following.network.ready.push(connection)
      this.#scheduleTurn(following.network, listener)
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
      else this.#forgetUnused(network)
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
