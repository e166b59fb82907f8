import type { StatementOptions } from './database.ts'

/** How long plans are kept, and for how many rows that statements are given. */
const KEPT_FOR_MS = 2_000
const KEPT_FOR_ROWS = 1_000
/** A statement that is given more rows gets a plan of its own. */
const ROWS_PER_PLAN_MAX = 100

/** Whether a statement may use a kept plan. */
export function mayKeepPlan({ keepPlan = false }: StatementOptions, givenRows: number): boolean {
  return keepPlan && givenRows <= ROWS_PER_PLAN_MAX
}

/** The rows that a statement is given: its parameters are arrays with one element for each. */
export function givenRowsOf(params: readonly unknown[]): number {
  return params.reduce<number>((most, value) => (Array.isArray(value) ? Math.max(most, value.length) : most), 0)
}

/**
 * Says when sessions have to discard the plans that they keep. A plan that was made for an empty table may compare each given
 * row with each stored one, so plans are kept for a short time and for few rows only.
 */
export class KeptPlans {
  readonly #nowMs: () => number
  #generation = 0
  #sinceMs: number
  #rows = 0

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#sinceMs = nowMs()
  }

  /** The generation of the plans that may be used now. A session with plans of an earlier one discards them. */
  get generation(): number {
    if (this.#rows >= KEPT_FOR_ROWS || this.#nowMs() - this.#sinceMs >= KEPT_FOR_MS) {
      this.#generation += 1
      this.#sinceMs = this.#nowMs()
      this.#rows = 0
    }
    return this.#generation
  }

  /** Counts the rows that a statement was given, whether it used a kept plan or not. */
  countRows(given: number): void {
    this.#rows += given
  }
}
