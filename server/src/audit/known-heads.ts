/**
 * The newest head of each log that this node signed, kept in the data folder: outside the database, so that rows which
 * were deleted there, or a backup that was restored, are noticed.
 *
 * The file has one head per line, newest last. A line replaces the line of the same log before it if its tree is at
 * least as large, or if an operator accepted it after a restore. Lines are appended; the file is rewritten, and replaced
 * at once, when most of its lines are outdated. A line that a crash cut off is ignored. A file that cannot be read stops
 * sealing; one that cannot be written does not, and its heads are written later.
 */

import { closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs'
import { appendFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '../config.ts'
import type { Checkpoint } from '../core/audit/checkpoint.ts'
import { objectIn } from '../core/stored-json.ts'

/** A head of one organization's log. */
export interface KnownHead extends Checkpoint {
  organization_id: string
  /** The timeline of the database that the head was written to: each failover and each restore begins another. */
  timeline?: string
}

/** A head as it is kept; `accepted` marks the head from which an operator let the log go on after a restore. */
type Line = KnownHead & { accepted?: true }

/** Below this number of lines the file is not worth rewriting. */
const LINES_MIN = 1_000
const LINES_PER_LOG_MAX = 4

/** The newest known head of each log of one environment. */
export class KnownHeads {
  readonly file: string
  readonly #dataDir: string
  #heads = new Map<string, KnownHead>()
  #linesInFile = 0
  /** The file that was read, and how far. */
  #read = { inode: 0, bytes: 0 }
  #isLoaded = false
  #unwritten = new Map<string, Line>()
  #writing: Promise<void> = Promise.resolve()

  constructor({ dataDir, environment }: { dataDir: string; environment: Environment }) {
    this.#dataDir = dataDir
    this.file = join(dataDir, `heads-${environment}.jsonl`)
  }

  /** The newest known head of an organization's log, if this node or another process on its data folder signed one. */
  newest(organizationId: string): KnownHead | undefined {
    this.#loadOnce()
    return this.#heads.get(organizationId)
  }

  /** The organizations whose log has a known head. */
  organizationIds(): string[] {
    this.#loadOnce()
    return [...this.#heads.keys()]
  }

  /** Remembers heads that were just signed; `flush` writes them to the file. */
  add(heads: readonly KnownHead[]): void {
    this.#loadOnce()
    for (const head of heads) {
      // Two sealers may report out of order.
      if (head.tree_size < (this.#heads.get(head.organization_id)?.tree_size ?? 0)) continue
      this.#heads.set(head.organization_id, head)
      this.#unwritten.set(head.organization_id, head)
    }
  }

  /** Makes a smaller head the newest known one, because an operator accepted that a restored log goes on from it. */
  async accept(head: KnownHead): Promise<void> {
    this.reload()
    this.#heads.set(head.organization_id, head)
    this.#unwritten.set(head.organization_id, { ...head, accepted: true })
    await this.flush()
  }

  /** Reads the file again: another process may have appended to it. Heads that are not written yet are kept. */
  reload(): void {
    // Read first: a file that cannot be read must not count as one without heads.
    const { lines, inode, bytes } = readFrom(this.file, 0)
    this.#isLoaded = true
    this.#heads = new Map()
    this.#linesInFile = lines.length
    this.#read = { inode, bytes }
    this.#take(lines)
  }

  /**
   * The same for less: reads what was appended to the file since it was read, and all of it only if it was replaced. With 10,000
   * logs, that took 0.1 ms instead of 36.
   */
  readAppended(): void {
    const { inode, bytes } = this.#read
    const appended = this.#isLoaded ? readFrom(this.file, bytes) : undefined
    if (appended?.inode === inode && !appended.isShorter) {
      this.#read = { inode, bytes: appended.bytes }
      this.#take(appended.lines)
    } else this.reload()
  }

  #take(lines: readonly string[]): void {
    for (const line of [...lines.flatMap(parseLine), ...this.#unwritten.values()]) {
      const known = this.#heads.get(line.organization_id)
      const { accepted, ...head } = line
      if (!known || accepted || head.tree_size >= known.tree_size) this.#heads.set(head.organization_id, head)
    }
  }

  /** Writes the heads added since the last call, with one write to the file. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const lines = [...this.#unwritten.values()]
    if (lines.length === 0) return
    mkdirSync(this.#dataDir, { recursive: true, mode: 0o700 })
    // In front, because a crash may have cut off the line before.
    await appendFile(this.file, lines.map((line) => `\n${JSON.stringify(line)}`).join(''), { mode: 0o600 })
    for (const line of lines)
      if (this.#unwritten.get(line.organization_id) === line) this.#unwritten.delete(line.organization_id)
    this.#linesInFile += lines.length
    if (this.#linesInFile > Math.max(LINES_MIN, LINES_PER_LOG_MAX * this.#heads.size)) await this.#rewrite()
  }

  async #rewrite(): Promise<void> {
    const { size } = await stat(this.file)
    this.reload()
    const temporary = `${this.file}.${process.pid}`
    const lines = [...this.#heads.values()].map((head) => JSON.stringify(head))
    try {
      await writeFile(temporary, `${lines.join('\n')}\n`, { mode: 0o600, flush: true })
      // Another process appended meanwhile, such as a command that accepts a restore: its line must not be lost.
      if ((await stat(this.file)).size !== size) return
      await rename(temporary, this.file)
      this.#linesInFile = lines.length
    } finally {
      await rm(temporary, { force: true })
    }
  }

  #loadOnce(): void {
    if (!this.#isLoaded) this.reload()
  }
}

/**
 * The lines of a file from a byte on, and up to where it was read: not beyond a last line that is not whole, because another
 * process may be writing it.
 */
function readFrom(file: string, start: number): { lines: string[]; inode: number; bytes: number; isShorter: boolean } {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { lines: [], inode: 0, bytes: 0, isShorter: false }
    throw error
  }
  try {
    const { ino, size } = fstatSync(descriptor)
    // One byte at least: reading a folder has to fail, whatever size it has.
    const buffer = Buffer.alloc(Math.max(1, size - start))
    const read = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, start))
    const lines = read.toString('utf8').split('\n')
    const isWhole = parseLine(lines.at(-1)!).length > 0
    const bytes = isWhole ? read.length : Math.max(0, read.lastIndexOf('\n'))
    return { lines: lines.filter((line) => line !== ''), inode: ino, bytes: start + bytes, isShorter: size < start }
  } finally {
    closeSync(descriptor)
  }
}

function parseLine(text: string): Line[] {
  const line = objectIn(text) as Partial<Line> | undefined
  return typeof line?.organization_id === 'string' && Number.isSafeInteger(line.tree_size) ? [line as Line] : []
}
