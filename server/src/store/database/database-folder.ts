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

/** A file in the folder of a database whose creation has not finished. */
const INCOMPLETE_MARKER = 'verdigraph.unfinished'
/** Written by PostgreSQL; a folder without it holds no database. */
const VERSION_FILE = 'PG_VERSION'
/** PostgreSQL's own lock. It refuses to start over an empty one, which `kill -9` leaves between creating and writing it. */
const PID_FILE = 'postmaster.pid'

/** The path of the embedded database's folder. */
export function databaseFolder(dataDir: string): string {
  return join(dataDir, 'database')
}

/** Whether a folder holds a complete embedded database. */
export function holdsDatabase(folder: string): boolean {
  return existsSync(join(folder, VERSION_FILE)) && !existsSync(join(folder, INCOMPLETE_MARKER))
}

/**
 * Makes the folder of the embedded database ready to be opened; the caller holds the lock of the data folder.
 *
 * Creates the folder if it is missing. Creating a database copies a thousand files. Until
 * `markComplete` is called, a marker file says that some may be missing, and the next start deletes the folder and
 * creates the database again.
 */
export function prepareDatabaseFolder(dataDir: string): { folder: string; markComplete: () => void } {
  const folder = databaseFolder(dataDir)
  if (existsSync(join(folder, INCOMPLETE_MARKER))) removeIncomplete(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  // The folder lock says that no process works on this database.
  rmSync(join(folder, PID_FILE), { force: true })
  if (holdsDatabase(folder)) return { folder, markComplete() {} }

  writeFileSync(join(folder, INCOMPLETE_MARKER), '', { mode: 0o600 })
  return {
    folder,
    markComplete() {
      // The order survives a power failure. Files are on disk before the marker is removed, so none is lost unmarked.
      // The removal is on disk before the first write, because a marker that came back would delete all later data.
      settleTree(folder)
      fsyncPath(dataDir)
      rmSync(join(folder, INCOMPLETE_MARKER), { force: true })
      fsyncPath(folder)
    },
  }
}

/** Removes the version file first: if the removal is interrupted, the rest does not count as a database. */
function removeIncomplete(folder: string): void {
  rmSync(join(folder, VERSION_FILE), { force: true })
  rmSync(folder, { recursive: true, force: true })
}

/** Puts all files on disk, for their owner only: PGlite unpacks them with modes that let every user write. */
function settleTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    chmodSync(path, entry.isDirectory() ? 0o700 : 0o600)
    fsyncPath(path)
  }
  fsyncPath(folder)
}

function fsyncPath(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
