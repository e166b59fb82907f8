import { setTimeout as sleep } from 'node:timers/promises'
import { nodeId } from '../ids/node-id.ts'
import { DatabaseError } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { FailingEndpoint, SettledAttempt } from '../store/queries/webhook-dispatch.ts'

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
  /** A silence of this length starts that count anew. */
  quietMaxMs: number
  onFailing: (endpoints: FailingEndpoint[]) => Promise<void>
  /** Attempts that another node had made as well, and recorded first. */
  onLost: (count: number) => void
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
      await this.#writeOrSplit(batch.map(({ attempt }) => attempt))
      for (const { done } of batch) done()
    }
    this.#writing = false
  }

  /** One that the database refuses must not take the others with it, nor be made for ever: it is kept without the answer. */
  async #writeOrSplit(attempts: readonly SettledAttempt[], isBare = false): Promise<void> {
    try {
      await this.#write(attempts)
    } catch (error) {
      this.#parts.onError(error)
      if (!isAboutContent(error) || isBare) return
      if (attempts.length > 1) for (const attempt of attempts) await this.#writeOrSplit([attempt])
      else await this.#writeOrSplit([{ ...attempts[0]!, response: null, error: 'the answer could not be kept' }], true)
    }
  }

  async #write(attempts: readonly SettledAttempt[]): Promise<void> {
    const { recorded, failing } = await this.#settle(attempts)
    if (recorded < attempts.length) this.#parts.onLost(attempts.length - recorded)
    if (failing.length > 0) await this.#parts.onFailing(failing).catch(this.#parts.onError)
  }

  async #settle(attempts: readonly SettledAttempt[]): ReturnType<EnvironmentStore['settleAttempts']> {
    const { store, nowMs, failingMaxMs, quietMaxMs } = this.#parts
    const day = new Date(nowMs()).toISOString().slice(0, 10)
    const failingSince = new Date(nowMs() - failingMaxMs).toISOString()
    const rule = { failingSince, quietSeconds: quietMaxMs / 1_000 }
    for (let tries = 1; ; tries++) {
      try {
        return await store.settleAttempts(attempts, { day, node: nodeId, ...rule })
      } catch (error) {
        const deadlocked = error instanceof DatabaseError && error.isTransient
        if (!deadlocked || tries === TRIES_MAX) throw error
      }
    }
  }
}

/** SQLSTATE classes 22 and 23: something in the data cannot be kept. */
function isAboutContent(error: unknown): boolean {
  return error instanceof DatabaseError && /^2[23]/.test(error.code)
}
