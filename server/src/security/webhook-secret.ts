import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CACHED_KEYS_MAX = 10_000

/** Generates a signing secret in the format of Standard Webhooks. */
export function generateWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Encrypts the signing secrets of one environment's webhook endpoints at rest (AES-256-GCM), each bound to its endpoint. */
export class WebhookSecretBox {
  readonly #key: KeyObject
  readonly #signingKeys = new Map<string, KeyObject>()

  constructor(key: Buffer) {
    this.#key = createSecretKey(key)
  }

  /** Encrypts a secret for storage. The ciphertext cannot be decrypted in the row of another endpoint. */
  encrypt(endpoint: { org_id: string; id: string }, secret: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(additionalData(endpoint))
    const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString('base64')
  }

  /** Decrypts a stored secret; throws if it was altered, copied from another endpoint, or encrypted with another key. */
  decrypt(endpoint: { org_id: string; id: string }, stored: string): string {
    const bytes = Buffer.from(stored, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(additionalData(endpoint)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const ciphertext = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
  }

  /** Returns the signing key of a stored secret, cached: creating a `KeyObject` costs ten times as much as one signature. */
  signingKey(endpoint: { org_id: string; id: string }, stored: string): KeyObject {
    const cached = this.#signingKeys.get(stored)
    if (cached) return cached
    const key = createSecretKey(Buffer.from(this.decrypt(endpoint, stored).slice(PREFIX.length), 'base64'))
    if (this.#signingKeys.size === CACHED_KEYS_MAX) this.#signingKeys.clear()
    this.#signingKeys.set(stored, key)
    return key
  }
}

function additionalData({ org_id, id }: { org_id: string; id: string }): Buffer {
  return Buffer.from(`${org_id} ${id}`)
}
