import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** Says, inside the folder of a database, that not all of its files are there yet. */
const UNFINISHED = 'verdigraph.unfinished'
/** Written by PostgreSQL; without it, there is no database. */
const MARK = 'PG_VERSION'

/** The folder of the embedded database. */
export function databaseFolder(dataDir: string): string {
  return join(dataDir, 'database')
}

/** Whether a folder holds an embedded database, and all of it. */
export function holdsDatabase(folder: string): boolean {
  return existsSync(join(folder, MARK)) && !existsSync(join(folder, UNFINISHED))
}

/**
 * Makes ready the folder of the embedded database. Making a database copies a thousand files; until `markWhole` is
 * called, a note in the folder says that they are not all there, and the next start begins anew.
 */
export function prepareDatabaseFolder(dataDir: string): { folder: string; markWhole: () => void } {
  const folder = databaseFolder(dataDir)
  if (existsSync(join(folder, UNFINISHED))) removeUnfinished(folder)
  // The embedded database makes files that anybody could write; the folder around them keeps everybody out.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  if (holdsDatabase(folder)) return { folder, markWhole() {} }

  writeFileSync(join(folder, UNFINISHED), '', { mode: 0o600 })
  return {
    folder,
    markWhole() {
      // A power failure must neither bring the note back, which would cost everything written since, nor take files that it no longer covers.
      syncAll(folder)
      rmSync(join(folder, UNFINISHED), { force: true })
      sync(folder)
    },
  }
}

/** Its mark goes first: should this be cut short as well, what is left counts as no database. */
function removeUnfinished(folder: string): void {
  rmSync(join(folder, MARK), { force: true })
  rmSync(folder, { recursive: true, force: true })
}

function syncAll(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    sync(join(entry.parentPath, entry.name))
  sync(folder)
}

function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
