import type { ClockOffset } from '../store/database/health.ts'

/**
 * The clock of a node: that of its machine, corrected to the database's. Nodes of one installation so agree to within
 * the round trip of a query, however far apart their machines' clocks are.
 *
 * What must be in order does not rely on it: versions and sequences of the database order writes, and a record is never
 * dated before the records that it is based on.
 */
export class NodeClock {
  /** The machine's own time. */
  readonly systemMs: () => number
  #offsetMs = 0

  constructor(systemMs: () => number) {
    this.systemMs = systemMs
  }

  /** The corrected time, in whole milliseconds. */
  readonly nowMs = (): number => this.systemMs() + this.#offsetMs

  /** Corrects the clock by as little as agrees with a measurement, so that uncertain ones do not make time jump. */
  correct({ offsetMs, uncertaintyMs }: ClockOffset): void {
    const [least, most] = [Math.ceil(offsetMs - uncertaintyMs), Math.floor(offsetMs + uncertaintyMs)]
    if (least > most) this.#offsetMs = Math.round(offsetMs)
    else this.#offsetMs = Math.min(Math.max(this.#offsetMs, least), most)
  }
}
