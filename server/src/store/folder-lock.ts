import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Who holds a data folder: a process id, and when that process started, because ids are used again. */
interface Holder {
  pid: number
  started: string | null
}

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
  const self: Holder = { pid: process.pid, started: startOf(process.pid) }
  for (;;) {
    try {
      const descriptor = openSync(file, 'wx', 0o600)
      writeSync(descriptor, JSON.stringify(self))
      closeSync(descriptor)
      return () => rmSync(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const holder = readHolder(file)
      if (holder && isRunning(holder)) throw new FolderHeld(folder, holder.pid)
      rmSync(file, { force: true })
    }
  }
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder
  } catch {
    return undefined // half-written by a process that was killed at that moment
  }
}

function isRunning({ pid, started }: Holder): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const runningSince = startOf(pid)
  return !started || !runningSince || started === runningSince
}

/** When a process started, in the kernel's own ticks; null where the system does not tell. */
function startOf(pid: number): string | null {
  try {
    // Field 22 of /proc/<pid>/stat, counted after the command, which may hold spaces and parentheses itself.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
