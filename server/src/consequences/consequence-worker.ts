import type { NewId } from '../ids.ts'
import { nodeId } from '../node-id.ts'
import type { Database } from '../store/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { releaseLease, takeLease } from '../store/leases.ts'
import type { RowOf } from '../store/tables.ts'
import type { ActivePolicies } from '../underwriting/active-policies.ts'
import { reevaluateDecision } from './reevaluate-decision.ts'
import { refreshExposures } from './refresh-exposures.ts'
import { spreadEvidence } from './spread-evidence.ts'

const ROUND_EVERY_MS = 250
const ROUND_AFTER_FAILURE_MS = 5_000
/** Entities whose exposure is computed together. */
const EXPOSURES_PER_ROUND = 32
const REEVALUATIONS_PER_ROUND = 100
/** Decisions that nothing new was learned about since are settled many at a time. */
const SETTLED_PER_ROUND = 5_000
const LEASE = { name: 'consequences', holder: nodeId, seconds: 10 }
/** Exposures fade with time; one of this age is computed anew even when nothing has happened. */
const EXPOSURE_AGE_MAX_MS = 7 * 86_400_000

/** What a worker works with. */
export interface ConsequenceWorkerParts {
  database: Database
  store: EnvironmentStore
  policies: ActivePolicies
  newId: NewId
  nowMs: () => number
  onError: (error: unknown) => void
}

/** Follows up on changes: who is exposed to whom now, and whose verdict would be another. One node at a time, by lease. */
export class ConsequenceWorker {
  readonly #parts: ConsequenceWorkerParts
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()
  #closed = false

  constructor(parts: ConsequenceWorkerParts) {
    this.#parts = parts
  }

  start(afterMs = ROUND_EVERY_MS): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#runRound().then((succeeded) => {
        if (!this.#closed) this.start(succeeded ? ROUND_EVERY_MS : ROUND_AFTER_FAILURE_MS)
      })
    }, afterMs).unref()
  }

  /** Follows up on everything that waits, and on what comes of that: a slice of each kind in turn, so that none waits for another. */
  async followAll(): Promise<void> {
    for (;;) {
      const followed = [await this.#spread(), await this.#refresh(), await this.#reevaluate()]
      if (!followed.includes(true) || this.#closed) return
      // Work may take longer than the lease; without it, another node has taken over.
      if (!(await takeLease(this.#parts.database, LEASE))) return
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#round
    await releaseLease(this.#parts.database, LEASE).catch(this.#parts.onError)
  }

  async #runRound(): Promise<boolean> {
    try {
      if (!(await takeLease(this.#parts.database, LEASE))) return true
      await this.followAll()
      await this.#refreshAged()
      return true
    } catch (error) {
      this.#parts.onError(error)
      return false
    }
  }

  async #spread(): Promise<boolean> {
    const causes = await this.#parts.store.consequences('spread', 1)
    for (const cause of causes) await spreadEvidence(this.#parts.store, cause, this.#now())
    return causes.length > 0
  }

  async #refresh(): Promise<boolean> {
    const causes = await this.#parts.store.consequences('exposure', EXPOSURES_PER_ROUND)
    for (const [organizationId, group] of Map.groupBy(causes, ({ org_id }: RowOf<'consequences'>) => org_id)) {
      const entityIds = group.map(({ entity_id }) => entity_id)
      await refreshExposures(this.#parts.store, { organizationId, entityIds, now: this.#now(), causes: group })
    }
    return causes.length > 0
  }

  async #reevaluate(): Promise<boolean> {
    const { store, policies, newId } = this.#parts
    await store.settleReevaluations(SETTLED_PER_ROUND)
    const causes = await store.consequences('reevaluation', REEVALUATIONS_PER_ROUND)
    const results = await Promise.allSettled(
      causes.map((cause) => reevaluateDecision({ store, policies, newId, now: this.#now() }, cause)),
    )
    const done = causes.filter((_, index) => {
      const result = results[index]!
      if (result.status === 'rejected') this.#parts.onError(result.reason)
      return result.status === 'fulfilled' && result.value
    })
    if (done.length > 0) await store.exchangeConsequences([], done)
    return done.length > 0
  }

  async #refreshAged(): Promise<void> {
    const before = new Date(this.#parts.nowMs() - EXPOSURE_AGE_MAX_MS).toISOString()
    const aged = await this.#parts.store.agedExposures(before, EXPOSURES_PER_ROUND)
    if (aged.length === 0) return
    await this.#parts.store.exchangeConsequences(
      aged.map((row) => ({ ...row, kind: 'exposure', mark: 'aged' })),
      [],
    )
  }

  #now(): string {
    return new Date(this.#parts.nowMs()).toISOString()
  }
}
