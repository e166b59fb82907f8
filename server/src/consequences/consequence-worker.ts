import type { NewId } from '../ids/new-id.ts'
import { nodeId } from '../ids/node-id.ts'
import type { Database } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import { LeasedRounds } from '../store/leases/leased-rounds.ts'
import type { RowOf } from '../store/schema/tables.ts'
import type { ActivePolicies } from '../underwriting/active-policies.ts'
import { FailedCauses } from './failed-causes.ts'
import { reevaluateDecision } from './reevaluate-decision.ts'
import { refreshExposures } from './refresh-exposures.ts'
import { NEIGHBOURS_PER_PAGE, spreadOutcomes } from './spread-outcomes.ts'

const ROUND_EVERY_MS = 250
/**
 * Entities whose outcomes one pass spreads, unless their neighbours fill a page before. Most entities have few neighbours:
 * with one entity in each pass, a pass took the embedded database 16 ms, of which the spread was two.
 */
const SPREADS_PER_BATCH = 32
/** Entities whose exposure is computed together. */
const EXPOSURES_PER_BATCH = 32
const REEVALUATIONS_PER_BATCH = 100
/** Statements whose decisions are checked together. Each has written at most 256 (`CHANGES_MAX` of group-commit.ts). */
const CHECKS_PER_BATCH = 50
const LEASE = { name: 'consequences', holder: nodeId, seconds: 10 }
/** Exposures decay with time, so one of this age is computed again even if nothing else has changed. */
const EXPOSURE_AGE_MAX_MS = 7 * 86_400_000
const AGES_CHECKED_EVERY_MS = 60_000

/** Which rows of a queue are read: those of the organizations after one. */
interface Page {
  after: string
  limit: number
}

interface Pages<T> {
  limit: number
  read(page: Page): Promise<T[]>
  organizationOf(row: T): string
}

/** The database, the clock and the policies that a worker needs. */
export interface ConsequenceWorkerParts {
  database: Database
  store: EnvironmentStore
  policies: ActivePolicies
  newId: NewId
  nowMs: () => number
  /** Waits for an organization's turn to use the event loop. */
  turn(organizationId: string): Promise<void>
  onError: (error: unknown) => void
}

/**
 * Does the follow-up work of committed changes: refreshes the exposures they affect and re-evaluates latest decisions.
 *
 * A cause (a row of `consequences`) is in one of these states:
 *
 * - queued: committed together with the change that makes the work necessary. A later change to the same entity gives the
 *   same row a new mark.
 * - due: at once when it is queued, after its backoff when it is postponed.
 * - done: deleted, unless its mark has changed meanwhile; the row is then still queued for the later change.
 * - postponed: the work has failed. It is due again after 2 s, doubling with every failure up to 10 min. A new mark makes
 *   it due at once.
 *
 * A round starts every 250 ms and does nothing unless this node holds the lease. It makes passes over what is due:
 *
 * 1. check: queues `reevaluation` for decisions whose entity or exposure changed while they were made (`unchecked_decisions`).
 * 2. spread: marks one page of the links to entities whose outcomes have changed; queues `exposure` for each affected
 *    entity, and `spread` again if there are more pages.
 * 3. refresh: computes a batch of exposures; queues `reevaluation` for each entity that has a decision.
 * 4. re-evaluate: decides a batch of latest requests again, and announces each verdict that has changed.
 *
 * Each step takes a bounded batch, so no kind of work starves another, and organizations take turns within each kind. The
 * passes end when nothing is due, the worker is closed, or the lease is lost. Once a minute, exposures older than seven
 * days are then queued for the next round.
 */
