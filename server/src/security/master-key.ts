import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, type Environment } from '../config.ts'

const KEY_BYTES = 32
const FILE = 'master.key'

/** The Ed25519 key pair that signs the heads of the audit log. */
export interface SigningKey {
  privateKey: KeyObject
  publicKey: KeyObject
}

/** Every secret of an installation follows from one key, so there is one thing to guard and to back up. */
export class MasterKey {
  readonly #key: Buffer

  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES)
      throw new ConfigError(`the master key must be ${KEY_BYTES} bytes in base64; openssl rand -base64 32 makes one`)
    this.#key = key
  }

  /** A key for one purpose, from which neither the master key nor another purpose's key can be found. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `verdigraph ${purpose}`, KEY_BYTES))
  }

  /** The same, ready for HMAC: preparing a key costs seven times as much as using a prepared one. */
  deriveHmacKey(purpose: string): KeyObject {
    return createSecretKey(this.derive(purpose))
  }

  /** Tells whether two nodes hold the same master key without telling the key. */
  get check(): string {
    return createHmac('sha256', this.derive('check')).update('verdigraph').digest('hex')
  }

  /** The key of one environment's audit log; a log of the other environment never verifies under it. */
  auditSigningKey(environment: Environment): SigningKey {
    const seed = this.derive(`audit signing ${environment}`)
    // PKCS #8 wrapping of a raw Ed25519 seed (RFC 8410, section 7).
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    return { privateKey, publicKey: createPublicKey(privateKey) }
  }
}

/** Takes the master key from the settings, or from its file in the data folder; undefined if there is neither. */
export function loadMasterKey({
  masterKey,
  dataDir,
}: {
  masterKey: string | undefined
  dataDir: string
}): MasterKey | undefined {
  if (masterKey) return new MasterKey(Buffer.from(masterKey, 'base64'))
  try {
    return new MasterKey(Buffer.from(readFileSync(join(dataDir, FILE), 'utf8'), 'base64'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** Makes a new master key and keeps it in a file of the data folder that only its owner can read. */
export function createMasterKey(dataDir: string): MasterKey {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const key = randomBytes(KEY_BYTES)
  writeFileSync(join(dataDir, FILE), `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  return new MasterKey(key)
}
