import { isIP } from 'node:net'
import type { Environment } from '../config.ts'
import { addressRefusal } from '../core/webhooks/address-rules.ts'

const URL_CHARACTERS_MAX = 2_048

/** Which URLs an environment accepts for webhook endpoints. */
export interface UrlRules {
  environment: Environment
  allowLoopback: boolean
}

/**
 * Parses the URL of a webhook endpoint, or says why nothing may be sent to it. A host name is not resolved here: its
 * addresses may change, so every connection checks them.
 */
export function readEndpointUrl(text: string, { environment, allowLoopback }: UrlRules): URL | { problem: string } {
  if (text.length > URL_CHARACTERS_MAX) return { problem: `the URL has more than ${URL_CHARACTERS_MAX} characters` }
  if (!URL.canParse(text)) return { problem: `${JSON.stringify(text)} is not a URL` }
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: 'the URL must start with https://' }
  if (url.protocol === 'http:' && environment === 'production')
    return { problem: 'in production the URL must start with https://' }
  if (url.username || url.password) return { problem: 'the URL may not contain a user name or password' }
  if (url.hash) return { problem: 'the URL may not have a fragment (#…): it is never sent' }
  // The URL parser has normalized decimal, octal, hexadecimal and shortened forms of IPv4 addresses.
  const host = bareHost(url.hostname)
  const refusal = isIP(host) ? addressRefusal(host, { allowLoopback }) : nameRefusal(host, allowLoopback)
  return refusal === undefined ? url : { problem: `nothing may be sent to this URL: ${refusal}` }
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
