import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, type Environment } from '../config.ts'
import { writeSecretFile } from './secret-file.ts'

const KEY_BYTES = 32
const FILE_NAME = 'master.key'

/** The Ed25519 key pair that signs the heads of the audit log. */
export interface SigningKey {
  privateKey: KeyObject
  publicKey: KeyObject
}

/** The one key that every other secret of an installation is derived from; the only one to guard and to back up. */
export class MasterKey {
  readonly #key: Buffer
  readonly #hmacKeys = new Map<string, KeyObject>()

  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES)
      throw new ConfigError(
        `the master key must be ${KEY_BYTES} bytes in base64: create one with openssl rand -base64 ${KEY_BYTES}`,
      )
    this.#key = key
  }

  /** Derives a key for one purpose (HKDF). It reveals neither the master key nor the key of another purpose. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `verdigraph ${purpose}`, KEY_BYTES))
  }

  /** Derives a key as a `KeyObject` for HMAC, once: creating the object costs seven times as much as one HMAC with it. */
  deriveHmacKey(purpose: string): KeyObject {
    const known = this.#hmacKeys.get(purpose)
    if (known) return known
    const derived = createSecretKey(this.derive(purpose))
    this.#hmacKeys.set(purpose, derived)
    return derived
  }

  /** A value that is equal on two nodes with the same master key, and does not reveal the key. */
  get check(): string {
    return createHmac('sha256', this.derive('check')).update('verdigraph').digest('hex')
  }

  /** The key of the MACs of audit entries of one environment. */
  auditMacKey(environment: Environment): KeyObject {
    return this.deriveHmacKey(`audit entries ${environment}`)
  }

  /** The key of the hashes by which API keys of one environment are stored. */
  apiKeyHashKey(environment: Environment): KeyObject {
    return this.deriveHmacKey(`api keys ${environment}`)
  }

  /** The key of the MACs of rows that grant power: in the control database, or in one environment. */
  rowMacKey(place: 'control' | Environment): KeyObject {
    return this.deriveHmacKey(`rows that grant power ${place}`)
  }

  /** The key pair that signs the audit logs of one environment; logs of the other environment do not verify with it. */
  auditSigningKey(environment: Environment): SigningKey {
    const seed = this.derive(`audit signing ${environment}`)
    // PKCS #8 wrapping of a raw Ed25519 seed (RFC 8410, section 7).
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    return { privateKey, publicKey: createPublicKey(privateKey) }
  }
}

/** Loads the master key from the settings, or else from its file in the data folder; undefined if neither exists. */
export function loadMasterKey({
  masterKey,
  dataDir,
}: {
  masterKey: string | undefined
  dataDir: string
}): MasterKey | undefined {
  if (masterKey) return new MasterKey(Buffer.from(masterKey, 'base64'))
  try {
    return readKeyFile(join(dataDir, FILE_NAME))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** Creates a master key and writes it to a file in the data folder that only the owner can read. */
export function createMasterKey(dataDir: string): MasterKey {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, FILE_NAME)
  writeSecretFile(file, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { keepExisting: true })
  return readKeyFile(file)
}

function readKeyFile(file: string): MasterKey {
  const key = Buffer.from(readFileSync(file, 'utf8'), 'base64')
  if (key.length !== KEY_BYTES)
    throw new ConfigError(
      `${file} does not hold ${KEY_BYTES} bytes in base64: put a copy of that file back, or set MASTER_KEY; delete the file only if this installation has never started`,
    )
  return new MasterKey(key)
}
