import { nodeId } from '../ids/node-id.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { UsageCounter } from '../store/queries/usage.ts'
import { CommitUnknown } from '../store/write-path/group-commit.ts'

const FLUSH_EVERY_MS = 1_000

interface KeyUse {
  organizationId: string
  keyId: string
  /** ISO 8601. */
  at: string
}

/** Counts requests in memory and writes the counts once a second; a write per request would cost more than the request itself. */
export class UsageMeter {
  readonly #store: Pick<EnvironmentStore, 'commit' | 'touchApiKeys'>
  readonly #nowMs: () => number
  readonly #onError: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  #counts = new Map<string, { organizationId: string; counter: UsageCounter; count: number }>()
  #keyUses = new Map<string, KeyUse>()

  constructor({
    store,
    nowMs,
    onError,
  }: {
    store: Pick<EnvironmentStore, 'commit' | 'touchApiKeys'>
    nowMs: () => number
    onError: (error: unknown) => void
  }) {
    this.#store = store
    this.#nowMs = nowMs
    this.#onError = onError
    this.#timer = setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref()
  }

  /** Counts an answered request, and its error if it failed. */
  countRequest(organizationId: string, failed: boolean): void {
    this.#add(organizationId, 'requests')
    if (failed) this.#add(organizationId, 'errors')
  }

  /** Notes when a key was last used. */
  noteKeyUse(use: KeyUse): void {
    this.#keyUses.set(`${use.organizationId} ${use.keyId}`, use)
  }

  /** Writes the counts since the last flush; a count that cannot be written is kept for the next one. */
  async flush(): Promise<void> {
    const counts = [...this.#counts.values()]
    const uses = [...this.#keyUses.values()]
    this.#counts = new Map()
    this.#keyUses = new Map()
    const day = new Date(this.#nowMs()).toISOString().slice(0, 10)
    const errors: unknown[] = []
    const write = async ([organizationId, own]: [string, typeof counts]) => {
      const usage = own.map(({ counter, count }) => ({ day, node: nodeId, counter, count }))
      const keep = () => {
        for (const { counter, count } of own) this.#add(organizationId, counter, count)
      }
      try {
        if ((await this.#store.commit({ organizationId, usage })).lost) keep()
      } catch (error) {
        // Counts that may have been written are given up: a request is counted at most once.
        if (!(error instanceof CommitUnknown)) keep()
        errors.push(error)
      }
    }
    await Promise.all([...Map.groupBy(counts, ({ organizationId }) => organizationId)].map(write))
    // All of them fail when the database is away; one report is enough.
    if (errors.length > 0) this.#onError(errors[0])
    if (uses.length > 0) await this.#store.touchApiKeys(uses).catch(this.#onError)
  }

  /** Stops the timer and writes the last counts. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  #add(organizationId: string, counter: UsageCounter, count = 1): void {
    const key = `${organizationId} ${counter}`
    const existing = this.#counts.get(key)
    if (existing) existing.count += count
    else this.#counts.set(key, { organizationId, counter, count })
  }
}
