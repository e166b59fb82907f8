import { createHmac, createPrivateKey, createPublicKey, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { ConfigError, type Environment } from '../config.ts'
import type { HmacKeys } from '../core/audit/entry-mac.ts'
import { SecretBox } from './secret-box.ts'

/** The length of a master key. */
export const KEY_BYTES = 32

/** The Ed25519 key pair that signs the heads of the audit log. */
export interface SigningKey {
  privateKey: KeyObject
  publicKey: KeyObject
}

/** What a sealer signs with, and what it accepts. */
export interface SealingKeys {
  signing: SigningKey
  /** The keys of the MACs of entries that it seals. */
  macs: readonly KeyObject[]
  /** The keys of the heads that it extends. */
  heads: readonly KeyObject[]
}

/**
 * The one key that every other secret of an installation is derived from; the only one to guard and to back up.
 *
 * Rotating it makes a new key and retires the current one. Retired keys still decrypt and verify what was made with them,
 * and make nothing new. They are stored encrypted with a key derived from the current one (`encryptRetired`).
 */
export class MasterKey {
  readonly #key: Buffer
  readonly #hmacKeys = new Map<string, KeyObject>()
  /** Newest first. */
  readonly #retired: readonly Buffer[]

  constructor(key: Buffer, retired: readonly Buffer[] = []) {
    if (key.length !== KEY_BYTES)
      throw new ConfigError(
        `the master key must be ${KEY_BYTES} bytes in base64: create one with openssl rand -base64 ${KEY_BYTES}`,
      )
    this.#key = key
    this.#retired = retired
  }

  /** Derives a key for one purpose (HKDF). It reveals neither the master key nor the key of another purpose. */
  derive(purpose: string): Buffer {
    return deriveFrom(this.#key, purpose)
  }

  /** The keys that may have made something for a purpose: of the current master key first, then of the retired ones. */
  deriveAll(purpose: string): Buffer[] {
    return [this.#key, ...this.#retired].map((key) => deriveFrom(key, purpose))
  }

  /**
   * A key that rotation keeps, derived from the oldest master key. For hashes that have to stay comparable, of values
   * which are not stored and so cannot be hashed again. A thief of that key who writes rows with such a hash needs a MAC
   * of the current key besides.
   */
  deriveLasting(purpose: string): KeyObject {
    return this.#hmacKey(this.#retired.at(-1) ?? this.#key, purpose)
  }

  /** Derives a key as a `KeyObject` for HMAC, once: creating the object costs seven times as much as one HMAC with it. */
  deriveHmacKey(purpose: string): KeyObject {
    return this.#hmacKey(this.#key, purpose)
  }

  #hmacKey(key: Buffer, purpose: string): KeyObject {
    const name = `${key === this.#key ? 'current' : 'oldest'} ${purpose}`
    const known = this.#hmacKeys.get(name)
    if (known) return known
    const derived = createSecretKey(deriveFrom(key, purpose))
    this.#hmacKeys.set(name, derived)
    return derived
  }

  /** The HMAC keys that may have made something for a purpose, that of the current master key first. */
  deriveHmacKeys(purpose: string): HmacKeys {
    const [current, ...retired] = this.deriveAll(purpose).map((key) => createSecretKey(key))
    return [current!, ...retired]
  }

  /** A value that is equal on two nodes with the same master key, and does not reveal the key. */
  get check(): string {
    return createHmac('sha256', this.derive('check')).update('verdigraph').digest('hex')
  }

  /** The keys of the MACs of audit entries of one environment; new entries get theirs from the first. */
  auditMacKeys(environment: Environment): HmacKeys {
    return this.deriveHmacKeys(`audit entries ${environment}`)
  }

  /** The key of the hashes by which API keys of one environment are stored. */
  apiKeyHashKey(environment: Environment): KeyObject {
    return this.deriveLasting(`api keys ${environment}`)
  }

  /** The key of the MACs of rows that grant power: in the control database, or in one environment. */
  rowMacKey(place: 'control' | Environment): KeyObject {
    return this.deriveHmacKey(`rows that grant power ${place}`)
  }

  /** The key pair that signs the audit logs of one environment; logs of the other environment do not verify with it. */
  auditSigningKey(environment: Environment): SigningKey {
    return signingKeyOf(this.derive(`audit signing ${environment}`))
  }

  /** The public keys that verify the audit logs of one environment, that of the current master key first. */
  auditPublicKeys(environment: Environment): KeyObject[] {
    return this.deriveAll(`audit signing ${environment}`).map((seed) => signingKeyOf(seed).publicKey)
  }

  /** The keys of the store of one environment. */
  storeKeys(environment: Environment) {
    return {
      environment,
      auditKeys: this.auditMacKeys(environment),
      rowKey: this.rowMacKey(environment),
      headKey: this.auditSigningKey(environment).publicKey,
    }
  }

  /** The keys of the sealer of one environment: nothing of a retired key is sealed, and no head of one extended. */
  sealingKeys(environment: Environment): SealingKeys {
    const signing = this.auditSigningKey(environment)
    return { signing, macs: [this.auditMacKeys(environment)[0]], heads: [signing.publicKey] }
  }

  /** The keys that seal the first entries after a rotation: what the key before it left is signed with this one. */
  rotationKeys(environment: Environment): SealingKeys {
    const signing = this.auditSigningKey(environment)
    const [macs, heads] = [this.auditMacKeys(environment), this.auditPublicKeys(environment)]
    return { signing, macs: macs.slice(0, 2), heads: heads.slice(0, 2) }
  }

  /** This key as the successor of another one, which it retires. */
  succeeding(previous: MasterKey): MasterKey {
    return new MasterKey(this.#key, [previous.#key, ...previous.#retired])
  }

  /** This key as text, for the file that only its owner can read. */
  toBase64(): string {
    return this.#key.toString('base64')
  }

  /** This key with its retired predecessors, as `encryptRetired` stored them; throws if they were altered. */
  withRetired(encrypted: string | null): MasterKey {
    if (encrypted === null) return this
    const keys = JSON.parse(this.#retiredBox().decrypt(`${RETIRED} ${this.check}`, encrypted)) as string[]
    return new MasterKey(
      this.#key,
      keys.map((key) => Buffer.from(key, 'base64')),
    )
  }

  /** Encrypts the retired predecessors of this key for storage, newest first: as one text, so that none can be left out. */
  encryptRetired(): string {
    const keys = this.#retired.map((key) => key.toString('base64'))
    return this.#retiredBox().encrypt(`${RETIRED} ${this.check}`, JSON.stringify(keys))
  }

  #retiredBox(): SecretBox {
    return new SecretBox([this.derive(RETIRED)])
  }
}

const RETIRED = 'retired master keys'

function deriveFrom(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `verdigraph ${purpose}`, KEY_BYTES))
}

function signingKeyOf(seed: Buffer): SigningKey {
  // PKCS #8 wrapping of a raw Ed25519 seed (RFC 8410, section 7).
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
