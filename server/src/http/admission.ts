/** Requests that are let in however slowly answers come: enough to fill a batch while another is being written. */
const ALWAYS_ADMITTED = 128
/** How long a request may have to wait behind those before it. */
const WAIT_MAX_MS = 500
const WINDOW_MS = 1_000

/**
 * Turns requests away while those already inside will take too long. What waits inside a server that is too slow is
 * answered when nobody listens any more; what is turned away at once can be sent again, and the rest is answered in time.
 *
 * By Little's law, waiting is the number inside divided by the rate of answers. The rate is the one of the last full
 * second or of this one, so the bound follows the machine and the database without being told about them.
 */
export class Admission {
  readonly #nowMs: () => number
  #inside = 0
  #windowStartMs = 0
  #answeredBefore = 0
  #answered = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Whether one more would have to wait too long. */
  get isFull(): boolean {
    this.#turnWindow()
    const perSecond = Math.max(this.#answeredBefore, this.#answered)
    return this.#inside >= Math.max(ALWAYS_ADMITTED, (perSecond * WAIT_MAX_MS) / 1000)
  }

  enter(): void {
    this.#inside += 1
  }

  leave(): void {
    this.#turnWindow()
    this.#inside -= 1
    this.#answered += 1
  }

  #turnWindow(): void {
    const now = this.#nowMs()
    const elapsedMs = now - this.#windowStartMs
    if (elapsedMs < WINDOW_MS) return
    this.#answeredBefore = elapsedMs < 2 * WINDOW_MS ? this.#answered : 0
    this.#answered = 0
    this.#windowStartMs = now
  }
}
