import { nodeId } from '../ids/node-id.ts'
import type { Database } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import { LeasedRounds } from '../store/leases/leased-rounds.ts'

const ROUND_EVERY_MS = 60_000
const LEASE = { name: 'upkeep', holder: nodeId, seconds: 60 }

/** What upkeep of one environment works with. */
export interface UpkeepParts {
  database: Database
  store: Pick<EnvironmentStore, 'purgeKeptAnswers'>
  nowMs: () => number
  onError: (error: unknown) => void
}

/** Deletes kept answers past their retention, in rounds of one minute; one node at a time, by lease. */
export class Upkeep {
  readonly #parts: UpkeepParts
  readonly #lease: Lease
  readonly #rounds: LeasedRounds

  constructor(parts: UpkeepParts) {
    this.#parts = parts
    this.#lease = new Lease(parts.database, LEASE)
    this.#rounds = new LeasedRounds({
      lease: this.#lease,
      everyMs: ROUND_EVERY_MS,
      work: () => this.purge(),
      onError: parts.onError,
    })
  }

  start(): void {
    this.#rounds.start()
  }

  /** Deletes batch by batch until nothing is left, the service closes, or another node takes the lease. */
  async purge(): Promise<void> {
    const { store, nowMs } = this.#parts
    const now = new Date(nowMs()).toISOString()
    while (!this.#rounds.isClosed && (await this.#lease.isHeld())) {
      if ((await store.purgeKeptAnswers(now)) === 0) return
    }
  }

  /** Waits for a round in progress and releases the lease. */
  close(): Promise<void> {
    return this.#rounds.close()
  }
}
