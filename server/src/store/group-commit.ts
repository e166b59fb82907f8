import { type Database, DatabaseError } from './database.ts'
import { columnsOf, insertRows, Params, type RowOf, type TableName, unnestRows } from './tables.ts'

/** Tables that only ever gain rows and that ask nothing of the batch. */
type PlainTable = Exclude<TableName, 'idempotency_keys' | 'entities' | 'audit_entries' | 'usage_by_day'>

/** Everything one request changes. It is written whole or not at all. */
export interface Change {
  /** The answer of the request under its idempotency key; an equal key written first makes this change lose. */
  idempotencyKey?: RowOf<'idempotency_keys'>
  /** Entities seen for the first time; a known `external_id` makes this change lose. */
  newEntities?: RowOf<'entities'>[]
  /** Entities with their next version; a version in between makes this change lose. */
  changedEntities?: RowOf<'entities'>[]
  /** Keys that end; one that is unknown or has ended before makes this change lose. */
  revokedKeys?: Pick<RowOf<'api_keys'>, 'org_id' | 'id' | 'revoked_at'>[]
  rows?: { [T in PlainTable]?: RowOf<T>[] }
  auditEntries?: RowOf<'audit_entries'>[]
  usage?: RowOf<'usage_by_day'>[]
}

/** What another node or request had written first. */
export type Lost = 'idempotency_key' | 'new_entity' | 'entity_version' | 'api_key'

/** The fate of a change: on disk, or not written at all because another was first. */
export type Committed = { lost?: Lost }

/** Bounds of one statement: enough to share a commit between all who wait, small enough not to hold anyone up. */
const CHANGES_MAX = 256
const ROWS_MAX = 5_000
const TRIES_MAX = 5

interface Waiting {
  change: Change
  resolve: (committed: Committed) => void
  reject: (error: unknown) => void
}

/**
 * The one way to write on hot paths. Changes that arrive while a flush is in flight share the next one: a single
 * statement, so a single round trip and a single commit. No timers, so nobody waits when there is nothing to wait for.
 */
export class GroupCommit {
  readonly #database: Database
  #queue: Waiting[] = []
  #flushing: Promise<void> | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** Resolves once the change is durable, or once it is certain that nothing of it was written. */
  commit(change: Change): Promise<Committed> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject })
      this.#flushing ??= this.#flushAll()
    })
  }

  /** Resolves when everything that was handed in has been written. */
  async drain(): Promise<void> {
    while (this.#flushing) await this.#flushing
  }

  get waiting(): number {
    return this.#queue.length
  }

  async #flushAll(): Promise<void> {
    // Requests of the same turn of the event loop join the first batch too.
    await Promise.resolve()
    while (this.#queue.length > 0) await this.#flush(this.#takeBatch())
    // In the same step as the last look at the queue: a change that came in between would wait for a flush that never comes.
    this.#flushing = undefined
  }

  #takeBatch(): Waiting[] {
    const seen = new Set<string>()
    let rows = 0
    let end = 0
    for (; end < this.#queue.length && end < CHANGES_MAX; end++) {
      const { change } = this.#queue[end]!
      const claims = claimsOf(change)
      rows += countRows(change)
      if (end > 0 && (rows > ROWS_MAX || claims.some((claim) => seen.has(claim)))) break
      for (const claim of claims) seen.add(claim)
    }
    return this.#queue.splice(0, end)
  }

  async #flush(batch: Waiting[]): Promise<void> {
    try {
      await this.#write(batch.map(({ change }) => change))
      for (const { resolve } of batch) resolve({})
    } catch (error) {
      if (batch.length === 1) return settle(batch[0]!, error)
      // One change of many lost or failed and took the batch with it: each alone finds out which.
      for (const waiting of batch) await this.#flush([waiting])
    }
  }

  async #write(changes: readonly Change[]): Promise<void> {
    const { steps, sql, params } = batchStatement(changes)
    if (steps === 0) return
    for (let tries = 1; ; tries++) {
      try {
        await this.#database.query(sql, params)
        return
      } catch (error) {
        if (tries === TRIES_MAX || !mayTryAgain(error)) throw error
      }
    }
  }
}

/** Deadlocks, and two nodes that gave the same number on one trail, have written nothing; the next try sees the other's rows. */
function mayTryAgain(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  return error.isTransient || (error.isUniqueViolation && error.constraint === 'audit_entries_org_id_trail_id_seq_key')
}

function settle({ resolve, reject }: Waiting, error: unknown): void {
  if (error instanceof DatabaseError && error.code === 'VG001') resolve({ lost: error.constraint as Lost })
  else reject(error)
}

/** What at most one change of a batch may touch: the second would otherwise collide with the first inside one statement. */
function claimsOf({ idempotencyKey, newEntities = [], changedEntities = [] }: Change): string[] {
  return [
    ...(idempotencyKey ? [`key ${idempotencyKey.org_id} ${idempotencyKey.route} ${idempotencyKey.key}`] : []),
    ...newEntities.map((entity) => `external_id ${entity.org_id} ${entity.external_id}`),
    ...changedEntities.map((entity) => `entity ${entity.org_id} ${entity.id}`),
  ]
}

function countRows({ rows = {}, auditEntries = [] }: Change): number {
  return Object.values(rows).reduce((sum, tableRows) => sum + tableRows.length, 1 + auditEntries.length)
}

