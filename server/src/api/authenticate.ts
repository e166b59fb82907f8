import type { KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Environment } from '../config.ts'
import { hashApiKey, readApiKey } from '../security/api-key.ts'
import { apiKeyState, type KeyState } from '../security/api-key-state.ts'
import type { ApiKey } from '../store/environment/api-keys.ts'
import { type Failure, fail } from './api-error.ts'

/** How long a cached key is used before it is read again: a revocation takes effect on every node within a second. */
const KEY_TTL_MS = 500
const KEYS_CACHED_MAX = 10_000

type AuthenticationFailure = Failure<
  'api_key_missing' | 'api_key_invalid' | 'api_key_revoked' | 'api_key_expired' | 'wrong_environment'
>

/** Finds the API key in the `Authorization` headers of a request, or says why it is refused. */
export type Authenticate = (authorizations: readonly string[], nowMs: number) => Promise<ApiKey | AuthenticationFailure>

/** Creates the check of API keys for one environment. */
export function createAuthenticate({
  environment,
  baseUrls,
  hashKey,
  apiKeyByHash,
}: {
  environment: Environment
  baseUrls: Record<Environment, string>
  hashKey: KeyObject
  apiKeyByHash: (hash: string) => Promise<ApiKey | undefined>
}): Authenticate {
  const cache = new LRUCache<string, { key: ApiKey; untilMs: number }>({ max: KEYS_CACHED_MAX })

  async function lookUp(hash: string, nowMs: number): Promise<ApiKey | undefined> {
    const cached = cache.get(hash)
    if (cached && nowMs < cached.untilMs) return cached.key
    const key = await apiKeyByHash(hash)
    // The TTL runs from before the read: the row is no newer than that.
    if (key) cache.set(hash, { key, untilMs: nowMs + KEY_TTL_MS })
    else cache.delete(hash)
    return key
  }

  return async (authorizations, nowMs) => {
    if (authorizations.length > 1) {
      const message = `The request has ${authorizations.length} Authorization headers. Send one.`
      return fail('api_key_invalid', { message, headers: CHALLENGE })
    }
    const text = /^Bearer +(\S+) *$/i.exec(authorizations[0] ?? '')?.[1]
    if (!text) return fail('api_key_missing', { headers: CHALLENGE })

    const read = readApiKey(text)
    if (read === 'malformed') return fail('api_key_invalid', { headers: CHALLENGE })
    if (read.environment !== environment) {
      const message = `This is a ${read.environment} key, and this is the ${environment} environment. Send ${read.environment} requests to ${baseUrls[read.environment]}.`
      return fail('wrong_environment', { message, headers: CHALLENGE })
    }
    const key = await lookUp(hashApiKey(hashKey, text), nowMs)
    if (!key) return fail('api_key_invalid', { headers: CHALLENGE })
    return refusalOf(apiKeyState(key, nowMs)) ?? key
  }
}

/** Why a key in this state is refused. Disabled and replaced keys have no code of their own in the API's contract. */
function refusalOf(state: KeyState): Failure<'api_key_revoked' | 'api_key_expired'> | undefined {
  const headers = CHALLENGE
  if (state === 'revoked') return fail('api_key_revoked', { headers })
  if (state === 'disabled')
    return fail('api_key_revoked', {
      headers,
      message: 'This API key is disabled. Use another key, or ask an operator to enable it in the console.',
    })
  if (state === 'expired') return fail('api_key_expired', { headers })
  if (state === 'replaced')
    return fail('api_key_expired', {
      headers,
      message: 'This API key was rotated and its grace period is over. Use the key that replaced it.',
    })
  return undefined
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' }
