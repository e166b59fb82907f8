import type { Lease } from './lease.ts'

/** What is done in rounds, and how often. */
export interface LeasedRoundsParts {
  lease: Lease
  everyMs: number
  /** One round of work; it may ask the lease again if it takes long. */
  work: () => Promise<void>
  onError: (error: unknown) => void
}

/** After a failure, the database is given time to recover before the next round. */
const AFTER_FAILURE_MS = 5_000

/** Does a job in rounds for as long as this node holds the lease on it; another node does it otherwise. */
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
        if (!this.#isClosed) this.start(succeeded ? this.#parts.everyMs : AFTER_FAILURE_MS)
      })
    }, afterMs).unref()
  }

  /** One round at once; false if it failed. */
  async run(): Promise<boolean> {
    try {
      if (await this.#parts.lease.isHeld()) await this.#parts.work()
      return true
    } catch (error) {
      this.#parts.onError(error)
      return false
    }
  }

  /** Waits for the round that runs, has a last word if there is one, and gives the lease back. */
  async close(last?: () => Promise<unknown>): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#round
    await last?.()
    await this.#parts.lease.release().catch(this.#parts.onError)
  }
}
