import { hash } from 'node:crypto'
import type { IDToken } from 'openid-client'

/** Clocks of the provider and of this node may differ by this much. */
const CLOCKS_DIFFER_SECONDS = 60

/** An ID token whose signature, issuer, audience, nonce and expiry were checked, with the access token that came with it. */
export interface ReceivedTokens {
  idToken: string
  claims: IDToken
  accessToken: string
}

/**
 * Checks what `openid-client` leaves to its caller: the token was not issued in the future, and its access token is the one
 * that it was issued with (OpenID Connect Core 1.0, section 3.1.3.8). Throws if either does not hold.
 */
export function checkIdToken({ idToken, claims, accessToken }: ReceivedTokens, nowMs: number): void {
  if (claims.iat > nowMs / 1_000 + CLOCKS_DIFFER_SECONDS)
    throw new Error('the ID token was issued in the future ("iat")')
  const { at_hash: stated } = claims
  if (stated !== undefined && stated !== accessTokenHash(algorithmOf(idToken), accessToken))
    throw new Error('the ID token was issued with another access token ("at_hash")')
}

/** The left half of the hash that the signature of the ID token uses; undefined for an algorithm that is not known. */
function accessTokenHash(algorithm: string, accessToken: string): string | undefined {
  const bits = /^(?:RS|PS|ES)(256|384|512)$/.exec(algorithm)?.[1] ?? (/^Ed/.test(algorithm) ? '512' : undefined)
  if (bits === undefined) return undefined
  const digest = hash(`sha${bits}`, accessToken, 'buffer')
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

function algorithmOf(idToken: string): string {
  const header = JSON.parse(Buffer.from(idToken.split('.', 1)[0]!, 'base64url').toString()) as { alg?: unknown }
  return String(header.alg)
}
