import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

/** The process that holds the lock of a data folder, as it describes itself to others. */
interface Holder {
  pid: number
  host: string
  /** Names the running kernel. Processes with the same one see each other's locks, in every container. */
  boot: string
}

/** How often a holder touches its description. */
const BEAT_MS = 1_000

/** How long a process waits for a beat of a holder on another machine: several beats, because the machine may be slow. */
const BEATS_WATCHED_MS = 5_000

/**
 * How long SQLite waits for the lock. It takes a shared lock first, so processes that start at the same moment can block
 * each other briefly; without a wait, all of them may be refused.
 */
const CONTEST_MS = 1_000

/** What SQLite answers if another connection holds the lock. */
const SQLITE_BUSY = 5

/** Another process works on the folder. */
export class FolderHeld extends Error {
  override name = 'FolderHeld'

  constructor(folder: string, holder: Holder | undefined) {
    super(`${folder} is in use by ${holder ? `process ${holder.pid} on ${holder.host}` : 'another process'}`)
  }
}

/** The folder cannot be locked, so it is not known whether another process works on it. */
export class FolderNotLockable extends Error {
  override name = 'FolderNotLockable'
}

/**
 * The locks of this process. A connection that nothing refers to would be closed by the garbage collector, and its lock
 * released.
 */
const held = new Set<DatabaseSync>()

/**
 * Locks a data folder for this process and returns the function that unlocks it. The embedded database has no lock of
 * its own: two processes that open it corrupt it.
 *
 * The kernel holds the lock, and releases it when the process ends, however it ends: a record lock (`fcntl`) that SQLite
 * takes on the file `lock`, because Node.js has no call for it. It holds across containers, and across hosts on NFS. On
 * shared folders whose locks stay on one machine, the beats of `holder.json` tell that another machine works there.
 *
 * INVARIANT: nothing else in this process opens the file `lock`. Closing any descriptor of it would release the lock.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const description = join(folder, 'holder.json')
  const lock = takeLock(folder, description)
  const release = () => {
    held.delete(lock)
    lock.close()
  }
  held.add(lock)
  try {
    await refuseRemoteHolder(folder, description)
    writeFileSync(description, JSON.stringify(describeSelf()), { mode: 0o600 })
  } catch (error) {
    release()
    throw error
  }
  const beat = setInterval(() => touch(description), BEAT_MS).unref()
  return () => {
    if (!held.has(lock)) return
    clearInterval(beat)
    rmSync(description, { force: true })
    release()
  }
}

/** Takes the kernel's lock, or throws. */
function takeLock(folder: string, description: string): DatabaseSync {
  const file = join(folder, 'lock')
  createIfMissing(file)
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file, { timeout: CONTEST_MS })
    // The journal in memory, because its file would be left behind. Nothing is ever written: the database stays empty.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock?.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY)
      throw new FolderHeld(folder, readDescription(description))
    throw new FolderNotLockable(
      `${file} cannot be locked (${(error as Error).message}): set DATA_DIR to a folder on a local disk`,
      { cause: error },
    )
  }
}

/** Creates the file with the mode of a secret; an existing file is not opened, because that would break its lock. */
function createIfMissing(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Refuses a folder that a process on another machine works on. The lock of a dead process on this machine is gone, but
 * another machine's may be one that this kernel cannot see: what is left there must not beat.
 */
async function refuseRemoteHolder(folder: string, description: string): Promise<void> {
  const holder = readDescription(description)
  if (!holder || holder.boot === bootId()) return
  const before = lastBeat(description)
  const deadline = performance.now() + BEATS_WATCHED_MS
  while (performance.now() < deadline) {
    await sleep(BEAT_MS / 4)
    if (lastBeat(description) !== before) throw new FolderHeld(folder, holder)
  }
}

function describeSelf(): Holder {
  return { pid: process.pid, host: hostname(), boot: bootId() }
}

function readDescription(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

/** A beat that fails is left out: the folder may be full or gone, which its owner learns from the database. */
function touch(file: string): void {
  try {
    const now = new Date()
    utimesSync(file, now, now)
  } catch {}
}

/** The time of the last beat, by the clock of its host. The file is opened, because NFS caches what `stat` answers. */
function lastBeat(file: string): bigint | undefined {
  try {
    const descriptor = openSync(file, 'r')
    try {
      return fstatSync(descriptor, { bigint: true }).mtimeNs
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}

/** The id that Linux gives to each boot; elsewhere the name of the host. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return hostname()
  }
}
