import { createSecretKey, generateKeyPairSync } from 'node:crypto'
import type { EnvironmentKeys } from '../src/store/environment/environment-store.ts'

/** The keys of stores that a test opens without an installation. */
export const testKeys: EnvironmentKeys = {
  environment: 'sandbox',
  auditKeys: [createSecretKey(Buffer.alloc(32, 1))],
  rowKey: createSecretKey(Buffer.alloc(32, 2)),
  headKey: generateKeyPairSync('ed25519').publicKey,
}
