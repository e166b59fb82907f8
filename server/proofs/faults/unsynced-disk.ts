import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type DiskOperation, readJournal } from './disk-recorder.ts'

/** A change of a file that is not on disk yet: bytes at an offset, or a new length. */
type Change = { offset: number; data: Buffer } | { length: number }

/** A file or a folder, with what of it is on disk, and what was changed since. */
interface Inode {
  isFolder: boolean
  /** On disk: the first `length` bytes; the others are room to grow, and zero. */
  bytes: Buffer
  length: number
  unsynced: Change[]
}

/** A change of names that is not on disk yet; `inode` is what `path` names afterwards, and nothing if it is undefined. */
interface Renaming {
  path: string
  inode: Inode | undefined
  /** The name that the same change takes away. */
  from?: string
}

/** What a power failure destroyed. */
export interface Dropped {
  writes: number
  names: number
}

/** A disk may write any of these pieces of one write, and not the others. */
const PIECES = [512, 4_096]

/**
 * A folder as a disk holds it that keeps only what it was told to: a file has the content of its last fsync, and a name is
 * kept by fsync of its folder. Fsync of a new file also keeps its name, as the journaling file systems of Linux do.
 */
export class UnsyncedDisk {
  readonly #folder: string
  /** What the process sees, and what is on disk. */
  readonly #seen = new Map<string, Inode>()
  readonly #kept = new Map<string, Inode>()
  /** In order. */
  #renamings: Renaming[] = []
  readonly #open = new Map<number, Inode>()

  /** Takes a folder as it is: all of it is on disk. */
  constructor(folder: string) {
    this.#folder = folder
    this.#add(folder, newInode({ isFolder: true }))
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      this.#add(path, entry.isDirectory() ? newInode({ isFolder: true }) : newInode({ bytes: readFileSync(path) }))
    }
  }

  /** Follows what a process did, as `disk-recorder.ts` wrote it down. */
  follow(journal: string): void {
    for (const { operation, data } of readJournal(journal)) this.#apply(operation, data)
  }

  /**
   * Loses what was not synced, and rewrites the folder to what is left. With `random`, a part of what was not synced
   * reached the disk nevertheless: the first of the changed names, and any pieces of any writes.
   */
  failPower(random?: () => number): Dropped {
    const dropped = { writes: 0, names: this.#renamings.length }
    if (random) {
      const kept = this.#renamings.splice(0, Math.floor(random() * (this.#renamings.length + 1)))
      for (const renaming of kept) carryOut(this.#kept, renaming)
      dropped.names -= kept.length
    }
    for (const inode of new Set([...this.#seen.values(), ...this.#kept.values()])) {
      for (const change of inode.unsynced) {
        const isWhole = random !== undefined && keepPartly(inode, change, random)
        if (!isWhole) dropped.writes++
      }
      inode.unsynced = []
    }
    this.#renamings = []
    this.#open.clear()
    this.#seen.clear()
    for (const [path, inode] of this.#kept) this.#seen.set(path, inode)
    this.#rewrite()
    return dropped
  }

  #add(path: string, inode: Inode): void {
    this.#seen.set(path, inode)
    this.#kept.set(path, inode)
  }

  #apply(operation: DiskOperation, data: Buffer): void {
    switch (operation.kind) {
      case 'create':
      case 'mkdir':
        this.#rename({ path: operation.path, inode: newInode({ isFolder: operation.kind === 'mkdir' }) })
        break
      case 'remove':
        this.#rename({ path: operation.path, inode: undefined })
        break
      case 'rename':
        this.#rename({ path: operation.to, inode: this.#at(operation.path), from: operation.path })
        break
      case 'open':
        this.#open.set(operation.fd, this.#at(operation.path))
        break
      case 'close':
        this.#open.delete(operation.fd)
        break
      case 'write':
        this.#open.get(operation.fd)!.unsynced.push({ offset: operation.offset, data })
        break
      case 'truncate': {
        const inode = 'fd' in operation ? this.#open.get(operation.fd)! : this.#at(operation.path)
        inode.unsynced.push({ length: operation.length })
        break
      }
      case 'sync':
        this.#sync(this.#open.get(operation.fd)!)
    }
  }

  #at(path: string): Inode {
    const inode = this.#seen.get(path)
    if (!inode) throw new Error(`the journal has no creation of ${path}`)
    return inode
  }

  #rename(renaming: Renaming): void {
    carryOut(this.#seen, renaming)
    this.#renamings.push(renaming)
  }

  #sync(inode: Inode): void {
    for (const change of inode.unsynced) carryOutChange(inode, change)
    inode.unsynced = []
    this.#keepNames(inode.isFolder ? (path) => this.#seen.get(dirname(path)) === inode : () => false)
    const created = this.#renamings.findIndex((renaming) => renaming.inode === inode && renaming.from === undefined)
    // Earlier changes of the same name come first, such as the removal of a file that this one replaces.
    const own = this.#renamings[created]?.path
    this.#keepNames((path, index) => path === own && index <= created)
  }

  #keepNames(isKept: (path: string, index: number) => boolean): void {
    this.#renamings = this.#renamings.filter((renaming, index) => {
      if (!isKept(renaming.path, index)) return true
      carryOut(this.#kept, renaming)
      return false
    })
  }

  /** Makes the folder equal to what is kept. It compares all of it, as a kill may come before an operation is recorded. */
  #rewrite(): void {
    for (const entry of readdirSync(this.#folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (this.#kept.get(path)?.isFolder !== entry.isDirectory()) rmSync(path, { recursive: true, force: true })
    }
    for (const [path, { isFolder, bytes, length }] of [...this.#kept].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const content = bytes.subarray(0, length)
      if (isFolder) mkdirSync(path, { recursive: true })
      else if (!existsSync(path) || !readFileSync(path).equals(content)) writeFileSync(path, content, { mode: 0o600 })
    }
  }
}

