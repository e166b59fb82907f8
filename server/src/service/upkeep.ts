import { nodeId } from '../ids/node-id.ts'
import type { Database } from '../store/database/database.ts'
import { Lease } from '../store/leases/lease.ts'
import { LeasedRounds } from '../store/leases/leased-rounds.ts'

const ROUND_EVERY_MS = 60_000
const LEASE = { name: 'upkeep', holder: nodeId, seconds: 60 }

/** A task of upkeep: does one small batch of its work, and returns whether another batch is due at once. */
export type UpkeepTask = (nowMs: number) => Promise<boolean>

/** What upkeep of one environment works with. */
export interface UpkeepParts {
  database: Database
  tasks: readonly UpkeepTask[]
  nowMs: () => number
  onError: (error: unknown) => void
  /** Called after a round in which every task came to its end. */
  onDone?: () => void
}

/** Keeps one environment from growing without end: runs all tasks in rounds of one minute; one node at a time, by lease. */
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
      work: () => this.run(),
      onError: parts.onError,
    })
  }

  start(): void {
    this.#rounds.start()
  }

  /** Runs each task to its end, unless the service closes or another node takes the lease. */
  async run(): Promise<void> {
    const { tasks, nowMs, onError, onDone } = this.#parts
    const startedMs = nowMs()
    let hasFailed = false
    for (const task of tasks) {
      try {
        do {
          if (this.#rounds.isClosed || !(await this.#lease.isHeld())) return
        } while (await task(startedMs))
      } catch (error) {
        // A task that fails in every round must not keep the others from their work.
        onError(error)
        hasFailed = true
      }
    }
    if (!hasFailed) onDone?.()
  }

  /** Waits for a round in progress and releases the lease. */
  close(): Promise<void> {
    return this.#rounds.close()
  }
}
