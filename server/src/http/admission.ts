/** Requests that are let in however slowly answers come: enough to fill a batch while another is being written. */
const ALWAYS_ADMITTED = 256
/** How long a request may have to wait behind those before it. */
const WAIT_MAX_MS = 500
const WINDOW_MS = 1_000
/** What one organization may take of it: requests that wait for each other must not keep everybody else out. */
const SHARE_OF_ONE = 0.5

/**
 * Turns requests away while those already inside will take too long. What waits inside a server that is too slow is
 * answered when nobody listens any more; what is turned away at once can be sent again, and the rest is answered in time.
 *
 * By Little's law, waiting is the number inside divided by the rate of answers. The rate is the one of the last full
 * second or of this one, so the bound follows the machine and the database without being told about them.
 */
export class Admission {
  readonly #nowMs: () => number
  readonly #insideOf = new Map<string, number>()
  #inside = 0
  #windowStartMs = 0
  #answeredBefore = 0
  #answered = 0

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Whether one more, of anybody, would have to wait too long. */
  get isFull(): boolean {
    return this.#inside >= this.#room()
  }

  /** Lets a request of an organization in, if there is room for it. */
  enter(organizationId: string): boolean {
    const own = this.#insideOf.get(organizationId) ?? 0
    const room = this.#room()
    if (this.#inside >= room || own >= room * SHARE_OF_ONE) return false
    this.#inside += 1
    this.#insideOf.set(organizationId, own + 1)
    return true
  }

  leave(organizationId: string): void {
    this.#turnWindow()
    this.#inside -= 1
    this.#answered += 1
    const own = this.#insideOf.get(organizationId)! - 1
    if (own === 0) this.#insideOf.delete(organizationId)
    else this.#insideOf.set(organizationId, own)
  }

  #room(): number {
    this.#turnWindow()
    const perSecond = Math.max(this.#answeredBefore, this.#answered)
    return Math.max(ALWAYS_ADMITTED, (perSecond * WAIT_MAX_MS) / 1000)
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
