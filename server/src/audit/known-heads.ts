/**
 * The newest head of each log that this node signed, kept in the data folder: outside the database, so that rows which
 * were deleted there, or a backup that was restored, are noticed.
 *
 * The file has one head per line, newest last. A line replaces the line of the same log before it if its tree is at
 * least as large, or if an operator accepted it after a restore. Lines are appended; the file is rewritten, and replaced
 * at once, when most of its lines are outdated. A line that a crash cut off is ignored. A file that cannot be read stops
 * sealing; one that cannot be written does not, and its heads are written later.
 */

import { mkdirSync, readFileSync } from 'node:fs'
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
    const lines = readLines(this.file)
    this.#isLoaded = true
    this.#heads = new Map()
    this.#linesInFile = lines.length
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

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function parseLine(text: string): Line[] {
  const line = objectIn(text) as Partial<Line> | undefined
  return typeof line?.organization_id === 'string' && Number.isSafeInteger(line.tree_size) ? [line as Line] : []
}
