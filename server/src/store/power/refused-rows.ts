import { LRUCache } from 'lru-cache'
import type { PowerTable } from './power-tables.ts'

/** A row that grants power and was refused. */
export interface RefusedRow {
  table: PowerTable | 'entries_to_record'
  /** The subject of its entries; of a queued entry, its log and its position. */
  subject: string
  why: 'mac' | 'entry'
}

/** A row that goes on being read is reported once in this time. */
const REPORTED_EVERY_MS = 60_000
const ROWS_REMEMBERED_MAX = 1_000

/**
 * Reports rows that grant power and were refused: their MAC is not valid, or their entry is not the newest. Also reports
 * queued entries that this service did not write.
 */
export class RefusedRows {
  readonly #reported = new LRUCache<string, true>({ max: ROWS_REMEMBERED_MAX, ttl: REPORTED_EVERY_MS })
  #listener: (row: RefusedRow) => void = () => {}

  /** Registers the listener that is called for a refused row. */
  onRefused(listener: (row: RefusedRow) => void): void {
    this.#listener = listener
  }

  report(row: RefusedRow): void {
    const name = `${row.table} ${row.subject} ${row.why}`
    if (this.#reported.has(name)) return
    this.#reported.set(name, true)
    this.#listener(row)
  }
}
