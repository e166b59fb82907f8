/** The clock of the service while it writes the history: it jumps ahead on demand, runs in between, and never passes now. */
export class HistoryClock {
  #fromMs: number
  #setAtMs = performance.now()

  constructor(startMs: number) {
    this.#fromMs = startMs
  }

  readonly nowMs = (): number => Math.min(Math.floor(this.#fromMs + performance.now() - this.#setAtMs), Date.now())

  /** Sets the clock to a moment; a moment in its past changes nothing. */
  jumpTo(ms: number): void {
    this.#fromMs = Math.max(this.nowMs(), ms)
    this.#setAtMs = performance.now()
  }
}
