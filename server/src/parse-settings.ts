/** Parsers of the settings that are more than a word or a number; each returns undefined for what the setting does not take. */
import { isIP } from 'node:net'
import { OPERATOR_ROLES, type OperatorRole } from './core/vocabularies.ts'

/** The role that a group of the identity provider gives. */
export interface GroupRole {
  group: string
  role: OperatorRole
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
