import type { KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Database, Queryable, Row, StatementOptions, Transaction } from '../database/database.ts'
import type { EnvironmentStore } from '../environment/environment-store.ts'
import { type EntriesOfSubject, subjectText } from '../environment/newest-entries.ts'
import { type EntryToRecord, queueEntries, recordQueued, refusedEntries } from './entry-queue.ts'
import { INSTALLATION_LOG, POWER_TABLES, type PowerTable, powerDefinition } from './power-tables.ts'
import type { RefusedRow, RefusedRows } from './refused-rows.ts'
import { hasValidSeal, type Seal, sealRow } from './row-mac.ts'

/** The tables of the control database whose rows grant power. */
export type ControlPowerTable = Exclude<PowerTable, 'api_keys'>

/** The tables whose rows end all at once with an act of their account. */
export type AccountPowerTable = 'sessions' | 'passkeys' | 'account_identities'

/** The column of a row that ends with all others of its account. */
export interface AfterEntry {
  /** The newest entry that ended them when the row was made; null if there was none. */
  after_entry_id: string | null
}

/** A row that grants power, as it was read. */
export interface PowerRow {
  table: ControlPowerTable
  row: Row
}

/** A row that this service wrote, the entries that can make it so, and whether its own is the newest of them. */
export interface WrittenRow extends PowerRow {
  entries: EntriesOfSubject
  /** The entries that end all rows of its kind, if it belongs to an account. */
  endings: EntriesOfSubject | undefined
  isNewest: boolean
}

/** How rows are read. */
interface ReadOptions {
  /** False for a row that is sealed anew: one that ended less than half a second ago would count for good. */
  mayBeCached?: boolean
}

/** How long a node uses the newest entry that it read: an earlier row that was put back is refused within a second. */
const TTL_MS = 500
const SUBJECTS_CACHED_MAX = 10_000
/** Reads until a row that does not agree with the log is refused: it may have changed between the two reads. */
const READS_MAX = 3

interface Parts {
  rowKey: KeyObject
  /** The store of production, whose logs have the entries of people. */
  production: EnvironmentStore
  refusedRows: RefusedRows
  nowMs: () => number
  /** What else the transaction of an act writes, as its last statement. */
  alongside?: (transaction: Queryable) => Promise<void>
}

/**
 * The control database, with the checks of rows that grant power (`power-tables.ts`).
 *
 * Rows and logs are in different databases, which share no transaction. So the entries of an act are queued in the
 * transaction that changes its rows, and recorded afterwards. Until then the rows are refused: nothing is granted
 * unrecorded, and a node that stops in between leaves the queue to the next reader.
 */
export class ControlDatabase implements Database {
  readonly #control: Database
  readonly #parts: Parts
  #newest = new LRUCache<string, { id: string | undefined; untilMs: number }>({ max: SUBJECTS_CACHED_MAX })

  constructor(control: Database, parts: Parts) {
    this.#control = control
    this.#parts = parts
  }

  get schema(): string {
    return this.#control.schema
  }

