import type { NewId } from '../ids/ids.ts'
import { nodeId } from '../ids/node-id.ts'
import type { Database } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import { LeasedRounds } from '../store/leases/leased-rounds.ts'
import type { RowOf } from '../store/schema/tables.ts'
import type { ActivePolicies } from '../underwriting/active-policies.ts'
import { FailedCauses } from './failed-causes.ts'
import { reevaluateDecision } from './reevaluate-decision.ts'
import { refreshExposures } from './refresh-exposures.ts'
import { spreadOutcomes } from './spread-outcomes.ts'

const ROUND_EVERY_MS = 250
/** Entities whose exposure is computed together. */
const EXPOSURES_PER_ROUND = 32
const REEVALUATIONS_PER_ROUND = 100
const REEVALUATIONS_PER_PAGE = 1_000
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
  readonly #lease: Lease
  readonly #rounds: LeasedRounds
  /** The organization that had the last turn, for each kind. */
  readonly #lastTurn = new Map<string, string>()

  constructor(parts: ConsequenceWorkerParts) {
    this.#parts = parts
    this.#lease = new Lease(parts.database, LEASE)
    this.#rounds = new LeasedRounds({
      lease: this.#lease,
      everyMs: ROUND_EVERY_MS,
      onError: parts.onError,
      work: async () => {
        await this.followAll()
        await this.#refreshAged()
      },
    })
  }

  start(): void {
    this.#rounds.start()
  }

  close(): Promise<void> {
    return this.#rounds.close()
  }

  /** Follows up on everything that waits, and on what comes of that: a slice of each kind in turn, so that none waits for another. */
  async followAll(): Promise<void> {
    const failed = new FailedCauses(this.#parts)
    try {
      for (;;) {
        const followed = [await this.#spread(failed), await this.#refresh(failed), await this.#reevaluate(failed)]
        failed.tellAtTimes()
        if (!followed.includes(true) || this.#rounds.isClosed) return
        // Work may take longer than the lease; without it, another node has taken over.
        if (!(await this.#lease.isHeld())) return
      }
    } finally {
      failed.tell()
    }
  }

  async #spread(failed: FailedCauses): Promise<boolean> {
    const causes = await this.#due('spread', 1)
    for (const cause of causes) await failed.follow(cause, () => spreadOutcomes(this.#parts.store, cause, this.#now()))
    return causes.length > 0
  }

  async #refresh(failed: FailedCauses): Promise<boolean> {
    const causes = await this.#due('exposure', EXPOSURES_PER_ROUND)
    for (const [organizationId, group] of Map.groupBy(causes, ({ org_id }: RowOf<'consequences'>) => org_id)) {
      const refresh = (some: RowOf<'consequences'>[]) => {
        const entityIds = some.map(({ entity_id }) => entity_id)
        return refreshExposures(this.#parts.store, { organizationId, entityIds, now: this.#now(), causes: some })
      }
      // Together they take three rounds of reads. If one of them cannot be computed, the others still can.
      if (await failed.succeeds(() => refresh(group))) continue
      for (const cause of group) await failed.follow(cause, () => refresh([cause]))
    }
    return causes.length > 0
  }

  /** Most causes are decisions that nothing has come to be known for since; only the others are decided again. */
  async #reevaluate(failed: FailedCauses): Promise<boolean> {
    const { store } = this.#parts
    const page = await this.#due('reevaluation', REEVALUATIONS_PER_PAGE)
    const settled = await store.settledReevaluations(page)
    const isSettled = new Set(settled.map(({ org_id, entity_id }) => `${org_id} ${entity_id}`))
    const causes = page.filter(({ org_id, entity_id }) => !isSettled.has(`${org_id} ${entity_id}`))
    const decided = await this.#decideAgain(causes.slice(0, REEVALUATIONS_PER_ROUND), failed)
    const done = [...settled, ...decided]
    if (done.length > 0) await store.commit({ doneConsequences: done })
    return causes.length > 0 || page.length === REEVALUATIONS_PER_PAGE
  }

  async #decideAgain(causes: readonly RowOf<'consequences'>[], failed: FailedCauses): Promise<RowOf<'consequences'>[]> {
    const { store, policies, newId } = this.#parts
    const now = this.#now()
    const results = await Promise.allSettled(
      causes.map((cause) => reevaluateDecision({ store, policies, newId, now }, cause)),
    )
    const rejected = results.flatMap((result, index) =>
      result.status === 'rejected' ? [{ cause: causes[index]!, error: result.reason }] : [],
    )
    if (rejected.length > 0) await failed.postpone(rejected)
    return causes.filter((_, index) => {
      const result = results[index]!
      return result.status === 'fulfilled' && result.value
    })
  }

  /** The next causes of a kind; whoever had the last turn waits until all others have had theirs. */
  async #due(kind: string, limit: number): Promise<RowOf<'consequences'>[]> {
    const after = this.#lastTurn.get(kind) ?? ''
    const causes = await this.#parts.store.consequences(kind, { after, limit, now: this.#now() })
    this.#lastTurn.set(kind, causes.length < limit ? '' : causes.at(-1)!.org_id)
    return causes.length > 0 || after === '' ? causes : this.#due(kind, limit)
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
