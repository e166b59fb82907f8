import { isObject } from '../../core/stored-json.ts'
import { insertRows, ofOrganization, Params, type PlainTable } from '../schema/tables.ts'
import { STEPS, type StatementParts } from './batch-steps.ts'
import type { AuthenticatedChange, OfOrganization } from './change.ts'
import { TAKE_FLUSH_NUMBER } from './flush-number.ts'

/**
 * The one statement that writes a batch of changes, or fails and writes nothing if one of their preconditions does not
 * hold. It returns one row with the number of `deliveries` that it queued.
 */
export function batchStatement(
  changes: readonly AuthenticatedChange[],
  parts: StatementParts,
): {
  steps: number
  sql: string
  params: unknown[]
} {
  const params = new Params()
  const steps = [TAKE_FLUSH_NUMBER]
  const requirements: string[] = []
  const queues: string[] = []
  for (const { rowsOf, sql, guard, queuesDeliveries } of STEPS) {
    const rows = changes.flatMap((change) => ofOrganization(change.organizationId, rowsOf(change)))
    if (rows.length === 0) continue
    const name = `s${steps.length}`
    steps.push(`${name} AS (${sql(rows, params, parts)})`)
    if (guard) {
      const expected = params.add(rows.length, 'bigint')
      requirements.push(`require_rows((SELECT count(*) FROM ${name}), ${expected}, '${guard.precondition}')`)
    }
    if (queuesDeliveries) queues.push(`(SELECT count(*) FROM ${name})`)
  }
  for (const [table, rows] of gatherRows(changes))
    steps.push(`s${steps.length} AS (${insertRows(table, rows as never, params)})`)
  return {
    steps: steps.length - 1, // taking a number writes nothing
    sql: `WITH ${steps.join(',\n')}\nSELECT ${[...requirements, `${queues.join(' + ') || '0'} AS deliveries`].join(', ')}`,
    params: params.values,
  }
}

/** The rows of plain tables, by table. */
function gatherRows(changes: readonly AuthenticatedChange[]): Map<PlainTable, OfOrganization[]> {
  const gathered = new Map<PlainTable, OfOrganization[]>()
  for (const change of changes) {
    for (const [table, tableRows] of Object.entries(change.rows ?? {}) as [PlainTable, object[]][]) {
      if (tableRows.length === 0) continue
      gathered.set(table, [...(gathered.get(table) ?? []), ...ofOrganization(change.organizationId, tableRows)])
    }
  }
  // Sorted, so that the same set of tables gives the same SQL text, which is prepared once.
  return new Map([...gathered].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** What a change takes of the statement that writes it. */
export interface Footprint {
  /** Rows that at most one change of a batch may write. */
  guarded: readonly string[]
  /** Rows, entities and trails that two statements in flight must not share: the second would wait for the first. */
  locked: readonly string[]
  /** What it costs the database, in rows of little text. */
  weight: number
}

/** How many characters of text cost the database about as much as another row. */
const CHARACTERS_PER_ROW = 1_000

/** The steps that lock rows. */
const LOCKING_STEPS = STEPS.filter((step) => step.guard?.row || step.locks)

/** What a change takes: locks by the steps that write it, and its weight by its rows. */
export function footprintOf(change: AuthenticatedChange): Footprint {
  const { organizationId, rows: plainRows = {} } = change
  const guarded: string[] = []
  const locked: string[] = []
  for (const { rowsOf, guard, locks } of LOCKING_STEPS) {
    for (const row of rowsOf(change)) {
      if (guard?.row) guarded.push(`${guard.precondition} ${organizationId} ${guard.row(row)}`)
      if (locks) locked.push(`${organizationId} ${locks(row)}`)
    }
  }
  const weight = weightOf(change) + weightOf(plainRows)
  return { guarded, locked: [...guarded, ...locked], weight }
}

/** The weight of all rows in the lists of an object. */
function weightOf(lists: object): number {
  let weight = 0
  for (const rows of Object.values(lists)) {
    if (!Array.isArray(rows)) continue
    for (const row of rows) weight += 1 + charactersIn(row) / CHARACTERS_PER_ROW
  }
  return weight
}

/** The texts of a row, and of an object in it, such as the documents of a decision. */
function charactersIn(row: object): number {
  let sum = 0
  for (const value of Object.values(row)) {
    if (typeof value === 'string') sum += value.length
    else if (isObject(value) && !(value instanceof Uint8Array)) sum += charactersIn(value)
  }
  return sum
}
