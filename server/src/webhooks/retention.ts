import { nodeId } from '../ids/node-id.ts'
import type { Database } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import { Lease } from '../store/leases/lease.ts'
import { LeasedRounds } from '../store/leases/leased-rounds.ts'

const ROUND_EVERY_MS = 60_000
const DELIVERIES_PER_PURGE = 1_000
const LEASE = { name: 'webhook retention', holder: nodeId, seconds: 60 }

/** The dependencies of the retention job. */
export interface RetentionParts {
  database: Database
  store: Pick<EnvironmentStore, 'purgeDeliveries'>
  keepMs: number
  nowMs: () => number
  onError: (error: unknown) => void
}

/** Deletes old deliveries with their attempts in small batches. One node at a time does so, by lease. */
export class WebhookRetention {
  readonly #parts: RetentionParts
  readonly #lease: Lease
  readonly #rounds: LeasedRounds

  constructor(parts: RetentionParts) {
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

  /** Deletes everything that has expired, unless another node holds the lease. */
  async purge(): Promise<void> {
    const { store, keepMs, nowMs } = this.#parts
    const overBefore = new Date(nowMs() - keepMs).toISOString()
    while (!this.#rounds.isClosed && (await this.#lease.isHeld())) {
      if ((await store.purgeDeliveries(overBefore, DELIVERIES_PER_PURGE)) < DELIVERIES_PER_PURGE) return
    }
  }

  close(): Promise<void> {
    return this.#rounds.close()
  }
}
