import type { Environment } from '../config.ts'
import { readApiKey } from '../security/api-key.ts'
import type { ApiKey } from '../store/queries/api-keys.ts'
import { type Failure, fail } from './api-error.ts'

/** How long a key that was looked up is believed. A revocation is felt on every node within a second. */
const KEY_FRESH_MS = 500
/** More keys than this are not remembered; looking one up again costs a shared read. */
const KEYS_REMEMBERED_MAX = 10_000

type AuthenticationFailure = Failure<
  'api_key_missing' | 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' | 'wrong_environment'
>

/** Finds out whose key a request carries. */
export type Authenticate = (authorization: string | undefined, nowMs: number) => Promise<ApiKey | AuthenticationFailure>

/** Creates the check of keys for one environment. */
export function createAuthenticate({
  environment,
  baseUrls,
  apiKeyByHash,
}: {
  environment: Environment
  baseUrls: Record<Environment, string>
  apiKeyByHash: (hash: string) => Promise<ApiKey | undefined>
}): Authenticate {
  const remembered = new Map<string, { key: ApiKey; untilMs: number }>()

  async function lookUp(hash: string, nowMs: number): Promise<ApiKey | undefined> {
    const known = remembered.get(hash)
    if (known && nowMs < known.untilMs) return known.key
    const key = await apiKeyByHash(hash)
    if (!key) {
      remembered.delete(hash)
      return undefined
    }
    if (remembered.size >= KEYS_REMEMBERED_MAX) remembered.clear()
    // The time before the look-up counts: what was read is no newer than that.
    remembered.set(hash, { key, untilMs: nowMs + KEY_FRESH_MS })
    return key
  }

  return async (authorization, nowMs) => {
    const text = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
    if (!text) return fail('api_key_missing', { headers: CHALLENGE })

    const read = readApiKey(text)
    if (read === 'malformed') return fail('api_key_invalid', { headers: CHALLENGE })
    if (read.environment !== environment) {
      const message = `This is a ${read.environment} key, and this is the ${environment} environment. Send ${read.environment} requests to ${baseUrls[read.environment]}.`
      return fail('wrong_environment', { message, headers: CHALLENGE })
    }
    const key = await lookUp(read.hash, nowMs)
    if (!key) return fail('api_key_invalid', { headers: CHALLENGE })
    if (key.revoked_at) return fail('api_key_revoked', { headers: CHALLENGE })
    if (key.expires_at && Date.parse(key.expires_at) <= nowMs) return fail('api_key_expired', { headers: CHALLENGE })
    return key
  }
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' }
