import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeId } from '../../ids/node-id.ts'

/** Who holds a data folder: a process id, and when that process started, because ids are used again. */
interface Holder {
  pid: number
  started: string | null
  node: string
}

/** Longer than moving a file aside and back takes. */
const SETTLING_MS = 100

/** The folder belongs to a process that still runs. */
export class FolderHeld extends Error {
  override name = 'FolderHeld'
  readonly pid: number

  constructor(folder: string, pid: number) {
    super(`${folder} is in use by process ${pid}`)
    this.pid = pid
  }
}

/**
 * Takes a data folder for this process; the embedded database would let two processes open it and ruin each other's
 * work. A lock left by a process that died is taken over. Returns the function that gives the folder back.
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'lock')
  const own = `${file}.${nodeId}`
  writeFileSync(
    own,
    JSON.stringify({ pid: process.pid, started: startOf(process.pid), node: nodeId } satisfies Holder),
    { mode: 0o600 },
  )
  try {
    for (let takenOver = false; !(claim(own, file) && (!takenOver || isStillOurs(file))); ) {
      const holder = readHolder(file)
      if (holder && isRunning(holder)) throw new FolderHeld(folder, holder.pid)
      removeDead(file, holder)
      takenOver = true
    }
  } finally {
    rmSync(own, { force: true })
  }
  return () => {
    if (readHolder(file)?.node === nodeId) rmSync(file, { force: true })
  }
}

/** A link appears with its content or not at all, and never over another; so nobody sees half a lock. */
function claim(own: string, file: string): boolean {
  try {
    linkSync(own, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** After a takeover, others may still be moving locks about; once they have settled, the lock names its one holder. */
function isStillOurs(file: string): boolean {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SETTLING_MS)
  return readHolder(file)?.node === nodeId
}

/**
 * Takes a dead process's lock away. Two may try at once: each moves what is there aside and looks at it, and whoever
 * moved a lock that was taken meanwhile puts it back.
 */
function removeDead(file: string, dead: Holder | undefined): void {
  const aside = `${file}.dead.${nodeId}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if (readHolder(aside)?.node !== dead?.node) claim(aside, file)
  rmSync(aside, { force: true })
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

function isRunning({ pid, started }: Holder): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const runningSince = startOf(pid)
  return !started || started === runningSince
}

/** When a process started, in the kernel's own ticks; null where the system does not tell, or the process is a zombie. */
function startOf(pid: number): string | null {
  try {
    // State and field 22 of /proc/<pid>/stat, counted after the command, which may hold spaces and parentheses itself.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}
