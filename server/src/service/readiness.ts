import type { ReadinessProbe } from '../http/probes.ts'

/** How long the databases may take before they count as unreachable. */
const ANSWER_WITHIN_MS = 2_000

/**
 * Whether this node should get requests. Callers at the same time share one look at the databases, which takes two seconds
 * at most, so that probes cannot load a node.
 *
 *     ready ↔ the problem of a database   by what `findProblem` says
 *     any   → draining                    the service is about to stop; there is no way back
 */
export class Readiness implements ReadinessProbe {
  readonly #findProblem: () => Promise<string | undefined>
  readonly warnings: () => string[]
  #isDraining = false
  #asking: Promise<string | undefined> | undefined

  constructor(findProblem: () => Promise<string | undefined>, warnings: () => string[] = () => []) {
    this.#findProblem = findProblem
    this.warnings = warnings
  }

  /** `ready`, `draining`, or what is wrong with a database. */
  async status(): Promise<string> {
    if (this.#isDraining) return 'draining'
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return (await this.#asking) ?? 'ready'
  }

  startDraining(): void {
    this.#isDraining = true
  }

  #ask(): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('database_unreachable'), ANSWER_WITHIN_MS).unref()
    })
    return Promise.race([this.#findProblem(), tooLate]).finally(() => clearTimeout(timer))
  }
}
