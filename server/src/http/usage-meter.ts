import { nodeId } from '../ids/node-id.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { UsageCounter } from '../store/queries/usage.ts'

const FLUSH_EVERY_MS = 1_000

interface KeyUse {
  org_id: string
  id: string
  at: string
}

/** Counts requests in memory and writes the counts once a second, because a write per request would cost more than the request. */
export class UsageMeter {
  readonly #store: Pick<EnvironmentStore, 'commit' | 'touchApiKeys'>
  readonly #nowMs: () => number
  readonly #onError: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  #counts = new Map<string, { org_id: string; counter: UsageCounter; count: number }>()
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

  countRequest(organizationId: string, failed: boolean): void {
    this.#add(organizationId, 'requests')
    if (failed) this.#add(organizationId, 'errors')
  }

  noteKeyUse(use: KeyUse): void {
    this.#keyUses.set(`${use.org_id} ${use.id}`, use)
  }

  /** Writes what was counted since the last time. */
  async flush(): Promise<void> {
    const counts = [...this.#counts.values()]
    const uses = [...this.#keyUses.values()]
    this.#counts = new Map()
    this.#keyUses = new Map()
    const day = new Date(this.#nowMs()).toISOString().slice(0, 10)
    try {
      if (counts.length > 0)
        await this.#store.commit({ usage: counts.map((count) => ({ ...count, day, node: nodeId })) })
    } catch (error) {
      for (const { org_id, counter, count } of counts) this.#add(org_id, counter, count)
      this.#onError(error)
    }
    if (uses.length > 0) await this.#store.touchApiKeys(uses).catch(this.#onError)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  #add(organizationId: string, counter: UsageCounter, count = 1): void {
    const name = `${organizationId} ${counter}`
    const known = this.#counts.get(name)
    if (known) known.count += count
    else this.#counts.set(name, { org_id: organizationId, counter, count })
  }
}