function batchStatement(changes: readonly Change[]): { steps: number; sql: string; params: unknown[] } {
  const params = new Params()
  const steps: string[] = []
  const requirements: string[] = []
  const step = (sql: string) => steps.push(`s${steps.length} AS (${sql})`)
  const require = (rows: number, what: Lost) =>
    requirements.push(
      `require_rows((SELECT count(*) FROM s${steps.length - 1}), ${params.add(rows, 'bigint')}, '${what}')`,
    )

  const keys = changes.flatMap((change) => change.idempotencyKey ?? [])
  if (keys.length > 0) {
    step(`${insertRows('idempotency_keys', keys, params)} ON CONFLICT DO NOTHING RETURNING 1`)
    require(keys.length, 'idempotency_key')
  }
  const newEntities = changes.flatMap((change) => change.newEntities ?? [])
  if (newEntities.length > 0) {
    step(`${insertRows('entities', newEntities, params)} ON CONFLICT DO NOTHING RETURNING 1`)
    require(newEntities.length, 'new_entity')
  }
  const changedEntities = changes.flatMap((change) => change.changedEntities ?? [])
  if (changedEntities.length > 0) {
    step(updateEntities(changedEntities, params))
    require(changedEntities.length, 'entity_version')
  }
  const revokedKeys = changes.flatMap((change) => change.revokedKeys ?? [])
  if (revokedKeys.length > 0) {
    step(revokeKeys(revokedKeys, params))
    require(revokedKeys.length, 'api_key')
  }
  for (const [table, rows] of gatherRows(changes)) step(insertRows(table, rows as never, params))

  const auditEntries = changes.flatMap((change) => change.auditEntries ?? [])
  if (auditEntries.length > 0) {
    step(insertAuditEntries(auditEntries, params))
    step(`INSERT INTO audit_pending (org_id, entry_id) SELECT org_id, id FROM s${steps.length - 1}`)
  }
  const usage = changes.flatMap((change) => change.usage ?? [])
  if (usage.length > 0) step(addUsage(usage, params))

  return {
    steps: steps.length,
    sql: `WITH ${steps.join(',\n')}\nSELECT ${requirements.join(', ') || '1'}`,
    params: params.values,
  }
}

function gatherRows(changes: readonly Change[]): Map<PlainTable, unknown[]> {
  const gathered = new Map<PlainTable, unknown[]>()
  for (const { rows = {} } of changes) {
    for (const [table, tableRows] of Object.entries(rows) as [PlainTable, unknown[]][]) {
      if (tableRows.length > 0) gathered.set(table, [...(gathered.get(table) ?? []), ...tableRows])
    }
  }
  // A fixed order keeps the statement's text, and with it the prepared plan, the same for the same set of tables.
  return new Map([...gathered].sort(([a], [b]) => a.localeCompare(b)))
}

function updateEntities(entities: readonly RowOf<'entities'>[], params: Params): string {
  const columns = columnsOf('entities')
  const assignments = ['type', 'display_name', 'country', 'metadata', 'state', 'version', 'updated_at'].map(
    (column) => `${column} = next.${column}`,
  )
  return `UPDATE entities SET ${assignments.join(', ')}
    FROM ${unnestRows('entities', entities, params)} AS next (${columns.join(', ')})
    WHERE entities.org_id = next.org_id AND entities.id = next.id AND entities.version = next.version - 1 RETURNING 1`
}

function revokeKeys(keys: NonNullable<Change['revokedKeys']>, params: Params): string {
  const [organizations, ids, times] = [
    keys.map((key) => key.org_id),
    keys.map((key) => key.id),
    keys.map((key) => key.revoked_at),
  ]
  return `UPDATE api_keys SET revoked_at = ended.at
    FROM unnest(${params.add(organizations, 'text[]')}, ${params.add(ids, 'text[]')}, ${params.add(times, 'timestamptz[]')}) AS ended (org_id, id, at)
    WHERE api_keys.org_id = ended.org_id AND api_keys.id = ended.id AND api_keys.revoked_at IS NULL RETURNING 1`
}

function insertAuditEntries(entries: readonly RowOf<'audit_entries'>[], params: Params): string {
  const columns = columnsOf('audit_entries')
  return `INSERT INTO audit_entries (${columns.join(', ')}, seq)
    SELECT ${columns.map((column) => `entry.${column}`).join(', ')},
      coalesce((SELECT max(seq) FROM audit_entries AS earlier WHERE earlier.org_id = entry.org_id AND earlier.trail_id = entry.trail_id), 0)
        + row_number() OVER (PARTITION BY entry.org_id, entry.trail_id ORDER BY entry.ordinality)
    FROM ${unnestRows('audit_entries', entries, params)} WITH ORDINALITY AS entry (${columns.join(', ')}, ordinality)
    RETURNING org_id, id`
}

function addUsage(usage: readonly RowOf<'usage_by_day'>[], params: Params): string {
  const totals = new Map<string, RowOf<'usage_by_day'>>()
  for (const row of usage) {
    const name = `${row.org_id} ${row.day} ${row.node} ${row.counter}`
    totals.set(name, { ...row, count: row.count + (totals.get(name)?.count ?? 0) })
  }
  return `${insertRows('usage_by_day', [...totals.values()], params)}
    ON CONFLICT (org_id, day, node, counter) DO UPDATE SET count = usage_by_day.count + excluded.count`
}
