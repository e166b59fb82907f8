import { type Database, DatabaseError } from '../database/database.ts'
import { batchStatement } from './batch-statement.ts'
import { type Change, type Committed, claimsOf, countRows, type Lost, touchedBy } from './change.ts'

/** Bounds of one statement: enough to share a commit between all who wait, small enough not to hold anyone up. */
const CHANGES_MAX = 256
const ROWS_MAX = 5_000
const TRIES_MAX = 5

/** While one statement waits for the disk, another can be written; more would take the time of those who decide. */
const UNDER_WAY_MAX = 2

interface Waiting {
  change: Change
  resolve: (committed: Committed) => void
  reject: (error: unknown) => void
}

/**
 * The one way to write on hot paths. Changes that arrive while a flush is under way share the next one: a single
 * statement, so a single round trip and a single commit. No timers, so nobody waits when there is nothing to wait for.
 *
 * A second flush starts beside the first once as many wait as are under way: before that, they had better share a
 * statement. What an entity or a trail hangs on is never in both. What else may be, as with another node, is locked in
 * one order everywhere.
 */
export class GroupCommit {
  readonly #database: Database
  readonly #queue: Waiting[] = []
  readonly #underWay = new Map<Waiting[], Promise<void>>()
  #isStarting = false
  #onDeliveries: () => void = () => {}

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * Resolves once the change is durable, or once it is certain that nothing of it was written. Rejects when the database
   * refused it or did not answer; in the latter case nobody can say whether it was written.
   */
  commit(change: Change): Promise<Committed> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject })
      void this.#startSoon()
    })
  }

  /** Resolves when everything that was handed in has been written. */
  async drain(): Promise<void> {
    while (this.#isStarting || this.#underWay.size > 0) await Promise.all(this.#underWay.values())
  }

  /** Has somebody told when a change has put webhooks on their way: after its commit, at once. */
  onDeliveriesQueued(listener: () => void): void {
    this.#onDeliveries = listener
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** Requests of the same turn of the event loop join the first batch too. */
  async #startSoon(): Promise<void> {
    if (this.#isStarting) return
    this.#isStarting = true
    await Promise.resolve()
    this.#isStarting = false
    this.#start()
  }

  #start(): void {
    while (this.#queue.length > 0 && this.#hasRoom()) {
      const batch = this.#takeBatch()
      if (batch.length === 0) return
      const flushed = this.#flush(batch).finally(() => {
        this.#underWay.delete(batch)
        this.#start()
      })
      this.#underWay.set(batch, flushed)
    }
  }

  #hasRoom(): boolean {
    if (this.#underWay.size >= UNDER_WAY_MAX) return false
    for (const batch of this.#underWay.keys()) {
      if (batch.length > this.#queue.length || isWrittenAlone(batch[0]!.change)) return false
    }
    return true
  }

  /** The longest run of changes from the head of the queue that one statement can hold; none if the first has to wait for a flush. */
  #takeBatch(): Waiting[] {
    const besides = new Set<string>()
    for (const batch of this.#underWay.keys()) {
      for (const { change } of batch) for (const name of touchedBy(change)) besides.add(name)
    }
    const claimed = new Set<string>()
    const looked = { decided: new Set<string>(), changed: new Set<string>() }
    let rows = 0
    let end = 0
    for (; end < this.#queue.length && end < CHANGES_MAX; end++) {
      const { change } = this.#queue[end]!
      const isAlone = isWrittenAlone(change) || (end > 0 && isWrittenAlone(this.#queue[0]!.change))
      if (isAlone && (end > 0 || this.#underWay.size > 0)) break
      if (besides.size > 0 && touchedBy(change).some((name) => besides.has(name))) break
      const claims = claimsOf(change)
      rows += countRows(change)
      if (end > 0 && (rows > ROWS_MAX || claims.some((claim) => claimed.has(claim)))) break
      if (meetsItself(change, looked)) break
      for (const claim of claims) claimed.add(claim)
    }
    return this.#queue.splice(0, end)
  }

  async #flush(batch: Waiting[]): Promise<void> {
    let deliveries = 0
    try {
      deliveries = await this.#write(batch.map(({ change }) => change))
      for (const { resolve } of batch) resolve({})
    } catch (error) {
      if (batch.length === 1) return settle(batch[0]!, error)
      // Without the database's word for it, nobody knows whether the batch was written: trying again could write it twice.
      if (!(error instanceof DatabaseError)) {
        for (const { reject } of batch) reject(error)
        return
      }
      // One change of many lost or failed and took the batch with it: each alone finds out which.
      for (const waiting of batch) await this.#flush([waiting])
    }
    if (deliveries > 0) this.#onDeliveries()
  }

  /** Writes changes and tells how many webhooks they put on their way. */
  async #write(changes: readonly Change[]): Promise<number> {
    const { steps, sql, params } = batchStatement(changes)
    if (steps === 0) return 0
    for (let tries = 1; ; tries++) {
      try {
        const [row] = await this.#database.query<{ deliveries: number }>(sql, params)
        return row?.deliveries ?? 0
      } catch (error) {
        if (tries === TRIES_MAX || !mayTryAgain(error)) throw error
      }
    }
  }
}

/** Many are taken away at once, in no particular order: beside a flush that writes some of them anew, each could wait for the other. */
function isWrittenAlone({ doneConsequences }: Change): boolean {
  return doneConsequences !== undefined
}

/** Whether an entity is both decided on and changed in one batch: each would have its latest decision looked at again, and a row is written once. */
function meetsItself(
  { latestDecisions = [], turnedVerdicts = [], changedEntities = [] }: Change,
  { decided, changed }: { decided: Set<string>; changed: Set<string> },
): boolean {
  const decides = latestDecisions.map(({ org_id, entity_id }) => `${org_id} ${entity_id}`)
  const changes = [
    ...changedEntities.map(({ org_id, id }) => `${org_id} ${id}`),
    ...turnedVerdicts.map(({ org_id, entity_id }) => `${org_id} ${entity_id}`),
  ]
  if (decides.some((name) => changed.has(name)) || changes.some((name) => decided.has(name))) return true
  for (const name of decides) decided.add(name)
  for (const name of changes) changed.add(name)
  return false
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
