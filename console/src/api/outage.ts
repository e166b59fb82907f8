import { ApiError } from './api-error.ts'

/** No answer, or one of a proxy or of a server whose database is away. */
const OUTAGE_STATUSES = [0, 502, 503, 504]
const RETRY_AFTER_MS = [2_000, 4_000, 8_000, 15_000, 30_000]
/** An outage so soon after another one is the same one, so that it is not asked about more often. */
const SAME_OUTAGE_MS = 10_000

/** Whether the server or its database could not be reached: the call may have been carried out, and is tried again. */
export function isOutage(error: unknown): boolean {
  // An overloaded server answers; it is asked again without a word about an outage.
  return error instanceof ApiError && OUTAGE_STATUSES.includes(error.status) && error.code !== 'overloaded'
}

/** Since when the server has not answered, and when it is asked again. */
export interface Outage {
  sinceMs: number
  retryAtMs: number
}

/**
 * Watches whether the server answers, in one of two states:
 *
 *     reachable   every call that is answered leads here, whatever its answer
 *     away        a call failed as `isOutage` says; the server is asked again after growing pauses until it answers
 */
export class OutageWatch {
  readonly #listeners = new Set<() => void>()
  readonly #now: () => number
  #outage: Outage | undefined
  #tries = 0
  #endedAtMs = Number.NEGATIVE_INFINITY

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Registers a listener of every change of the state; returns the function that removes it. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The outage, if there is one. */
  current = (): Outage | undefined => this.#outage

  /** A call failed. Failures before the next try is due say nothing new. */
  failed(): void {
    const now = this.#now()
    if (this.#outage && now < this.#outage.retryAtMs) return
    if (!this.#outage && now - this.#endedAtMs > SAME_OUTAGE_MS) this.#tries = 0
    const pauseMs = RETRY_AFTER_MS[Math.min(this.#tries, RETRY_AFTER_MS.length - 1)]!
    this.#tries += 1
    this.#change({ sinceMs: this.#outage?.sinceMs ?? now, retryAtMs: now + pauseMs })
  }

  /** The server answered. */
  answered(): void {
    if (!this.#outage) return
    this.#endedAtMs = this.#now()
    this.#change(undefined)
  }

  #change(outage: Outage | undefined): void {
    this.#outage = outage
    for (const listener of this.#listeners) listener()
  }
}

/** Whether the server of this page answers. */
export const outageWatch = new OutageWatch()
