import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config.ts'
import { KEY_BYTES, MasterKey } from './master-key.ts'
import { writeSecretFile } from './secret-file.ts'

const FILE_NAME = 'master.key'
/** The key of a rotation that has not ended yet. */
const NEXT_FILE_NAME = 'master.key.next'

/** Loads the master key from the settings, or else from its file in the data folder; undefined if neither exists. */
export function loadMasterKey({
  masterKey,
  dataDir,
}: {
  masterKey: string | undefined
  dataDir: string
}): MasterKey | undefined {
  return masterKey ? parseMasterKey(masterKey) : readKeyFile(join(dataDir, FILE_NAME))
}

/** Parses a master key; refuses a text that is not one. */
export function parseMasterKey(text: string): MasterKey {
  return new MasterKey(Buffer.from(text, 'base64'))
}

/** Generates a master key. */
export function generateMasterKey(): MasterKey {
  return new MasterKey(randomBytes(KEY_BYTES))
}

/** Creates a master key and writes it to a file in the data folder that only the owner can read. */
export function createMasterKey(dataDir: string): MasterKey {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, FILE_NAME)
  writeSecretFile(file, `${generateMasterKey().toBase64()}\n`, { keepExisting: true })
  return readKeyFile(file)!
}

/** Writes the key of a rotation beside the current one, where it waits for the rotation to end. */
export function saveNextKey(dataDir: string, next: MasterKey): void {
  writeSecretFile(join(dataDir, NEXT_FILE_NAME), `${next.toBase64()}\n`)
}

/** The key of a rotation that ended, or was interrupted, before its file got its name. */
export function readNextKey(dataDir: string): MasterKey | undefined {
  return readKeyFile(join(dataDir, NEXT_FILE_NAME))
}

/** Replaces the file of the master key by that of the next one. */
export function promoteNextKey(dataDir: string): void {
  renameSync(join(dataDir, NEXT_FILE_NAME), join(dataDir, FILE_NAME))
}

function readKeyFile(file: string): MasterKey | undefined {
  let key: Buffer
  try {
    key = Buffer.from(readFileSync(file, 'utf8'), 'base64')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  if (key.length !== KEY_BYTES)
    throw new ConfigError(
      `${file} does not hold ${KEY_BYTES} bytes in base64: put a copy of that file back, or set MASTER_KEY; delete the file only if this installation has never started`,
    )
  return new MasterKey(key)
}
