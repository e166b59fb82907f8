import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { SecretBox } from './secret-box.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const CACHED_KEYS_MAX = 10_000

/** The webhook endpoint that a secret or a URL belongs to. */
export interface SecretOwner {
  organizationId: string
  endpointId: string
}

/** Generates a signing secret in the format of Standard Webhooks. */
export function generateWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/**
 * Encrypts the signing secrets and the URLs of one environment's webhook endpoints at rest, each bound to its endpoint.
 * URLs are encrypted because many receivers put a token into the path or the query.
 */
export class WebhookSecretBox {
  readonly #box: SecretBox
  readonly #signingKeys = new LRUCache<string, KeyObject>({ max: CACHED_KEYS_MAX })
  readonly #urls = new LRUCache<string, string>({ max: CACHED_KEYS_MAX })

  constructor(keys: readonly Buffer[]) {
    this.#box = new SecretBox(keys)
  }

  /** Encrypts a signing secret for storage. */
  encrypt(owner: SecretOwner, secret: string): string {
    return this.#box.encrypt(secretOf(owner), secret)
  }

  /** Returns the signing key of a stored secret, cached: creating a `KeyObject` costs ten times as much as one signature. */
  signingKey(owner: SecretOwner, stored: string): KeyObject {
    // By owner, too: a ciphertext that was copied into another row must not be found here.
    const cacheKey = `${secretOf(owner)} ${stored}`
    const cached = this.#signingKeys.get(cacheKey)
    if (cached) return cached
    const secret = this.#box.decrypt(secretOf(owner), stored)
    const key = createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'))
    this.#signingKeys.set(cacheKey, key)
    return key
  }

  /** Returns the end of a stored secret, by which people tell two secrets apart: 24 of its 256 bits. */
  lastFour(owner: SecretOwner, stored: string): string {
    return this.#box.decrypt(secretOf(owner), stored).replace(/=+$/, '').slice(-4)
  }

  /** Encrypts a URL for storage. */
  encryptUrl(owner: SecretOwner, url: string): string {
    return this.#box.encrypt(urlOf(owner), url)
  }

  /** Decrypts a stored URL, cached: the dispatcher reads its webhook endpoints several times a second. */
  decryptUrl(owner: SecretOwner, stored: string): string {
    const cacheKey = `${urlOf(owner)} ${stored}`
    const cached = this.#urls.get(cacheKey)
    if (cached) return cached
    const url = this.#box.decrypt(urlOf(owner), stored)
    this.#urls.set(cacheKey, url)
    return url
  }
}

function secretOf({ organizationId, endpointId }: SecretOwner): string {
  return `${organizationId} ${endpointId}`
}

/** Another owner than that of the secret, so that the one cannot be stored in place of the other. */
function urlOf({ organizationId, endpointId }: SecretOwner): string {
  return `${organizationId} ${endpointId} url`
}
