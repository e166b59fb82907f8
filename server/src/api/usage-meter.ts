import { latencyBucket } from '../core/latency-histogram.ts'
import type { Verdict } from '../core/vocabularies.ts'
import { nodeId } from '../ids/node-id.ts'
import { DatabaseUnavailable } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { type UsageCounter, verdictCountedBy } from '../store/environment/usage.ts'
import type { KeyUsage } from '../store/environment/usage-by-key.ts'
import { CommitUnknown } from '../store/write-path/group-commit.ts'
import type { Caller } from './define-endpoint.ts'

const FLUSH_EVERY_MS = 1_000

type MeterStore = Pick<EnvironmentStore, 'commit'> & {
  apiKeys: Pick<EnvironmentStore['apiKeys'], 'touch'>
  usage: Pick<EnvironmentStore['usage'], 'addByKey'>
  latencies: Pick<EnvironmentStore['latencies'], 'add'>
}

/** The requests of one day that are not written yet. */
interface Count {
  organizationId: string
  day: string
  counter: UsageCounter
  count: number
}

/** What one API key did on one day that is not written yet. */
interface CountOfKey extends KeyUsage, Caller {
  day: string
}

/** How long the decisions of one hour took that is not written yet. */
interface LatencyCounts {
  organizationId: string
  day: string
  hour: number
  counts: number[]
}

/** Counts requests in memory and writes the counts once a second; a write per request would cost more than the request itself. */
export class UsageMeter {
  readonly #store: MeterStore
  readonly #nowMs: () => number
  readonly #onError: (error: unknown) => void
  readonly #onDecided: ((verdict: Verdict) => void) | undefined
  readonly #timer: NodeJS.Timeout
  #counts = new Map<string, Count>()
  #keys = new Map<string, CountOfKey>()
  #keyUses = new Map<string, Caller & { at: string }>()
  #latencies = new Map<string, LatencyCounts>()

  constructor({
    store,
    nowMs,
    onError,
    onDecided,
  }: {
    store: MeterStore
    nowMs: () => number
    onError: (error: unknown) => void
    onDecided?: (verdict: Verdict) => void
  }) {
    this.#store = store
    this.#nowMs = nowMs
    this.#onError = onError
    this.#onDecided = onDecided
    this.#timer = setInterval(() => void this.flush(), FLUSH_EVERY_MS).unref()
  }

  /** Counts an answered request, and its error if it failed. */
  countRequest(caller: Caller, status: number): void {
    // The day of the answer, not of the flush: midnight may lie between the two.
    const { day } = this.#hour()
    const { organizationId } = caller
    const key = this.#keyOn(day, caller)
    key.requests += 1
    this.#add({ organizationId, day, counter: 'requests', count: 1 })
    if (status < 400) return
    key.errors += 1
    this.#add({ organizationId, day, counter: 'errors', count: 1 })
    if (status === 429) this.#add({ organizationId, day, counter: 'rate_limited', count: 1 })
  }

  /** Counts what a request wrote for its API key; the organization's counters were written with its change. */
  countWritten(caller: Caller, usage: readonly { day: string; counter: string; count: number }[]): void {
    for (const { day, counter, count } of usage) {
      if (counter === 'decisions' || counter === 'transactions') this.#keyOn(day, caller)[counter] += count
      const verdict = verdictCountedBy(counter)
      if (verdict) this.#onDecided?.(verdict)
    }
  }

  /** Notes how long a decision took, from the arrival of its request to the end of its answer. */
  noteDecisionTime(organizationId: string, ms: number): void {
    this.#addLatency({ organizationId, ...this.#hour() }, latencyBucket(ms), 1)
  }

  /** Notes when a key was last used. */
  noteKeyUse(use: Caller & { at: string }): void {
    this.#keyUses.set(`${use.organizationId} ${use.keyId}`, use)
  }

  /** Writes the counts since the last flush; a count that cannot be written is kept for the next one. */
  async flush(): Promise<void> {
    const counts = [...this.#counts.values()]
    const keys = [...this.#keys.values()]
    const uses = [...this.#keyUses.values()]
    const latencies = [...this.#latencies.values()]
    this.#counts = new Map()
    this.#keys = new Map()
    this.#keyUses = new Map()
    this.#latencies = new Map()
    const flushed = await Promise.allSettled([
      ...[...Map.groupBy(counts, ({ organizationId }) => organizationId)].map((own) => this.#flushCounts(...own)),
      this.#flushKeys(keys),
      this.#flushLatencies(latencies),
    ])
    // All of them fail when the database is away; one report is enough.
    const failed = flushed.find((result) => result.status === 'rejected')
    if (failed) this.#onError(failed.reason)
    if (uses.length > 0) await this.#store.apiKeys.touch(uses).catch(this.#onError)
  }

  /** Stops the timer and writes the last counts. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  async #flushCounts(organizationId: string, own: readonly Count[]): Promise<void> {
    const usage = own.map(({ day, counter, count }) => ({ day, node: nodeId, counter, count }))
    const keep = () => {
      for (const count of own) this.#add(count)
    }
    try {
      if ((await this.#store.commit({ organizationId, usage })).lost) keep()
    } catch (error) {
      // Counts that may have been written are given up: a request is counted at most once.
      if (!(error instanceof CommitUnknown)) keep()
      throw error
    }
  }

  async #flushKeys(keys: readonly CountOfKey[]): Promise<void> {
    if (keys.length === 0) return
    try {
      await this.#store.usage.addByKey(nodeId, keys)
    } catch (error) {
      if (!mayBeWritten(error)) for (const key of keys) this.#addKey(key)
      throw error
    }
  }

  async #flushLatencies(latencies: readonly LatencyCounts[]): Promise<void> {
    if (latencies.length === 0) return
    try {
      await this.#store.latencies.add(nodeId, latencies)
    } catch (error) {
      if (!mayBeWritten(error))
        for (const { counts, ...hour } of latencies)
          for (const [bucket, count] of counts.entries()) this.#addLatency(hour, bucket, count)
      throw error
    }
  }

  #hour(): { day: string; hour: number } {
    const now = new Date(this.#nowMs()).toISOString()
    return { day: now.slice(0, 10), hour: Number(now.slice(11, 13)) }
  }

  #add(added: Count): void {
    const key = `${added.organizationId} ${added.day} ${added.counter}`
    const known = this.#counts.get(key)
    if (known) known.count += added.count
    else this.#counts.set(key, { ...added })
  }

  #keyOn(day: string, { organizationId, keyId }: Caller): CountOfKey {
    const name = `${organizationId} ${day} ${keyId}`
    const known = this.#keys.get(name)
    if (known) return known
    const key = { organizationId, day, keyId, requests: 0, errors: 0, decisions: 0, transactions: 0 }
    this.#keys.set(name, key)
    return key
  }

  #addKey(added: CountOfKey): void {
    const key = this.#keyOn(added.day, added)
    for (const counter of ['requests', 'errors', 'decisions', 'transactions'] as const) key[counter] += added[counter]
  }

  #addLatency(period: Omit<LatencyCounts, 'counts'>, bucket: number, count: number): void {
    const name = `${period.organizationId} ${period.day} ${period.hour}`
    const counts: number[] = this.#latencies.get(name)?.counts ?? []
    while (counts.length <= bucket) counts.push(0)
    counts[bucket]! += count
    this.#latencies.set(name, { ...period, counts })
  }
}

/** Whether a statement may have been executed although it failed: its counts are given up rather than counted twice. */
function mayBeWritten(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.mayHaveRun
}
