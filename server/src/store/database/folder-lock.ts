import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeId } from '../../ids/node-id.ts'

/** The process that holds the lock of a data folder; its start time is stored too, because process ids are reused. */
interface Holder {
  pid: number
  started: string | null
  node: string
}

/** Longer than `removeDeadLock` takes to rename a lock and put it back. */
const SETTLE_MS = 100

/** The folder is locked by a process that is still running. */
export class FolderHeld extends Error {
  override name = 'FolderHeld'
  readonly pid: number

  constructor(folder: string, pid: number) {
    super(`${folder} is in use by process ${pid}`)
    this.pid = pid
  }
}

/**
 * Locks a data folder for this process and returns the function that unlocks it. The embedded database has no lock of
 * its own: two processes that open it corrupt it. The lock of a process that died is replaced.
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'lock')
  const own = `${file}.${nodeId}`
  writeFileSync(
    own,
    JSON.stringify({ pid: process.pid, started: startTimeOf(process.pid), node: nodeId } satisfies Holder),
    { mode: 0o600 },
  )
  try {
    let removedDeadLock = false
    while (!(tryLock(own, file) && (!removedDeadLock || isStillOurs(file)))) {
      const holder = readHolder(file)
      if (holder && isRunning(holder)) throw new FolderHeld(folder, holder.pid)
      removeDeadLock(file, holder)
      removedDeadLock = true
    }
  } finally {
    rmSync(own, { force: true })
  }
  return () => {
    if (readHolder(file)?.node === nodeId) rmSync(file, { force: true })
  }
}

/** Creates the lock file as a hard link: atomic, never over an existing lock, and never visible without its content. */
function tryLock(own: string, file: string): boolean {
  try {
    linkSync(own, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Whether this process still holds the lock after a pause, in which another `removeDeadLock` may have moved it. */
function isStillOurs(file: string): boolean {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SETTLE_MS)
  return readHolder(file)?.node === nodeId
}

/**
 * Removes the lock of a dead process. Processes may race: each renames the lock that it finds and then reads it. If it
 * is the new lock of another process, it is put back.
 */
function removeDeadLock(file: string, dead: Holder | undefined): void {
  const aside = `${file}.dead.${nodeId}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if (readHolder(aside)?.node !== dead?.node) tryLock(aside, file)
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
  const runningSince = startTimeOf(pid)
  return !started || started === runningSince
}

/** The start time of a process in clock ticks since boot; null without /proc, or if the process is gone or a zombie. */
function startTimeOf(pid: number): string | null {
  try {
    // Fields 3 (state) and 22 of /proc/<pid>/stat, counted after the command, which may hold spaces and parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}
