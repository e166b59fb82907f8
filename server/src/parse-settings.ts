/** The values that settings take, and their parsers; each parser returns undefined for what its setting does not take. */
import { isIP } from 'node:net'
import { OPERATOR_ROLES, type OperatorRole } from './core/vocabularies.ts'

/** The role that a group of the identity provider gives. */
export interface GroupRole {
  group: string
  role: OperatorRole
}

/** The values that a setting takes: in words, and as a parser that returns undefined for every other value. */
export interface Allowed<V> {
  words: string
  parse(text: string): V | undefined
  /** Set where a value may hold a password: no message repeats it. */
  secret?: true
}

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number): Allowed<number> {
  return {
    words: `a whole number from ${min} to ${max}`,
    parse(text) {
      // Number() alone would take 1e3, 0x10 and an empty text.
      const value = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN
      return value >= min && value <= max ? value : undefined
    },
  }
}

/** A number of days, at least `min`; `because` says why not fewer. */
export function days(min: number, because = ''): Allowed<number> {
  const { words, parse } = wholeNumber(min, 3_650)
  return { words: because ? `${words} (${because})` : words, parse }
}

/** One of some words. */
export function oneOf<const Word extends string>(...allowed: Word[]): Allowed<Word> {
  return { words: `one of ${allowed.join(', ')}`, parse: (text) => allowed.find((word) => word === text) }
}

/** A URL may hold a password, so it is a secret. */
export function url(...schemes: string[]): Allowed<string> {
  return {
    words: `a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    parse: (text) =>
      URL.canParse(text) && schemes.includes(new URL(text).protocol) ? text.replace(/\/$/, '') : undefined,
    secret: true,
  }
}

/**
 * Whether a text is the URL of an identity provider. Plain HTTP would let an attacker on the network sign in as any operator, so
 * it is for tests on one machine only.
 */
export function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** Whether the host of a URL is this machine. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** Parses IP addresses and networks in CIDR notation, with commas between them. */
export function parseNetworks(text: string): readonly string[] | undefined {
  const networks = text.split(',').map((network) => network.trim())
  return networks.every(isNetwork) ? networks : undefined
}

/** Whether a text is an IP address, or a network in CIDR notation. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}

/** Parses groups with their roles. Names of groups may contain `=`: the last one separates the role. */
export function parseGroupRoles(text: string): GroupRole[] | undefined {
  const pairs = text.split(',').map((pair) => {
    const separator = pair.lastIndexOf('=')
    const role = OPERATOR_ROLES.find((known) => known === pair.slice(separator + 1).trim())
    return { group: pair.slice(0, Math.max(separator, 0)).trim(), role }
  })
  return pairs.every((pair): pair is GroupRole => pair.group !== '' && pair.role !== undefined) ? pairs : undefined
}

/** The URLs of the servers that a connection URL names: one for each of its hosts, with all else that it says. */
export function parseServers(text: string): readonly string[] | undefined {
  const {
    before,
    hosts,
    after = '',
  } = /^(?<before>postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?<hosts>[^@/?#]*)(?<after>.*)$/i.exec(text.trim())?.groups ?? {}
  if (hosts === undefined) return undefined
  const urls = hosts.split(',').map((host) => `${before}${host}${after}`.replace(/\/$/, ''))
  // With several hosts, none may be named elsewhere, and no part of a password may be taken for one.
  if (urls.length > 1 && /@|[?&](?:host|port)=/.test(after)) return undefined
  return urls.every((url) => URL.canParse(url) && (urls.length === 1 || new URL(url).hostname !== ''))
    ? urls
    : undefined
}
