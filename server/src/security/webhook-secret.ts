import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Makes a secret as Standard Webhooks writes them. */
export function generateWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** The key that a secret stands for. */
export function webhookSigningKey(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64')
}

/** Keeps the secrets of one environment's endpoints unreadable at rest: AES-256-GCM, each bound to its own endpoint. */
export class WebhookSecretBox {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
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
}

function bindingOf({ org_id, id }: { org_id: string; id: string }): Buffer {
  return Buffer.from(`${org_id} ${id}`)
}
