import type { IncomingHttpHeaders } from 'node:http'

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']

/**
 * Whether the console's own page sent a request, by the headers that browsers set and pages cannot: `Origin`, which is
 * required, and `Sec-Fetch-Site`. `localPort` is the port that the request came in on, for a base URL with port 0.
 */
export function isSameOrigin(
  { origin, 'sec-fetch-site': site }: IncomingHttpHeaders,
  { baseUrl, localPort }: { baseUrl: string; localPort: number | undefined },
): boolean {
  if (site !== undefined && site !== 'same-origin') return false
  if (origin === undefined || !URL.canParse(origin)) return false
  const own = new URL(baseUrl)
  const given = new URL(origin)
  if (given.origin !== origin || given.protocol !== own.protocol) return false
  const ownPort = own.port === '0' ? String(localPort) : own.port
  if (given.port !== ownPort) return false
  // A person may type any name of this machine; pages of other hosts have none of them.
  if (LOOPBACK_NAMES.includes(own.hostname)) return LOOPBACK_NAMES.includes(given.hostname)
  return given.hostname === own.hostname
}
