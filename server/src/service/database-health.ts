import type { Database } from '../store/database/database.ts'
import {
  type ClockOffset,
  type CommitDurability,
  commitDurability,
  findHealthProblem,
  forgetNode,
  type HealthProblem,
  measureClock,
} from '../store/database/health.ts'

const CHECK_EVERY_MS = 5_000
/** A result of this age is used again, so that probes cannot load the database. */
const FRESH_FOR_MS = 1_000
/** A database that has not answered a check after this time gets new connections. */
const CHECK_WITHIN_MS = 5_000

/** The databases to check, and what is told when one stops or starts to serve requests. */
export interface DatabaseHealthParts {
  databases: Readonly<Record<string, Database>>
  node: string
  onProblem: (database: string, problem: HealthProblem) => void
  onRecovery: (database: string) => void
  clock: { systemMs(): number }
  onClockMeasured: (database: string, offset: ClockOffset) => void
  onDurabilityFound: (database: string, durability: CommitDurability) => void
}

/**
 * Checks every few seconds, and when asked, that the databases can be read and written, and asks for their clocks and for what
 * their commits wait for.
 *
 * Each database is in one of two states, and only a transition is reported:
 *
 *     well → failing   a check failed, or found another problem than the last one (`onProblem`)
 *     failing → well   a check succeeded (`onRecovery`)
 */
export class DatabaseHealth {
  readonly #parts: DatabaseHealthParts
  readonly #problems = new Map<string, HealthProblem>()
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined
  #checkedAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: DatabaseHealthParts) {
    this.#parts = parts
  }

  start(): void {
    this.#timer = setInterval(() => void this.check(), CHECK_EVERY_MS).unref()
  }

  /** Checks one database now, without waiting for the others. */
  async checkOnly(name: string): Promise<void> {
    await this.#checkOne(name, this.#parts.databases[name]!)
  }

  /** The first problem of a database, by a check that ended at most a second ago; undefined if all can serve requests. */
  async check(): Promise<HealthProblem | undefined> {
    if (performance.now() - this.#checkedAtMs > FRESH_FOR_MS) {
      this.#checking ??= this.#checkAll().finally(() => {
        this.#checking = undefined
      })
      await this.#checking
    }
    return this.#problems.values().next().value
  }

  /** Waits for a check in progress, and takes this node from the list of running ones. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#checking
    const { databases, node } = this.#parts
    // A database that does not answer now forgets the node later: a heartbeat is old after seconds.
    await Promise.allSettled(Object.values(databases).map((database) => forgetNode(database, node)))
  }

  async #checkAll(): Promise<void> {
    await Promise.all(Object.entries(this.#parts.databases).map(([name, database]) => this.#checkOne(name, database)))
    this.#checkedAtMs = performance.now()
  }

  async #checkOne(name: string, database: Database): Promise<void> {
    const { node, onProblem, onRecovery } = this.#parts
    const problem = await findHealthProblem(database, { node, withinMs: CHECK_WITHIN_MS })
    if (!problem) await this.#ask(name, database)
    const known = this.#problems.get(name)
    if (problem === known) return
    if (problem) {
      this.#problems.set(name, problem)
      onProblem(name, problem)
    } else {
      this.#problems.delete(name)
      onRecovery(name)
    }
  }

  async #ask(name: string, database: Database): Promise<void> {
    const { clock, onClockMeasured, onDurabilityFound } = this.#parts
    try {
      onClockMeasured(name, await measureClock(database, { clock, withinMs: CHECK_WITHIN_MS }))
      onDurabilityFound(name, await commitDurability(database, { withinMs: CHECK_WITHIN_MS }))
    } catch {
      // The database went away after its check; the next one reports that.
    }
  }
}
