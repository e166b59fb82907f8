import { DatabaseUnavailable } from '../store/database/database.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { RowOf } from '../store/schema/tables.ts'

/** A round may last long under a backlog, so it also reports failures while it runs. */
const REPORT_EVERY_MS = 10_000

/** A cause whose work failed, and the error. */
export interface FailedCause {
  cause: RowOf<'consequences'>
  error: unknown
}

/** Where failed causes are postponed, and where they are reported. */
export interface FailedCausesParts {
  store: { consequences: Pick<EnvironmentStore['consequences'], 'postpone'> }
  nowMs: () => number
  onError: (error: unknown) => void
}

/** Postpones the causes that fail in a round, and reports one error for each organization instead of one for each cause. */
export class FailedCauses {
  readonly #parts: FailedCausesParts
  readonly #ofOrganization = new Map<string, { count: number; error: unknown }>()
  #reportedMs: number

  constructor(parts: FailedCausesParts) {
    this.#parts = parts
    this.#reportedMs = parts.nowMs()
  }

  /** Whether work succeeds; rejects if the database is unavailable, because then no cause is at fault. */
  async succeeds(work: () => Promise<unknown>): Promise<boolean> {
    return (await failureOf(work)) === undefined
  }

  /** Does the work of a cause, and postpones the cause if the work fails. */
  async attempt(cause: RowOf<'consequences'>, work: () => Promise<unknown>): Promise<void> {
    const failure = await failureOf(work)
    if (failure) await this.postpone([{ cause, error: failure.error }])
  }

  /** Postpones failed causes and counts them for the next report; rejects if the database is unavailable. */
  async postpone(failed: readonly FailedCause[]): Promise<void> {
    for (const { cause, error } of failed) {
      if (error instanceof DatabaseUnavailable) throw error
      const { count = 0 } = this.#ofOrganization.get(cause.org_id) ?? {}
      this.#ofOrganization.set(cause.org_id, { count: count + 1, error })
    }
    await this.#parts.store.consequences.postpone(
      failed.map(({ cause }) => cause),
      new Date(this.#parts.nowMs()).toISOString(),
    )
  }

  /** Reports the failures since the last report, one error for each organization. */
  report(): void {
    for (const [organizationId, { count, error }] of this.#ofOrganization) {
      const what = count === 1 ? '1 consequence' : `${count} consequences`
      this.#parts.onError(new Error(`${what} of ${organizationId} failed and will be retried`, { cause: error }))
    }
    this.#ofOrganization.clear()
    this.#reportedMs = this.#parts.nowMs()
  }

  /** Reports if the last report was ten seconds ago. */
  reportPeriodically(): void {
    if (this.#parts.nowMs() - this.#reportedMs >= REPORT_EVERY_MS) this.report()
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