  query<R extends Row = Row>(sql: string, params?: readonly unknown[], options?: StatementOptions): Promise<R[]> {
    return this.#control.query<R>(sql, params, options)
  }

  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#control.transaction(work)
  }

  within(ms: number): Queryable {
    return this.#control.within(ms)
  }

  durably<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.#control.durably(read)
  }

  inSchema(schema: string): Database {
    return this.#control.inSchema(schema)
  }

  close(): Promise<void> {
    return this.#control.close()
  }

  /** The same database, with acts whose transactions also do `alongside`. It shares what was read of the logs. */
  actingWith(alongside: (transaction: Queryable) => Promise<void>): ControlDatabase {
    const acting = new ControlDatabase(this.#control, { ...this.#parts, alongside })
    acting.#newest = this.#newest
    return acting
  }

  /** Adds to a row the entry that makes it so, and its MAC. */
  seal<R extends object>(
    table: ControlPowerTable,
    row: R,
    { entry }: { entry: Pick<EntryToRecord['entry'], 'id'> },
  ): R & Seal {
    return sealRow(this.#parts.rowKey, table, { row, entryId: entry.id })
  }

  /** Adds to a new row of an account the newest entry that ended all earlier ones; read before the row's transaction. */
  async afterEndings<R extends { account_id: string }>(table: AccountPowerTable, row: R): Promise<R & AfterEntry> {
    await this.recordQueued()
    return { ...row, after_entry_id: await this.newestEnding(endingsOf({ table, row: row as unknown as Row })!) }
  }

  /** The newest entry that ended all rows of a kind of an account. */
  async newestEnding(endings: EntriesOfSubject): Promise<string | null> {
    return (await this.#newestEntry(endings, false)) ?? null
  }

  /** Reads rows of one table that grant power, and leaves out those that are refused. */
  genuine<R extends Row>(table: ControlPowerTable, read: () => Promise<R[]>, options?: ReadOptions): Promise<R[]> {
    return this.genuineParts(read, (row) => [{ table, row }], options)
  }

  /** Reads rows that are joined from several tables, and leaves out those of which any part is refused. */
  async genuineParts<R extends Row>(
    read: () => Promise<R[]>,
    partsOf: (row: R) => readonly PowerRow[],
    { mayBeCached = true }: ReadOptions = {},
  ): Promise<R[]> {
    for (let reads = 1; ; reads++) {
      const rows = await read()
      const refused = await Promise.all(rows.map((row) => this.#refusedPart(partsOf(row), mayBeCached && reads === 1)))
      const mayRepeat = refused.some((part) => part?.why === 'entry') && reads < READS_MAX
      if (!mayRepeat) {
        for (const part of refused) if (part) this.#parts.refusedRows.report(part)
        return rows.filter((_, index) => !refused[index])
      }
      await this.recordQueued()
    }
  }

  /** The rows of a log's tables that are refused in use. Only a MAC tells of rows that are kept after their end. */
  async refusedRows(organizationId: string): Promise<RefusedRow[]> {
    await this.recordQueued()
    const queued = await refusedEntries(this.#control, this.#parts.production)
    const refused = queued.filter(({ subject }) => subject.startsWith(`${organizationId} `))
    for (const table of Object.keys(POWER_TABLES) as PowerTable[]) {
      const { columns, log, isKept } = powerDefinition(table)
      if (table === 'api_keys' || (log === 'installation') !== (organizationId === INSTALLATION_LOG)) continue
      const all = `SELECT ${columns.join(', ')}, entry_id, mac FROM ${table}`
      const rows = await (log === 'installation'
        ? this.query(all)
        : this.query(`${all} WHERE org_id = $1`, [organizationId]))
      const parts = await Promise.all(rows.map((row) => this.#refusedPart([{ table, row }], false)))
      refused.push(...parts.flatMap((part) => (part && (part.why === 'mac' || !isKept) ? [part] : [])))
    }
    return refused
  }

  /** The rows of a table that this service wrote, and whether the log has nothing newer about them, nor ended their kind. */
  async writtenRows(table: ControlPowerTable): Promise<WrittenRow[]> {
    const rows = await this.query(`SELECT ${powerDefinition(table).columns.join(', ')}, entry_id, mac FROM ${table}`)
    const written = rows.filter((row) => hasValidSeal(this.#parts.rowKey, table, row))
    return Promise.all(
      written.map(async (row) => {
        const part = { table, row }
        const isNewest = (await this.#refusedPart([part], false)) === undefined
        return { ...part, entries: entriesOf(part), endings: endingsOf(part), isNewest }
      }),
    )
  }

  /** Whether the log has an entry that makes rows of a table, whatever became of the row of this subject. */
  async hasEntry(part: PowerRow, { mayBeCached = false } = {}): Promise<boolean> {
    return (await this.#newestEntry(entriesOf(part), mayBeCached)) !== undefined
  }

  /**
   * Carries out an act on rows that grant power, with its entries: both or neither. `work` changes rows, and calls
   * `record` once it is certain that they are changed; its statements must be the transaction's. With `isStep` the
   * caller's act is not done with this one, and what else its transaction writes comes with a later one.
   */
  async recorded<T>(
    work: (transaction: Queryable, record: (...entries: EntryToRecord[]) => void) => Promise<T>,
    { isStep = false } = {},
  ): Promise<T> {
    const entries: EntryToRecord[] = []
    const result = await this.#control.transaction(async (transaction) => {
      const done = await work(transaction, (...added) => void entries.push(...added))
      if (entries.length > 0) {
        await queueEntries(transaction, this.#parts.production, entries)
        if (!isStep) await this.#parts.alongside?.(transaction)
      }
      return done
    })
    if (entries.length > 0) await this.recordQueued()
    for (const entry of entries) this.#forget(entry)
    return result
  }

  /** Writes the entries of acts to their logs, also of nodes that stopped before they could. */
  recordQueued(): Promise<void> {
    return recordQueued(this.#control, this.#parts.production, this.#parts.refusedRows)
  }

  /** Reads the newest entry anew for every row that an entry makes or ends. */
  #forget({ organizationId, entry: { type, subject_id: subjectId } }: EntryToRecord): void {
    for (const table of Object.keys(POWER_TABLES) as PowerTable[]) {
      const { entryTypes, endedByAccount = [] } = powerDefinition(table)
      for (const types of [entryTypes, endedByAccount])
        if (types.includes(type)) this.#newest.delete(subjectText({ organizationId, subjectId, types }))
    }
  }

  async #refusedPart(parts: readonly PowerRow[], mayBeCached: boolean) {
    for (const part of parts) {
      const entries = entriesOf(part)
      const refused = { table: part.table, subject: entries.subjectId }
      if (!hasValidSeal(this.#parts.rowKey, part.table, part.row)) return { ...refused, why: 'mac' as const }
      const endings = endingsOf(part)
      // At once, so that they share a statement.
      const [newest, ending] = await Promise.all([
        this.#newestEntry(entries, mayBeCached),
        endings && this.#newestEntry(endings, mayBeCached),
      ])
      if (newest !== part.row.entry_id || (endings && (ending ?? null) !== part.row.after_entry_id))
        return { ...refused, why: 'entry' as const }
    }
    return undefined
  }

  async #newestEntry(entries: EntriesOfSubject, mayBeCached: boolean): Promise<string | undefined> {
    const name = subjectText(entries)
    const now = this.#parts.nowMs()
    const cached = this.#newest.get(name)
    if (mayBeCached && cached && now < cached.untilMs) return cached.id
    const id = await this.#parts.production.auditLog.newestEntry(entries)
    this.#newest.set(name, { id, untilMs: now + TTL_MS })
    return id
  }
}

function entriesOf({ table, row }: PowerRow): EntriesOfSubject {
  const { log, subjectOf, entryTypes } = powerDefinition(table)
  return {
    organizationId: log === 'installation' ? INSTALLATION_LOG : String(row.org_id),
    subjectId: subjectOf(row),
    types: entryTypes,
  }
}

function endingsOf({ table, row }: PowerRow): EntriesOfSubject | undefined {
  const { endedByAccount: types } = powerDefinition(table)
  return types && { organizationId: INSTALLATION_LOG, subjectId: String(row.account_id), types }
}
