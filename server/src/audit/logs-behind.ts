import type { Environment } from '../config.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { KnownHead, KnownHeads } from './known-heads.ts'
import { type ComparedEnd, compareEnds, hasLostEntries, isBehind, lostEntries } from './lost-entries.ts'

/** What the comparison of one environment needs. */
export interface LogsBehindParts {
  environment: Environment
  store: { sealing: Pick<EnvironmentStore['sealing'], 'logEnds' | 'nodeHashesOf'> }
  knownHeads: Pick<KnownHeads, 'newest' | 'organizationIds' | 'reload' | 'add' | 'flush'>
  onCompared: (behind: number) => void
  onError: (error: unknown) => void
}

const LOGS_PER_READ = 500

/**
 * The logs of one environment that lack entries of a head which this node knows. They are compared once for each timeline of the
 * database, because a failover or a restore begins another; and again while one is behind, until an operator accepts it.
 */
export class LogsBehind {
  readonly #parts: LogsBehindParts
  #behind: readonly ComparedEnd[] = []
  #timeline: string | undefined
  #comparing: Promise<void> | undefined

  constructor(parts: LogsBehindParts) {
    this.#parts = parts
  }

  /** Compares the logs if need be; called with each look at the database. */
  compareOn(timeline: string): Promise<void> {
    if (timeline === this.#timeline && this.#behind.length === 0) return Promise.resolve()
    this.#comparing ??= this.#compare(timeline)
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
    const size = first.end.head?.tree_size ?? 0
    const what = hasLostEntries(first)
      ? lostEntries(first)
      : `a log ends at ${size} entries, before a head that this node knows`
    const also = others.length > 0 ? `, and ${others.length} more logs are behind` : ''
    return [`${environment}: ${what}${also}: run audit verify`]
  }

  async #compare(timeline: string): Promise<void> {
    const { store, knownHeads, onCompared } = this.#parts
    // A command that accepts a restore writes to the file from another process.
    knownHeads.reload()
    const ids = knownHeads.organizationIds()
    const behind: ComparedEnd[] = []
    const continued: KnownHead[] = []
    for (let from = 0; from < ids.length; from += LOGS_PER_READ) {
      const group = ids.slice(from, from + LOGS_PER_READ)
      // Copied before the ends are read: the sealer adds heads meanwhile.
      const known = new Map(group.map((id) => [id, knownHeads.newest(id)]))
      const ends = await store.sealing.logEnds(group)
      for (const compared of await compareEnds(store, ends, (id) => known.get(id))) {
        if (isBehind(compared)) behind.push(compared)
        else if (compared.known && compared.known.timeline !== compared.end.timeline)
          continued.push({ ...compared.known, timeline: compared.end.timeline })
      }
    }
    // What is missing later was deleted on this timeline, and not lost on the way to it.
    knownHeads.add(continued)
    await knownHeads.flush()
    this.#behind = behind
    this.#timeline = timeline
    onCompared(behind.length)
  }
}
