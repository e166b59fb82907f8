/**
 * The erasures that this node knows, kept in the data folder: outside the database, so that a backup from before an erasure does
 * not bring the person back.
 *
 * The file has one signed erasure per line, which stays for good. It is made at the first start, without a line: a file that is
 * missing was lost. A line that a crash cut off is ignored, and written again with what the database knows.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Environment } from '../config.ts'
import { isSignedErasure, type KnownErasure, type SignedErasure, signErasure } from '../core/audit/signed-erasure.ts'
import { objectIn } from '../core/stored-json.ts'
import type { MasterKey } from '../security/master-key.ts'

/** A file of erasures has a line that this installation did not sign. */
export class ForeignErasure extends Error {
  override name = 'ForeignErasure'
}

/** The database may be older than an erasure, and this node does not know which there were. */
export class MissingErasures extends Error {
  override name = 'MissingErasures'
}

/** The erasures of one environment that are known outside the database. */
export class KnownErasures {
  readonly file: string
  readonly #environment: Environment
  readonly #masterKey: Pick<MasterKey, 'auditSigningKey' | 'auditPublicKeys'>
  #known: Map<string, SignedErasure> | undefined

  constructor({
    dataDir,
    environment,
    masterKey,
  }: {
    dataDir: string
    environment: Environment
    masterKey: Pick<MasterKey, 'auditSigningKey' | 'auditPublicKeys'>
  }) {
    this.file = join(dataDir, `erasures-${environment}.jsonl`)
    this.#environment = environment
    this.#masterKey = masterKey
  }

  /** Whether the file is there: it is made at the first start. */
  exists(): boolean {
    return existsSync(this.file)
  }

  /** Reads the file again, which another process may have extended. */
  reload(): void {
    this.#known = new Map()
    if (!this.exists()) return
    for (const line of linesOf(readFileSync(this.file, 'utf8'))) this.#known.set(keyOf(line), line)
  }

  /** All of them. */
  all(): SignedErasure[] {
    return [...this.#loaded().values()]
  }

  has(erasure: Pick<KnownErasure, 'organization_id' | 'entity_id'>): boolean {
    return this.#loaded().has(keyOf(erasure))
  }

  /**
   * Refuses lines that neither the current nor a retired master key signed. Checked where an erasure is applied rather than when the
   * file is read: a signature takes 0.1 ms, and nearly no line is ever applied.
   */
  requireOwn(erasures: readonly SignedErasure[], file = this.file): void {
    const keys = this.#masterKey.auditPublicKeys(this.#environment)
    const foreign = erasures.find((erasure) => !isSignedErasure(this.#environment, erasure, keys))
    if (foreign)
      throw new ForeignErasure(
        `${file} says that ${foreign.entity_id} of ${this.#environment} was erased, which this installation did not sign`,
      )
  }

  /** Makes the file, unless it is there. */
  make(): void {
    if (this.exists()) return
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 })
    this.#append([])
    syncFolder(dirname(this.file))
  }

  /** Writes those that are not known yet to the disk, signed. The file has to be there: without it, others may have been lost. */
  add(erasures: readonly KnownErasure[]): void {
    const { privateKey } = this.#masterKey.auditSigningKey(this.#environment)
    const added = erasures.filter((erasure) => !this.has(erasure))
    if (added.length === 0) return
    if (!this.exists()) throw new MissingErasures(`${this.file} is missing`)
    this.#append(added.map((erasure) => signErasure(this.#environment, erasure, privateKey)))
  }

  /**
   * Takes the lines of another file; returns how many were not known. While this node has no file, one without lines says nothing
   * about the erasures that are missing.
   */
  supply(text: string, file: string): number {
    const lines = linesOf(text)
    if (lines.length === 0 && !this.exists()) throw new MissingErasures(`${file} names no erasure`)
    this.requireOwn(lines, file)
    const added = lines.filter((line) => !this.has(line))
    this.make()
    this.#append(added)
    return added.length
  }

  #append(lines: readonly SignedErasure[]): void {
    const descriptor = openSync(this.file, 'a', 0o600)
    try {
      // In front, because a crash may have cut off the line before.
      writeFileSync(descriptor, lines.map((line) => `\n${JSON.stringify(line)}`).join(''))
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    const known = this.#loaded()
    for (const line of lines) known.set(keyOf(line), line)
  }

  #loaded(): Map<string, SignedErasure> {
    if (!this.#known) this.reload()
    return this.#known!
  }
}

/** Writes the name of a new file to the disk. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return // opens no folders
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function keyOf({ organization_id, entity_id }: Pick<KnownErasure, 'organization_id' | 'entity_id'>): string {
  return `${organization_id} ${entity_id}`
}

function linesOf(text: string): SignedErasure[] {
  return text.split('\n').flatMap((line) => {
    const erasure = objectIn(line) as Partial<SignedErasure> | undefined
    const isWhole = [erasure?.organization_id, erasure?.entity_id, erasure?.entry_id, erasure?.signature].every(
      (field) => typeof field === 'string',
    )
    return isWhole ? [erasure as SignedErasure] : []
  })
}
