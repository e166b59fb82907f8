import { setImmediate } from 'node:timers/promises'
import { type Database, DatabaseError, DatabaseUnavailable } from '../database/database.ts'
import type { FlushMac } from './audit-insert.ts'
import { batchStatement, type Footprint, footprintOf } from './batch-statement.ts'
import { type AuthenticatedChange, type Committed, type Lost, type OwnRow, ownRowOf } from './change.ts'
import { packDocuments } from './decision-statements.ts'

/**
 * Bounds of one batch: large enough that all waiting changes share a commit, small enough to keep latency low. The embedded
 * database runs one statement at a time: one of this weight takes it at most about 0.1 s, in which no other organization reads.
 */
const CHANGES_MAX = 256
const WEIGHT_MAX = 2_500
const TRIES_MAX = 5

/**
 * Two statements in flight: one waits for fsync while the other is built. A third starved request handling (measured,
 * docs/performance.md).
 */
const IN_FLIGHT_MAX = 2

/** How long a batch without an answer is looked for before its outcome counts as unknown. */
const LOOK_UP_WITHIN_MS = 5_000

/** The database's answer to a commit was lost, and it could not be found out whether the change was written. */
export class CommitUnknown extends DatabaseUnavailable {
  override name = 'CommitUnknown'
}

const UNKNOWN =
  'the answer of the database was lost, so it is not known whether the change was recorded: check before you repeat it'

interface Waiting {
  change: AuthenticatedChange
  footprint: Footprint
  resolve: (committed: Committed) => void
  reject: (error: unknown) => void
}

/**
 * The one way to write on hot paths: changes that arrive while a flush is in flight share the next one, a single
 * statement and so a single round trip and commit. There are no timers, so a change never waits on an idle node.
 *
 * A change is in one of these states:
 *
 *     queued      handed in by `commit`; organizations take turns, each in order of arrival
 *     in flight   part of a batch whose statement runs
 *     alone       in flight again by itself, after PostgreSQL refused its batch
 *     settled     resolved as written, resolved as lost to a concurrent writer, or rejected
 *
 * Transitions:
 *
 *     queued → in flight      when no batch is in flight; or beside one batch, once at least as many changes are queued
 *                             as that batch holds (a smaller batch waits, to share one statement) and they lock none of its rows
 *     in flight → written     the statement succeeded
 *     in flight → in flight   a deadlock, or two nodes chose the same number on a trail: the statement is retried
 *     in flight → alone       PostgreSQL refused a batch of several: each change is flushed alone, to find the one at fault
 *     alone → lost            its precondition does not hold: nothing of it was written
 *     in flight → looked up   the statement was sent, and its answer was lost; or its wait for a standby was cancelled
 *     looked up → written     the session that ran the statement is gone, a row of the batch is stored, and so `durably`
 *     looked up → lost        that session is gone, and the row is not stored: it never will be
 *     looked up → rejected    as unknown (`CommitUnknown`): it has no row of its own, no answer came within `LOOK_UP_WITHIN_MS`, or no
 *                             standby confirmed it
 *     in flight → rejected    the statement could not be sent; or PostgreSQL refused a change that was alone
 *     queued → rejected       a batch before it got no answer, so this one would only wait for the same timeout
 *
 * INVARIANT: two batches in flight never lock the same entity, trail or guarded row. Other rows that they may share
 * (usage, idempotency keys) are locked in key order, as between nodes.
 */
export class GroupCommit {
  readonly #database: Database
  readonly #macOf: FlushMac
  #queue: Waiting[] = []
  readonly #inFlight = new Map<Waiting[], Promise<void>>()
  #starting: Promise<void> | undefined
  #notifyDeliveriesQueued: () => void = () => {}

  constructor(database: Database, macOf: FlushMac) {
    this.#database = database
    this.#macOf = macOf
  }

