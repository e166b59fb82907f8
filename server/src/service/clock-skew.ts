import { Gauge, type Registry } from 'prom-client'
import type { ClockOffset } from '../store/database/health.ts'

/** A machine whose clock differs by more than this from a database's is reported. */
const CLOCK_SKEW_MAX_MS = 1_000

/** Keeps the skew of this machine's clock against each database, for the metric and for one log line per change. */
export class ClockSkew {
  readonly #skews = new Map<string, number>()
  readonly #skewed = new Set<string>()
  readonly #onSkewed: (database: string, skewMs: number) => void
  readonly #onAgreeing: (database: string) => void

  constructor({
    onSkewed,
    onAgreeing,
  }: {
    onSkewed: (database: string, skewMs: number) => void
    onAgreeing: (database: string) => void
  }) {
    this.#onSkewed = onSkewed
    this.#onAgreeing = onAgreeing
  }

  /** Registers the gauge of the skews. */
  register(registry: Registry): void {
    const skews = this.#skews
    new Gauge({
      name: 'verdigraph_clock_skew_seconds',
      help: 'The clock of this machine minus the clock of a database.',
      labelNames: ['database'],
      registers: [registry],
      collect() {
        for (const [database, skewMs] of skews) this.set({ database }, skewMs / 1_000)
      },
    })
  }

  note(database: string, { offsetMs, uncertaintyMs }: ClockOffset): void {
    this.#skews.set(database, -offsetMs)
    // Only what is certain counts: a slow answer says little about a clock.
    const isSkewed = Math.abs(offsetMs) - uncertaintyMs > CLOCK_SKEW_MAX_MS
    if (isSkewed === this.#skewed.has(database)) return
    if (isSkewed) {
      this.#skewed.add(database)
      this.#onSkewed(database, -offsetMs)
    } else {
      this.#skewed.delete(database)
      this.#onAgreeing(database)
    }
  }
}
