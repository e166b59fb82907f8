/**
 * Loaded with `--import` into a service, to record what it does to the files below a folder: `unsynced-disk.ts` rebuilds
 * from that what a disk holds after a power failure. The service's code does not know of it. Each thread loads it, and
 * each operation is one write at the end of the journal, so a kill cuts off at most the last one.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { resolve, sep } from 'node:path'

/** One operation on the recorded folder; paths are absolute, `fd` is that of an earlier `open`. */
export type DiskOperation =
  | { kind: 'create' | 'mkdir' | 'remove'; path: string }
  | { kind: 'rename'; path: string; to: string }
  | { kind: 'open'; path: string; fd: number }
  | { kind: 'write'; fd: number; offset: number; bytes: number }
  | { kind: 'truncate'; path: string; length: number }
  | { kind: 'truncate'; fd: number; length: number }
  | { kind: 'sync' | 'close'; fd: number }

/** The settings with which a process started by tests records what it does below a folder. */
export function recordDisk(at: { folder: string; journal: string }): Record<string, string> {
  return { NODE_OPTIONS: `--import=${import.meta.filename}`, RECORD_DISK: JSON.stringify(at) }
}

/** Reads a journal: each operation, and what it wrote. */
export function* readJournal(journal: string): Generator<{ operation: DiskOperation; data: Buffer }> {
  const all = fs.readFileSync(journal)
  for (let at = 0; at + 4 <= all.length; ) {
    const dataAt = at + 4 + all.readUInt32LE(at)
    if (dataAt > all.length) return
    const operation = JSON.parse(all.toString('utf8', at + 4, dataAt)) as DiskOperation
    at = dataAt + (operation.kind === 'write' ? operation.bytes : 0)
    if (at > all.length) return
    yield { operation, data: all.subarray(dataAt, at) }
  }
}

if (process.env.RECORD_DISK) record(JSON.parse(process.env.RECORD_DISK))

function record({ folder, journal }: { folder: string; journal: string }): void {
  const { openSync, writevSync, existsSync, ...original } = { ...fs }
  const out = openSync(journal, 'a')
  const recorded = new Set<number>()

  const append = (operation: DiskOperation, data: Uint8Array = Buffer.alloc(0)) => {
    const header = Buffer.from(JSON.stringify(operation))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(header.length)
    writevSync(out, [length, header, data])
  }
  /** The absolute path of a file or folder that is recorded. */
  const recordedPath = (path: unknown): string | undefined => {
    if (typeof path !== 'string') return undefined
    const absolute = resolve(path)
    return absolute === folder || absolute.startsWith(folder + sep) ? absolute : undefined
  }
  /** Replaces functions of `fs`; what writes is recorded before it is done, and what names or syncs afterwards. */
  // biome-ignore lint/suspicious/noExplicitAny: the functions have many signatures, and this passes on any of them.
  const replace = (replacements: Record<string, (...args: any[]) => unknown>) => Object.assign(fs, replacements)

  replace({
    openSync(path, flags, ...rest) {
      const at = recordedPath(path)
      const isNew = at !== undefined && !existsSync(at)
      const fd = openSync(path, flags, ...rest)
      if (at === undefined) return fd
      recorded.add(fd)
      if (isNew) append({ kind: 'create', path: at })
      append({ kind: 'open', path: at, fd })
      return fd
    },
    closeSync(fd) {
      if (recorded.delete(fd)) append({ kind: 'close', fd })
      original.closeSync(fd)
    },
    writeSync(fd, buffer, start, length, position) {
      if (!recorded.has(fd)) return original.writeSync(fd, buffer, start, length, position)
      if (typeof position !== 'number') throw new Error('a write without a position is not recorded')
      const data = Buffer.from(buffer.buffer, buffer.byteOffset + start, length)
      append({ kind: 'write', fd, offset: position, bytes: length }, data)
      return original.writeSync(fd, buffer, start, length, position)
    },
    writeFileSync(path, text, options) {
      const at = recordedPath(path)
      const isNew = at !== undefined && !existsSync(at)
      if (at !== undefined && text !== '') throw new Error('a file that is written at once is not recorded')
      original.writeFileSync(path, text, options)
      if (at !== undefined) append(isNew ? { kind: 'create', path: at } : { kind: 'truncate', path: at, length: 0 })
    },
    ftruncateSync(fd, length = 0) {
      if (recorded.has(fd)) append({ kind: 'truncate', fd, length: length ?? 0 })
      original.ftruncateSync(fd, length)
    },
    truncateSync(path, length) {
      const at = recordedPath(path)
      if (at !== undefined) append({ kind: 'truncate', path: at, length: length ?? 0 })
      original.truncateSync(path, length)
    },
    renameSync(from, to) {
      original.renameSync(from, to)
      const [path, target] = [recordedPath(from), recordedPath(to)]
      if (path !== undefined && target !== undefined) append({ kind: 'rename', path, to: target })
    },
    mkdirSync(path, options) {
      const at = recordedPath(path)
      const isNew = at !== undefined && !existsSync(at)
      const result = original.mkdirSync(path, options)
      if (isNew) append({ kind: 'mkdir', path: at })
      return result
    },
    ...Object.fromEntries(
      (['unlinkSync', 'rmdirSync', 'rmSync'] as const).map((name) => [
        name,
        (path: string, ...rest: []) => {
          const at = recordedPath(path)
          const isThere = at !== undefined && existsSync(at)
          original[name](path, ...rest)
          if (isThere) append({ kind: 'remove', path: at })
        },
      ]),
    ),
    ...Object.fromEntries(
      (['fsyncSync', 'fdatasyncSync'] as const).map((name) => [
        name,
        (fd: number) => {
          original[name](fd)
          if (recorded.has(fd)) append({ kind: 'sync', fd })
        },
      ]),
    ),
  })
  syncBuiltinESMExports()
}
