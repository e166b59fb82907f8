import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CACHED_KEYS_MAX = 10_000

/** Makes a secret as Standard Webhooks writes them. */
export function generateWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Keeps the secrets of one environment's endpoints unreadable at rest: AES-256-GCM, each bound to its own endpoint. */
export class WebhookSecretBox {
  readonly #key: KeyObject
  readonly #signingKeys = new Map<string, KeyObject>()

  constructor(key: Buffer) {
    this.#key = createSecretKey(key)
  }

  /** A secret as it is stored. Moved to another endpoint's row, it no longer opens. */
  seal(endpoint: { org_id: string; id: string }, secret: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(bindingOf(endpoint))
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64')
  }

  /** The secret itself; throws when it was altered, moved, or sealed under another key. */
  open(endpoint: { org_id: string; id: string }, stored: string): string {
    const bytes = Buffer.from(stored, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(bindingOf(endpoint)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const sealed = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8')
  }

  /** The key that a stored secret signs with, opened once: making keys out of bytes costs ten times what signing does. */
  signingKey(endpoint: { org_id: string; id: string }, stored: string): KeyObject {
    const known = this.#signingKeys.get(stored)
    if (known) return known
    const key = createSecretKey(Buffer.from(this.open(endpoint, stored).slice(PREFIX.length), 'base64'))
    if (this.#signingKeys.size === CACHED_KEYS_MAX) this.#signingKeys.clear()
    this.#signingKeys.set(stored, key)
    return key
  }
}

function bindingOf({ org_id, id }: { org_id: string; id: string }): Buffer {
  return Buffer.from(`${org_id} ${id}`)
}