function newInode({ isFolder = false, bytes = Buffer.alloc(0) }: { isFolder?: boolean; bytes?: Buffer }): Inode {
  return { isFolder, bytes, length: bytes.length, unsynced: [] }
}

function carryOut(names: Map<string, Inode>, { path, inode, from }: Renaming): void {
  if (inode) names.set(path, inode)
  else for (const name of [...names.keys()]) if (name === path || name.startsWith(`${path}/`)) names.delete(name)
  if (from !== undefined) names.delete(from)
}

function carryOutChange(inode: Inode, change: Change): void {
  if ('length' in change) {
    resize(inode, change.length)
    return
  }
  const { offset, data } = change
  if (offset + data.length > inode.length) resize(inode, offset + data.length)
  data.copy(inode.bytes, offset)
}

function resize(inode: Inode, length: number): void {
  if (length < inode.length) inode.bytes.fill(0, length)
  if (length > inode.bytes.length) {
    const longer = Buffer.alloc(Math.max(length, inode.bytes.length * 2))
    inode.bytes.copy(longer)
    inode.bytes = longer
  }
  inode.length = length
}

/** Keeps any pieces of a change, and returns whether those are all. */
function keepPartly(inode: Inode, change: Change, random: () => number): boolean {
  const choice = random()
  if (choice < 0.4) return false
  if (choice < 0.7 || 'length' in change) {
    carryOutChange(inode, change)
    return true
  }
  const { offset, data } = change
  const piece = PIECES[Math.floor(random() * PIECES.length)]!
  let isWhole = true
  for (let from = 0; from < data.length; ) {
    const to = Math.min(data.length, from + piece - ((offset + from) % piece))
    if (random() < 0.5) carryOutChange(inode, { offset: offset + from, data: data.subarray(from, to) })
    else isWhole = false
    from = to
  }
  return isWhole
}
