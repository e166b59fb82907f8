import { setTimeout as sleep } from 'node:timers/promises'
import { nodeId } from '../ids/node-id.ts'
import { DatabaseError } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { FailingEndpoint, SettledAttempt } from '../store/environment/webhook-dispatch.ts'

const ATTEMPTS_PER_WRITE = 1_000
/** Delay before a write, so that more attempts share it: one attempt costs as much to write as a hundred. */
const GATHER_MS = 20
const TRIES_MAX = 5

/** The dependencies of a log. */
export interface AttemptLogParts {
  store: { dispatch: Pick<EnvironmentStore['dispatch'], 'settle'> }
  nowMs: () => number
  /** `onFailing` is called with webhook endpoints that have been failing for at least this long. */
  failingMaxMs: number
  /** A failure after this long without an attempt starts that count again. */
  quietMaxMs: number
  onFailing: (endpoints: FailingEndpoint[]) => Promise<void>
  /** Called with the number of attempts that another node had also made, and recorded first. */
  onLost: (count: number) => void
  onError: (error: unknown) => void
}

/** Records attempts in batches, because one round trip for each attempt would cost more than sending it. */
export class AttemptLog {
  readonly #parts: AttemptLogParts
  #queue: { attempt: SettledAttempt; done: () => void }[] = []
  #writing = false

  constructor(parts: AttemptLogParts) {
    this.#parts = parts
  }

  /** Resolves when the attempt is recorded, or could not be: then its lease expires and the attempt is made again. */
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

  /**
   * Writes a batch. If PostgreSQL rejects its data, writes each attempt alone, so that the others are not lost with it.
   * An attempt that is still rejected is recorded without the answer: unrecorded, it would be repeated for ever.
   */
  async #writeOrSplit(attempts: readonly SettledAttempt[], withoutAnswer = false): Promise<void> {
    try {
      await this.#write(attempts)
    } catch (error) {
      this.#parts.onError(error)
      if (!isRejectedData(error) || withoutAnswer) return
      if (attempts.length > 1) for (const attempt of attempts) await this.#writeOrSplit([attempt])
      else
        await this.#writeOrSplit([{ ...attempts[0]!, response: null, error: 'the answer could not be stored' }], true)
    }
  }

  async #write(attempts: readonly SettledAttempt[]): Promise<void> {
    const { recorded, failing } = await this.#settle(attempts)
    if (recorded < attempts.length) this.#parts.onLost(attempts.length - recorded)
    if (failing.length > 0) await this.#parts.onFailing(failing).catch(this.#parts.onError)
  }

  async #settle(attempts: readonly SettledAttempt[]): ReturnType<EnvironmentStore['dispatch']['settle']> {
    const { store, nowMs, failingMaxMs, quietMaxMs } = this.#parts
    const day = new Date(nowMs()).toISOString().slice(0, 10)
    const failingSince = new Date(nowMs() - failingMaxMs).toISOString()
    const rule = { failingSince, quietSeconds: quietMaxMs / 1_000 }
    for (let tries = 1; ; tries++) {
      try {
        return await store.dispatch.settle(attempts, { day, node: nodeId, ...rule })
      } catch (error) {
        const isTransient = error instanceof DatabaseError && error.isTransient
        if (!isTransient || tries === TRIES_MAX) throw error
      }
    }
  }
}

/** SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation): the data cannot be stored. */
function isRejectedData(error: unknown): boolean {
  return error instanceof DatabaseError && /^2[23]/.test(error.code)
}
