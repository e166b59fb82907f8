import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether a folder holds an embedded database. */
export function holdsDatabase(folder: string): boolean {
  return existsSync(join(folder, 'PG_VERSION'))
}

/**
 * Makes ready the folder of the embedded database. Making a database copies a thousand files; until `markWhole` is
 * called, a note beside the folder says that they are not all there, and the next start begins anew.
 */
export function prepareDatabaseFolder(dataDir: string): { folder: string; markWhole: () => void } {
  const folder = join(dataDir, 'database')
  const note = join(dataDir, 'database.unfinished')
  if (existsSync(note)) rmSync(folder, { recursive: true, force: true })
  // The embedded database makes files that anybody could write; the folder around them keeps everybody out.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  if (holdsDatabase(folder)) return { folder, markWhole() {} }

  writeFileSync(note, '', { mode: 0o600 })
  return {
    folder,
    markWhole() {
      rmSync(note)
      // A note that came back after a power failure would cost everything that was written since.
      syncFolder(dataDir)
    },
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
