import type { Environment } from '../config.ts'
import type { LogEnd } from '../store/environment/audit-sealing.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { KnownHead, KnownHeads } from './known-heads.ts'
import { type ComparedEnd, compareEnds, describeBehind, hasLostEntries, isBehind, lostEntries } from './lost-entries.ts'

/** What the comparison of one environment needs. */
export interface LogsBehindParts {
  environment: Environment
  store: { sealing: Pick<EnvironmentStore['sealing'], 'logEnds' | 'nodeHashesOf'> }
  knownHeads: Pick<KnownHeads, 'newest' | 'organizationIds' | 'reload' | 'readAppended' | 'add' | 'flush'>
  onCompared: (behind: number) => void
  onError: (error: unknown) => void
}

const LOGS_PER_READ = 500

/** The end of a log that lacks entries of a head that this node knows. */
type ComparedBehind = ComparedEnd & { end: LogEnd; known: KnownHead }

/**
 * The logs of one environment that lack entries of a head which this node knows.
 *
 * All logs are compared once for each timeline of the database, because a failover or a restore begins another. Those that are
 * behind are compared again, some with each look at the database, until an operator accepts them: each look costs at most
 * `LOGS_PER_READ` logs, however many there are.
 */
export class LogsBehind {
  readonly #parts: LogsBehindParts
  #behind: readonly ComparedBehind[] = []
  /** The place in `#behind` of the first that the next look compares. */
  #next = 0
  #timeline: string | undefined
  #comparing: Promise<void> | undefined

  constructor(parts: LogsBehindParts) {
    this.#parts = parts
  }

  /** Compares the logs if need be; called with each look at the database. */
  compareOn(timeline: string): Promise<void> {
    const isCompared = timeline === this.#timeline
    if (isCompared && this.#behind.length === 0) return Promise.resolve()
    this.#comparing ??= (isCompared ? this.#compareBehind() : this.#compareAll(timeline))
      .catch(this.#parts.onError)
      .finally(() => {
        this.#comparing = undefined
      })
    return this.#comparing
  }

  /** What `/readyz` says about them. It names no organization: `/readyz` needs no key. */
  warnings(): string[] {
    const { environment } = this.#parts
    const [first, ...others] = this.#behind
    if (!first) return []
    const what = hasLostEntries(first) ? lostEntries(first) : `a log ${describeBehind(first)}`
    const also = others.length > 0 ? `, and ${others.length} more logs are behind` : ''
    return [`${environment}: ${what}${also}: run audit verify`]
  }

  async #compareAll(timeline: string): Promise<void> {
    const { knownHeads } = this.#parts
    knownHeads.reload()
    const ids = knownHeads.organizationIds()
    const behind: ComparedBehind[] = []
    for (let from = 0; from < ids.length; from += LOGS_PER_READ)
      behind.push(...(await this.#compare(ids.slice(from, from + LOGS_PER_READ))))
    this.#timeline = timeline
    this.#end(behind, 0)
  }

  async #compareBehind(): Promise<void> {
    // A command that accepts a restore writes to the file from another process.
    this.#parts.knownHeads.readAppended()
    const [first, last] = [this.#next, this.#next + LOGS_PER_READ]
    const group = this.#behind.slice(first, last)
    const behind = await this.#compare(group.map(({ end }) => end.org_id))
    const next = first + behind.length
    const all = this.#behind.toSpliced(first, group.length, ...behind)
    this.#end(all, next < all.length ? next : 0)
  }

  #end(behind: readonly ComparedBehind[], next: number): void {
    this.#behind = behind
    this.#next = next
    this.#parts.onCompared(behind.length)
  }

  /** Compares the logs of some organizations with their known heads; returns those that are behind, in the same order. */
  async #compare(organizationIds: readonly string[]): Promise<ComparedBehind[]> {
    const { store, knownHeads, onError } = this.#parts
    // Copied before the ends are read: the sealer adds heads meanwhile.
    const known = new Map(organizationIds.map((id) => [id, knownHeads.newest(id)]))
    const ends = await store.sealing.logEnds(organizationIds)
    const behind: ComparedBehind[] = []
    const continued: KnownHead[] = []
    for (const compared of await compareEnds(store, ends, (id) => known.get(id))) {
      if (isBehind(compared)) behind.push(compared)
      else if (compared.known && compared.known.timeline !== compared.end.timeline)
        continued.push({ ...compared.known, timeline: compared.end.timeline })
    }
    // What is missing later was deleted on this timeline, and not lost on the way to it.
    knownHeads.add(continued)
    // A folder that cannot be written only delays the writing; what is behind must be told all the same.
    await knownHeads.flush().catch(onError)
    return behind
  }
}
