import ipaddr from 'ipaddr.js'

/** How error messages name the ranges of ipaddr.js; all other ranges are called reserved. */
const RANGE_NAMES: Record<string, string> = {
  unspecified: 'an unspecified',
  loopback: 'a loopback',
  linkLocal: 'a link-local',
  private: 'a private',
  uniqueLocal: 'a private',
  carrierGradeNat: 'a carrier-grade NAT',
  multicast: 'a multicast',
  broadcast: 'a broadcast',
}

/** The only global unicast block (RFC 4291, section 2.4); other blocks are local, deprecated or unassigned. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Cloud metadata services on public addresses; the others are link-local, private, reserved or carrier-grade NAT. */
const METADATA_ADDRESSES = ['168.63.129.16']

/**
 * Says why webhooks may not be sent to an IP address; undefined for a public address. Deny by default: only plain
 * unicast passes. An IPv4-mapped address is judged as the IPv4 address inside; NAT64, 6to4 and Teredo are refused.
 */
export function addressRefusal(text: string, { allowLoopback }: { allowLoopback: boolean }): string | undefined {
  // Other notations of IPv4 mean different addresses to different systems; the URL parser has normalized them before.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return `${text} is not an IP address`
  const address = ipaddr.process(text)
  const range = address.range()
  if (range === 'loopback' && allowLoopback) return undefined
  if (METADATA_ADDRESSES.includes(address.toString())) return `${text} is a metadata address`
  if (range !== 'unicast') return `${text} is ${RANGE_NAMES[range] ?? 'a reserved'} address`
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_IPV6)) return `${text} is a reserved address`
  return undefined
}
