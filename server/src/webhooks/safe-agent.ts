import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { addressRefusal } from '../core/webhooks/address-rules.ts'
import { bareHost } from './endpoint-url.ts'
import { NameLookup, type ResolveAll } from './name-lookup.ts'
import { RefusedAddress } from './refused-address.ts'

/** One for the whole process, because all lookups share one thread pool. */
const names = new NameLookup()

/** How long an idle connection is kept open. Receivers may ask for less with `Keep-Alive`, not for more. */
const IDLE = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 }

/** The settings of a safe agent. */
export interface SafeAgentRules {
  allowLoopback: boolean
  timeoutMs: number
  /** Replaced in tests. Every connection checks the addresses that it returns. */
  resolveAll?: ResolveAll
}

/**
 * Creates an agent that connects to public addresses only (SSRF protection).
 * - The connection itself resolves the name and checks every address, so DNS rebinding between check and use is
 *   impossible. One forbidden address refuses the name, even if its other addresses are public.
 * - An address literal is never resolved, so it is checked before connecting.
 * - The remote address of the socket is checked last, before anything is sent.
 * - Redirects are not followed.
 */
export function createSafeAgent({ allowLoopback, timeoutMs, resolveAll = names.find }: SafeAgentRules): Agent {
  const refusalOf = (address: string) => addressRefusal(address, { allowLoopback })
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment has no effect.
    rejectUnauthorized: true,
    lookup: (hostname, options, callback) => {
      resolveAll(hostname).then(
        (addresses) => answerLookup(checkAll(hostname, addresses, refusalOf), options, callback),
        (error: NodeJS.ErrnoException) => callback(error, []),
      )
    },
  } as buildConnector.BuildOptions)

  return new Agent({
    connect(options, callback) {
      const host = bareHost(options.hostname)
      const refusal = isIP(host) ? refusalOf(host) : undefined
      if (refusal !== undefined) return callback(new RefusedAddress(refusal), null)
      connect(options, (...[error, socket]) => {
        if (error) return callback(error, null)
        const socketRefusal = refusalOf(socket.remoteAddress ?? 'no address')
        if (socketRefusal === undefined) return callback(null, socket)
        socket.destroy()
        callback(new RefusedAddress(socketRefusal), null)
      })
    },
    pipelining: 1,
    ...IDLE,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  })
}

function checkAll(
  hostname: string,
  addresses: readonly LookupAddress[],
  refusalOf: (address: string) => string | undefined,
): LookupAddress[] | RefusedAddress {
  for (const { address } of addresses) {
    const refusal = refusalOf(address)
    if (refusal !== undefined) return new RefusedAddress(`${hostname} resolves to a forbidden address: ${refusal}`)
  }
  return [...addresses]
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number | undefined,
) => void

function answerLookup(checked: LookupAddress[] | RefusedAddress, options: LookupOptions, callback: LookupCallback) {
  if (checked instanceof RefusedAddress) return callback(checked, [])
  const [first] = checked
  if (!first) return callback(new Error('the name has no address'), [])
  if (options.all) return callback(null, checked)
  callback(null, first.address, first.family)
}