export class ConsequenceWorker {
  readonly #parts: ConsequenceWorkerParts
  readonly #lease: Lease
  readonly #rounds: LeasedRounds
  /** For each kind, the organization that the last full batch ended with; the next batch starts after it. */
  readonly #lastOrganization = new Map<string, string>()
  #agesCheckedAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: ConsequenceWorkerParts) {
    this.#parts = parts
    this.#lease = new Lease(parts.database, LEASE)
    this.#rounds = new LeasedRounds({
      lease: this.#lease,
      everyMs: ROUND_EVERY_MS,
      onError: parts.onError,
      work: async () => {
        await this.drain()
        await this.#queueAgedExposures()
      },
    })
  }

  start(): void {
    this.#rounds.start()
  }

  close(): Promise<void> {
    return this.#rounds.close()
  }

  /** Makes passes until nothing is due, including what the passes themselves queue. */
  async drain(): Promise<void> {
    // Most rounds find nothing: one statement says so instead of four.
    if (!(await this.#parts.store.consequences.isAny())) return
    const failed = new FailedCauses(this.#parts)
    try {
      for (;;) {
        const hadWork = [
          await this.#check(),
          await this.#spread(failed),
          await this.#refresh(failed),
          await this.#reevaluate(failed),
        ]
        failed.reportPeriodically()
        if (!hadWork.includes(true) || this.#rounds.isClosed) return
        // The passes may take longer than the lease; once it is lost, another node has taken over.
        if (!(await this.#lease.isHeld())) return
      }
    } finally {
      failed.report()
    }
  }

  async #check(): Promise<boolean> {
    const read = (page: Page) => this.#parts.store.consequences.queueOvertaken(page)
    const checked = await this.#page('check', { limit: CHECKS_PER_BATCH, read, organizationOf: (id) => id })
    return checked.length > 0
  }

  async #spread(failed: FailedCauses): Promise<boolean> {
    const causes = await this.#due('spread', SPREADS_PER_BATCH)
    let marked = 0
    for (const cause of causes) {
      await failed.attempt(cause, async () => {
        marked += await spreadOutcomes(this.#parts.store, cause, this.#now())
      })
      if (marked < NEIGHBOURS_PER_PAGE) continue
      // The next pass starts after this organization, whose hub may have more pages.
      this.#lastOrganization.set('spread', cause.org_id)
      break
    }
    return causes.length > 0
  }

  async #refresh(failed: FailedCauses): Promise<boolean> {
    const causes = await this.#due('exposure', EXPOSURES_PER_BATCH)
    for (const [organizationId, group] of Map.groupBy(causes, ({ org_id }: RowOf<'consequences'>) => org_id)) {
      const refresh = (some: RowOf<'consequences'>[]) => {
        const entityIds = some.map(({ entity_id }) => entity_id)
        return refreshExposures(this.#parts.store, { organizationId, entityIds, now: this.#now(), causes: some })
      }
      // A batch takes three reads in all. If one of its exposures cannot be computed, each is tried alone.
      if (await failed.succeeds(() => refresh(group))) continue
      for (const cause of group) await failed.attempt(cause, () => refresh([cause]))
    }
    return causes.length > 0
  }

  async #reevaluate(failed: FailedCauses): Promise<boolean> {
    const causes = await this.#due('reevaluation', REEVALUATIONS_PER_BATCH)
    const done = await this.#decideAgain(causes, failed)
    if (done.length > 0) await this.#parts.store.consequences.remove(done)
    return causes.length > 0
  }

  async #decideAgain(causes: readonly RowOf<'consequences'>[], failed: FailedCauses): Promise<RowOf<'consequences'>[]> {
    const parts = { ...this.#parts, now: this.#now() }
    const results = await Promise.allSettled(causes.map((cause) => reevaluateDecision(parts, cause)))
    const rejected = results.flatMap((result, index) =>
      result.status === 'rejected' ? [{ cause: causes[index]!, error: result.reason }] : [],
    )
    if (rejected.length > 0) await failed.postpone(rejected)
    return causes.filter((_, index) => {
      const result = results[index]!
      return result.status === 'fulfilled' && result.value
    })
  }

  /** The next due causes of a kind. */
  #due(kind: string, limit: number): Promise<RowOf<'consequences'>[]> {
    const read = (page: Page) => this.#parts.store.consequences.due(kind, { ...page, now: this.#now() })
    return this.#page(kind, { limit, read, organizationOf: ({ org_id }) => org_id })
  }

  /** The next batch of a kind of work, starting after the organization that the last full batch ended with. */
  async #page<T>(kind: string, { limit, read, organizationOf }: Pages<T>): Promise<T[]> {
    const after = this.#lastOrganization.get(kind) ?? ''
    const rows = await read({ after, limit })
    this.#lastOrganization.set(kind, rows.length < limit ? '' : organizationOf(rows.at(-1)!))
    return rows.length > 0 || after === '' ? rows : this.#page(kind, { limit, read, organizationOf })
  }

  async #queueAgedExposures(): Promise<void> {
    const nowMs = this.#parts.nowMs()
    if (nowMs - this.#agesCheckedAtMs < AGES_CHECKED_EVERY_MS) return
    const before = new Date(nowMs - EXPOSURE_AGE_MAX_MS).toISOString()
    const aged = await this.#parts.store.graph.agedExposures(before, EXPOSURES_PER_BATCH)
    // A full batch may not be all; the next round looks again.
    if (aged.length < EXPOSURES_PER_BATCH) this.#agesCheckedAtMs = nowMs
    if (aged.length === 0) return
    await this.#parts.store.consequences.queue(aged.map((row) => ({ ...row, kind: 'exposure', mark: 'aged' })))
  }

  #now(): string {
    return new Date(this.#parts.nowMs()).toISOString()
  }
}
