import { isIP } from 'node:net'
import type { Environment } from '../config.ts'
import { addressRefusal } from '../core/webhooks/address-rules.ts'

const URL_CHARACTERS_MAX = 2_048

/** Which URLs an environment accepts for webhook endpoints. */
export interface UrlRules {
  environment: Environment
  allowLoopback: boolean
}

/** The URL of a webhook endpoint, or what is wrong with it: what follows “the URL”, such as `cannot be parsed`. */
export type EndpointUrl = { url: URL } | { fault: string }

/**
 * Parses the URL of a webhook endpoint. A host name is not resolved here: its addresses may change, so every connection
 * checks them.
 */
export function readEndpointUrl(text: string, { environment, allowLoopback }: UrlRules): EndpointUrl {
  if (text.length > URL_CHARACTERS_MAX) return { fault: `has more than ${URL_CHARACTERS_MAX} characters` }
  if (!URL.canParse(text)) return { fault: `cannot be parsed: ${JSON.stringify(text)}` }
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { fault: 'must start with https://' }
  if (url.protocol === 'http:' && environment === 'production')
    return { fault: 'must start with https:// in production' }
  if (url.username || url.password) return { fault: 'may not contain a user name or password' }
  if (url.hash) return { fault: 'may not have a fragment (#…), which is never sent' }
  // The URL parser has normalized decimal, octal, hexadecimal and shortened forms of IPv4 addresses.
  const host = bareHost(url.hostname)
  const refusal = isIP(host) ? addressRefusal(host, { allowLoopback }) : nameRefusal(host, allowLoopback)
  return refusal === undefined ? { url } : { fault: `leads to where nothing may be sent: ${refusal}` }
}

/** The URL of a webhook endpoint as it may be shown, stored and logged: path and query are masked, they may hold a token. */
export function maskUrl({ origin, pathname, search }: URL): string {
  return pathname === '/' && search === '' ? `${origin}/` : `${origin}/****`
}

/** Strips the brackets that an IPv6 address has in a URL. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function nameRefusal(host: string, allowLoopback: boolean): string | undefined {
  return !allowLoopback && /(^|\.)localhost\.?$/.test(host) ? `${host} is a loopback address` : undefined
}
