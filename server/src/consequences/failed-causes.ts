import { DatabaseUnavailable } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment-store.ts'
import type { RowOf } from '../store/schema/tables.ts'

/** A round with more to do than it can finish tells of its failures all the same. */
const TOLD_EVERY_MS = 10_000

/** A cause that could not be followed, and why. */
export interface FailedCause {
  cause: RowOf<'consequences'>
  error: unknown
}

/** What failed causes are put back into, and told to. */
export interface FailedCausesParts {
  store: Pick<EnvironmentStore, 'postponeConsequences'>
  nowMs: () => number
  onError: (error: unknown) => void
}

/** The causes that one round could not follow: they are tried again later, and are told of once for each organization. */
export class FailedCauses {
  readonly #parts: FailedCausesParts
  readonly #ofOrganization = new Map<string, { count: number; error: unknown }>()
  #toldMs: number

  constructor(parts: FailedCausesParts) {
    this.#parts = parts
    this.#toldMs = parts.nowMs()
  }

  /** Whether some work could be done; that nobody can work without a database is nobody's own failure. */
  async succeeds(work: () => Promise<unknown>): Promise<boolean> {
    return (await failureOf(work)) === undefined
  }

  /** Does what a cause asks for, and postpones the cause if it cannot be done. */
  async follow(cause: RowOf<'consequences'>, work: () => Promise<unknown>): Promise<void> {
    const failure = await failureOf(work)
    if (failure) await this.postpone([{ cause, error: failure.error }])
  }

  async postpone(failed: readonly FailedCause[]): Promise<void> {
    for (const { cause, error } of failed) {
      if (error instanceof DatabaseUnavailable) throw error
      const { count = 0 } = this.#ofOrganization.get(cause.org_id) ?? {}
      this.#ofOrganization.set(cause.org_id, { count: count + 1, error })
    }
    await this.#parts.store.postponeConsequences(
      failed.map(({ cause }) => cause),
      new Date(this.#parts.nowMs()).toISOString(),
    )
  }

  tell(): void {
    for (const [organizationId, { count, error }] of this.#ofOrganization) {
      const what = count === 1 ? '1 consequence' : `${count} consequences`
      this.#parts.onError(new Error(`${what} of ${organizationId} could not be followed`, { cause: error }))
    }
    this.#ofOrganization.clear()
    this.#toldMs = this.#parts.nowMs()
  }

  tellAtTimes(): void {
    if (this.#parts.nowMs() - this.#toldMs >= TOLD_EVERY_MS) this.tell()
  }
}

async function failureOf(work: () => Promise<unknown>): Promise<{ error: unknown } | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    return { error }
  }
}