  /**
   * Resolves once the change is durable, or once it is certain that nothing of it was written. Rejects with
   * `CommitUnknown` if PostgreSQL's answer was lost, and with any other error if nothing was written.
   */
  commit(change: AuthenticatedChange): Promise<Committed> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, footprint: footprintOf(change), resolve, reject })
      this.#startSoon()
    })
  }

  /** Resolves when every change that was handed in is settled. */
  async drain(): Promise<void> {
    while (this.#starting || this.#inFlight.size > 0) await Promise.all([this.#starting, ...this.#inFlight.values()])
  }

  /** Registers the listener that is called after a commit that queued webhook deliveries. */
  onDeliveriesQueued(listener: () => void): void {
    this.#notifyDeliveriesQueued = listener
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** Starts once the event loop has handled what has arrived, so that all changes of this turn join the first batch. */
  #startSoon(): void {
    this.#starting ??= setImmediate().then(() => {
      this.#starting = undefined
      this.#start()
    })
  }

  #start(): void {
    while (this.#queue.length > 0 && this.#mayStart()) {
      const batch = this.#takeBatch()
      if (batch.length === 0) return
      const flushed = this.#flush(batch).finally(() => {
        this.#inFlight.delete(batch)
        this.#start()
      })
      this.#inFlight.set(batch, flushed)
    }
  }

  #mayStart(): boolean {
    if (this.#inFlight.size >= IN_FLIGHT_MAX) return false
    return [...this.#inFlight.keys()].every((batch) => batch.length <= this.#queue.length)
  }

  /**
   * The changes that one statement can hold, of each organization in order of arrival; empty if the first of each has to
   * wait for a flush.
   */
  #takeBatch(): Waiting[] {
    const locked = new Set<string>()
    for (const batch of this.#inFlight.keys()) {
      for (const { footprint } of batch) for (const row of footprint.locked) locked.add(row)
    }
    const guarded = new Set<string>()
    const waitingOrganizations = new Set<string>()
    const batch = new Set<Waiting>()
    let weight = 0
    for (const waiting of byTurns(this.#queue)) {
      if (batch.size === CHANGES_MAX) break
      const { change, footprint } = waiting
      if (waitingOrganizations.has(change.organizationId)) continue
      if (
        footprint.locked.some((row) => locked.has(row)) ||
        (batch.size > 0 && weight + footprint.weight > WEIGHT_MAX) ||
        footprint.guarded.some((row) => guarded.has(row))
      ) {
        waitingOrganizations.add(change.organizationId)
        continue
      }
      batch.add(waiting)
      weight += footprint.weight
      for (const row of footprint.guarded) guarded.add(row)
    }
    this.#queue = this.#queue.filter((waiting) => !batch.has(waiting))
    return [...batch]
  }

  async #flush(batch: Waiting[]): Promise<void> {
    let deliveries = 0
    try {
      deliveries = await this.#write(batch.map(({ change }) => change))
      for (const { resolve } of batch) resolve({})
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return this.#settleUnavailable(batch, error)
      if (batch.length === 1) return settle(batch[0]!, error)
      if (!(error instanceof DatabaseError)) {
        for (const { reject } of batch) reject(error)
        return
      }
      // One change failed and took the batch with it: each alone shows which.
      for (const waiting of batch) await this.#flush([waiting])
    }
    if (deliveries > 0) this.#notifyDeliveriesQueued()
  }

  async #settleUnavailable(batch: Waiting[], error: DatabaseUnavailable): Promise<void> {
    if (error.code === undefined) {
      for (const { reject } of this.#queue.splice(0)) reject(new DatabaseUnavailable(error.message, { cause: error }))
    }
    const isWritten = error.mayHaveRun ? await this.#findOut(batch, error).catch(() => undefined) : false
    if (isWritten) {
      for (const { resolve } of batch) resolve({})
      this.#notifyDeliveriesQueued()
    } else if (isWritten === undefined) {
      for (const { reject } of batch) reject(new CommitUnknown(UNKNOWN, { cause: error }))
    } else if (error.mayHaveRun) {
      for (const { resolve } of batch) resolve({ lost: 'no_answer' })
    } else {
      for (const { reject } of batch) reject(error)
    }
  }

  /**
   * Whether a batch whose answer was lost was written; undefined if that cannot be found out.
   *
   * That a row is absent proves nothing while the statement may still run, or may still arrive at the server. So the
   * session that it was sent on is ended first. The batch is one statement, so one of its rows speaks for all.
   */
  async #findOut(batch: Waiting[], { endSession }: DatabaseUnavailable): Promise<boolean | undefined> {
    const row = batch.map(({ change }) => ownRowOf(change)).find((own) => own !== undefined)
    if (!row || !(await endSession!(LOOK_UP_WITHIN_MS))) return undefined
    // It may be stored on the primary alone.
    return (await this.#database.durably(async () => (await isStored(this.#database, row)) || undefined)) ?? false
  }

  /** Writes changes and returns the number of webhook deliveries that they queued. */
  async #write(changes: readonly AuthenticatedChange[]): Promise<number> {
    const packed = await packDocuments(changes)
    const { steps, sql, params } = batchStatement(changes, { macOf: this.#macOf, packed })
    if (steps === 0) return 0
    for (let tries = 1; ; tries++) {
      try {
        const [row] = await this.#database.query<{ deliveries: number }>(sql, params, { keepPlan: true })
        return row?.deliveries ?? 0
      } catch (error) {
        if (tries === TRIES_MAX || !isRetriable(error)) throw error
      }
    }
  }
}

/** The first change of each organization, then the second of each, and so on; the organization that waited longest begins. */
function byTurns(queue: readonly Waiting[]): readonly Waiting[] {
  const byOrganization = [...Map.groupBy(queue, ({ change }) => change.organizationId).values()]
  if (byOrganization.length === 1) return queue
  const longest = Math.max(...byOrganization.map(({ length }) => length))
  return Array.from({ length: longest }, (_, place) => byOrganization.flatMap((own) => own[place] ?? [])).flat()
}

/** A deadlock, or a number on a trail that another node gave first. Neither wrote anything; a retry sees the other's rows. */
function isRetriable(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  return error.isTransient || (error.isUniqueViolation && error.constraint === 'audit_entries_org_id_trail_id_seq_key')
}

async function isStored(database: Database, { table, organizationId, id }: OwnRow): Promise<boolean> {
  const sql = `SELECT 1 FROM ${table} WHERE org_id = $1 AND id = $2`
  return (await database.within(LOOK_UP_WITHIN_MS).query(sql, [organizationId, id])).length > 0
}

function settle({ resolve, reject }: Waiting, error: unknown): void {
  const lost = error instanceof DatabaseError && lostBy(error)
  if (lost) resolve({ lost })
  else reject(error)
}

/** The rows whose first write is guarded by their primary key. */
const WRITTEN_ONCE: Partial<Record<string, Lost>> = {
  idempotency_keys_pkey: 'idempotency_key',
  open_offers_pkey: 'open_offers',
}

/** The precondition that did not hold. The SQLSTATE alone says that nothing was written: a proxy may drop the field that names it. */
function lostBy({ code, constraint, isUniqueViolation }: DatabaseError): Lost | false {
  const first = isUniqueViolation && constraint && WRITTEN_ONCE[constraint]
  if (first) return first
  if (code === 'VG001' || (isUniqueViolation && !constraint)) return (constraint || 'unnamed') as Lost
  return false
}
