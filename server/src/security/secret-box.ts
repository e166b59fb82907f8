import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts secrets at rest (AES-256-GCM), each bound to the object that it belongs to. */
export class SecretBox {
  readonly #keys: readonly KeyObject[]

  /** The first key encrypts; the others, of retired master keys, only decrypt. */
  constructor(keys: readonly Buffer[]) {
    this.#keys = keys.map((key) => createSecretKey(key))
  }

  /** Encrypts a secret for storage. The ciphertext cannot be decrypted as the secret of another owner. */
  encrypt(owner: string, secret: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#keys[0]!, nonce).setAAD(Buffer.from(owner))
    const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]).toString('base64')
  }

  /** Decrypts a stored secret; throws if it was altered, copied from another owner, or encrypted with another key. */
  decrypt(owner: string, stored: string): string {
    const failures: unknown[] = []
    for (const key of this.#keys) {
      try {
        return decryptWith(key, owner, stored)
      } catch (error) {
        failures.push(error)
      }
    }
    throw failures[0]
  }
}

function decryptWith(key: KeyObject, owner: string, stored: string): string {
  const bytes = Buffer.from(stored, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-TAG_BYTES))
  const ciphertext = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
}
