import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CACHED_KEYS_MAX = 10_000

/** The webhook endpoint that a secret belongs to. */
export interface SecretOwner {
  organizationId: string
  endpointId: string
}

/** Generates a signing secret in the format of Standard Webhooks. */
export function generateWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Encrypts the signing secrets of one environment's webhook endpoints at rest (AES-256-GCM), each bound to its endpoint. */
export class WebhookSecretBox {
  readonly #key: KeyObject
  readonly #signingKeys = new LRUCache<string, KeyObject>({ max: CACHED_KEYS_MAX })

  constructor(key: Buffer) {
    this.#key = createSecretKey(key)
  }

  /** Encrypts a secret for storage. The ciphertext cannot be decrypted in the row of another endpoint. */
  encrypt(owner: SecretOwner, secret: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(additionalData(owner))
    const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString('base64')
  }

  /** Decrypts a stored secret; throws if it was altered, copied from another endpoint, or encrypted with another key. */
  decrypt(owner: SecretOwner, stored: string): string {
    const bytes = Buffer.from(stored, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(additionalData(owner)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const ciphertext = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
  }

  /** Returns the signing key of a stored secret, cached: creating a `KeyObject` costs ten times as much as one signature. */
  signingKey(owner: SecretOwner, stored: string): KeyObject {
    const cached = this.#signingKeys.get(stored)
    if (cached) return cached
    const key = createSecretKey(Buffer.from(this.decrypt(owner, stored).slice(PREFIX.length), 'base64'))
    this.#signingKeys.set(stored, key)
    return key
  }
}

function additionalData({ organizationId, endpointId }: SecretOwner): Buffer {
  return Buffer.from(`${organizationId} ${endpointId}`)
}
