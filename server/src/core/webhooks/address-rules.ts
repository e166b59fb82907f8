import ipaddr from 'ipaddr.js'

/** How the ranges of ipaddr.js are told to people; those that are not listed are told as reserved. */
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

/** Only these are given out on the internet (RFC 4291, section 2.4); all else is local, old or none of ours. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Metadata services that sit on public addresses; all the others are link-local, private, reserved or carrier-grade NAT. */
const METADATA_ADDRESSES = ['168.63.129.16']

/**
 * Why nothing may be sent to an IP address; nothing when it is a public one. Deny by default: an address passes only
 * as plain unicast, so forms that carry another address inside (mapped, NAT64, 6to4, Teredo) never do.
 */
export function addressRefusal(text: string, { allowLoopback }: { allowLoopback: boolean }): string | undefined {
  // Other notations of IPv4 mean different things to different systems; whoever asks has resolved them already.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return `${text} is not an IP address`
  const address = ipaddr.process(text)
  const range = address.range()
  if (range === 'loopback' && allowLoopback) return undefined
  if (METADATA_ADDRESSES.includes(address.toString())) return `${text} is a metadata address`
  if (range !== 'unicast') return `${text} is ${RANGE_NAMES[range] ?? 'a reserved'} address`
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_IPV6)) return `${text} is a reserved address`
  return undefined
}
