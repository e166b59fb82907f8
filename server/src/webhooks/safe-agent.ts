import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { addressRefusal } from '../core/webhooks/address-rules.ts'
import { bareHost } from './endpoint-url.ts'
import { NameLookup, type ResolveAll } from './name-lookup.ts'
import { RefusedAddress } from './refused-address.ts'

/** One for the whole process, because its threads are. */
const names = new NameLookup()

/** How long a connection is kept for the next request. Receivers may ask for less, not for more. */
const IDLE = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 }

/** What an agent may do. */
export interface SafeAgentRules {
  allowLoopback: boolean
  timeoutMs: number
  /** The system's resolver, unless a test brings its own. What it answers is checked again for every connection. */
  resolveAll?: ResolveAll
}

/**
 * Connects to public addresses only. A name is resolved by the connection itself, and every address it has is
 * checked: there is no moment between check and use in which it could change, and one bad record among good ones refuses
 * them all. An address literal never reaches a resolver, so it is checked before; and in the end the address that the
 * socket really has is checked, before anything is sent. Redirects are not followed.
 */
export function createSafeAgent({ allowLoopback, timeoutMs, resolveAll = names.find }: SafeAgentRules): Agent {
  const refusalOf = (address: string) => addressRefusal(address, { allowLoopback })
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment changes nothing.
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
        const late = refusalOf(socket.remoteAddress ?? 'no address')
        if (late === undefined) return callback(null, socket)
        socket.destroy()
        callback(new RefusedAddress(late), null)
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
    if (refusal !== undefined) return new RefusedAddress(`${hostname} leads there: ${refusal}`)
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
