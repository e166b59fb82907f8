import { setTimeout as sleep } from 'node:timers/promises'
import { nodeId } from '../node-id.ts'
import { DatabaseError } from '../store/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { FailingEndpoint, SettledAttempt } from '../store/webhook-dispatch.ts'

const ATTEMPTS_PER_WRITE = 1_000
/** Nobody waits for the record, and a write costs the same for one attempt as for a hundred. */
const GATHER_MS = 20
const TRIES_MAX = 5

/** What a log works with. */
export interface AttemptLogParts {
  store: Pick<EnvironmentStore, 'settleAttempts'>
  nowMs: () => number
  /** Endpoints that have failed for at least this long are told to `onFailing`. */
  failingMaxMs: number
  onFailing: (endpoints: FailingEndpoint[]) => Promise<void>
  onError: (error: unknown) => void
}

/** Records attempts, all that end while a write is under way with the next one: a round trip each would cost more than the sending. */
export class AttemptLog {
  readonly #parts: AttemptLogParts
  #queue: { attempt: SettledAttempt; done: () => void }[] = []
  #writing = false

  constructor(parts: AttemptLogParts) {
    this.#parts = parts
  }

  /** Resolves when the attempt is on record, or when it could not be: then its lease runs out and it is made again. */
  record(attempt: SettledAttempt): Promise<void> {
    return new Promise((done) => {
      this.#queue.push({ attempt, done })
      if (!this.#writing) void this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    this.#writing = true
    while (this.#queue.length > 0) {
      await sleep(GATHER_MS)
      const batch = this.#queue.splice(0, ATTEMPTS_PER_WRITE)
      await this.#write(batch.map(({ attempt }) => attempt)).catch(this.#parts.onError)
      for (const { done } of batch) done()
    }
    this.#writing = false
  }

  async #write(attempts: readonly SettledAttempt[]): Promise<void> {
    const { store, nowMs, failingMaxMs, onFailing } = this.#parts
    const day = new Date(nowMs()).toISOString().slice(0, 10)
    const failingSince = new Date(nowMs() - failingMaxMs).toISOString()
    for (let tries = 1; ; tries++) {
      try {
        const failing = await store.settleAttempts(attempts, { day, node: nodeId, failingSince })
        if (failing.length > 0) await onFailing(failing)
        return
      } catch (error) {
        const deadlocked = error instanceof DatabaseError && error.isTransient
        if (!deadlocked || tries === TRIES_MAX) throw error
      }
    }
  }
}
