import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/**
 * Finds the address of the client of a request, also behind reverse proxies.
 *
 * Fastify's `trustProxy` is not used: it would take host and scheme from headers too, and the connection guard has to
 * know the client before Fastify sees the request.
 */
export class TrustedProxies {
  readonly #trusted = new BlockList()
  readonly #hasAny: boolean

  /** Takes addresses and networks in CIDR notation, as the setting `TRUSTED_PROXIES` accepts them. */
  constructor(networks: readonly string[]) {
    this.#hasAny = networks.length > 0
    for (const network of networks) {
      const [address = '', bits] = network.split('/', 2)
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#trusted.addAddress(address, family)
      else this.#trusted.addSubnet(address, Number(bits), family)
    }
  }

  /** Whether an address is that of a trusted proxy. */
  trusts(address: string | undefined): boolean {
    if (!this.#hasAny || address === undefined) return false
    const family = isIP(address)
    return family !== 0 && this.#trusted.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }

  /**
   * The address of the client: the peer of the connection, or, if that is a trusted proxy, the last address of
   * `X-Forwarded-For` that is not one. Each proxy appends its own peer, so what stands before that address is the
   * client's claim, and is not read.
   */
  clientOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    let client = socket.remoteAddress ?? ''
    if (!this.trusts(client)) return client
    const forwarded = headers['x-forwarded-for']
    const claims = (Array.isArray(forwarded) ? forwarded.join() : (forwarded ?? '')).split(',')
    for (const claim of claims.reverse()) {
      const address = withoutPort(claim.trim())
      if (address === undefined) return client
      client = address
      if (!this.trusts(client)) return client
    }
    return client
  }
}

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. Undefined for what is no address. */
function withoutPort(text: string): string | undefined {
  if (isIP(text) !== 0) return text
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1]
  return address !== undefined && isIP(address) !== 0 ? address : undefined
}
