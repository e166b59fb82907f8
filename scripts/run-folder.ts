import { chmodSync, existsSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system in memory on Linux, and the bytes that it, and the memory of this process, must have free to be used. */
const MEMORY_FOLDER = '/dev/shm'
const MEMORY_NEEDED = 4 * 2 ** 30

/** A temporary folder for the databases of one run of many tests. */
export interface RunFolder {
  path: string
  /** What makes the processes of the tests use it. Templates of databases are kept for the next run. */
  env: { TMPDIR: string; TEST_TEMPLATES: string }
}

/** Creates it in memory where there is room, because creating and deleting files on a disk takes a fifth of a run. */
export function createRunFolder(): RunFolder {
  const path = mkdtempSync(join(hasMemoryFolder() ? MEMORY_FOLDER : tmpdir(), 'verdigraph-tests-'))
  chmodSync(path, 0o711) // PostgreSQL does not run as root, and has its folders below this one
  return { path, env: { TMPDIR: path, TEST_TEMPLATES: tmpdir() } }
}

function hasMemoryFolder(): boolean {
  if (!existsSync(MEMORY_FOLDER)) return false
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
  return Math.min(bavail * bsize, process.availableMemory()) >= MEMORY_NEEDED
}
