import type { Lease } from './lease.ts'

/** The work of a job, its lease, and the time between rounds. */
export interface LeasedRoundsParts {
  lease: Lease
  everyMs: number
  /** One round of work. Long work asks the lease and `isClosed` between its steps, and stops when it may not go on. */
  work: () => Promise<void>
  onError: (error: unknown) => void
}

/** The pause after a failed round, which gives the database time to recover. */
const PAUSE_AFTER_FAILURE_MS = 5_000

/**
 * Runs a background job in rounds, on one node at a time: a round does its work only if this node holds the lease.
 *
 * States:
 *
 *     idle      constructed, not started
 *     waiting   the timer of the next round runs
 *     running   a round runs: it acquires or renews the lease, then does the work
 *     closing   no further round starts; the round in progress ends, then `lastWork` runs
 *     closed    the lease is released
 *
 * Transitions:
 *
 *     idle → waiting      `start()`
 *     waiting → running   the timer fires
 *     running → waiting   the round succeeded, or another node holds the lease: the next one is due after `everyMs`;
 *                         or it failed, which is reported to `onError`: the next one is due after five seconds
 *     any → closing       `close()`; `isClosed` is true from here on
 *     closing → closed    `lastWork` has ended; a lease that cannot be released expires by itself
 */
export class LeasedRounds {
  readonly #parts: LeasedRoundsParts
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: LeasedRoundsParts) {
    this.#parts = parts
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  start(afterMs = this.#parts.everyMs): void {
    this.#timer = setTimeout(() => {
      this.#round = this.run().then((succeeded) => {
        if (!this.#isClosed) this.start(succeeded ? this.#parts.everyMs : PAUSE_AFTER_FAILURE_MS)
      })
    }, afterMs).unref()
  }

  /** Runs one round at once; false if it failed. */
  async run(): Promise<boolean> {
    try {
      if (await this.#parts.lease.isHeld()) await this.#parts.work()
      return true
    } catch (error) {
      this.#parts.onError(error)
      return false
    }
  }

  /** Waits for the round in progress, runs `lastWork` if it is given, and releases the lease. */
  async close(lastWork?: () => Promise<unknown>): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#round
    await lastWork?.()
    await this.#parts.lease.release().catch(this.#parts.onError)
  }
}
