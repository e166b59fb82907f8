/** Requests that are admitted at any rate of answers: enough to fill one batch while another is being written. */
const ALWAYS_ADMITTED = 256
/** How long an admitted request may have to wait for the requests in flight. */
const WAIT_MAX_MS = 500
const WINDOW_MS = 1_000
/** The share of the slots that one organization may hold: requests that wait for one lock must not fill the server. */
const SHARE_MAX = 0.5

/**
 * Refuses requests while the requests in flight will take too long to answer. A request that queues in an overloaded
 * server is answered after its client has timed out; one that is refused at once can be retried, and the admitted ones
 * are answered in time.
 *
 * By Little's law, the wait is the number of requests in flight divided by the rate of answers. The rate is that of the
 * last full second or of this one, if higher, so the bound follows the machine and the database without configuration.
 */
export class Admission {
  readonly #nowMs: () => number
  readonly #inFlightOf = new Map<string, number>()
  #inFlight = 0
  #windowStartMs = 0
  #answeredLastWindow = 0
  #answered = 0

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Whether every slot is taken, so that a request of any organization would be refused. */
  get isFull(): boolean {
    return this.#inFlight >= this.#slots()
  }

  /** Takes a slot for a request; returns false if all slots, or all of the organization's share, are taken. */
  enter(organizationId: string): boolean {
    const own = this.#inFlightOf.get(organizationId) ?? 0
    const slots = this.#slots()
    if (this.#inFlight >= slots || own >= slots * SHARE_MAX) return false
    this.#inFlight += 1
    this.#inFlightOf.set(organizationId, own + 1)
    return true
  }

  /** Frees the slot of a request that was answered. */
  leave(organizationId: string): void {
    this.#rollWindow()
    this.#inFlight -= 1
    this.#answered += 1
    const own = this.#inFlightOf.get(organizationId)! - 1
    if (own === 0) this.#inFlightOf.delete(organizationId)
    else this.#inFlightOf.set(organizationId, own)
  }

  #slots(): number {
    this.#rollWindow()
    const perSecond = Math.max(this.#answeredLastWindow, this.#answered)
    return Math.max(ALWAYS_ADMITTED, (perSecond * WAIT_MAX_MS) / 1000)
  }

  #rollWindow(): void {
    const now = this.#nowMs()
    const elapsedMs = now - this.#windowStartMs
    if (elapsedMs < WINDOW_MS) return
    this.#answeredLastWindow = elapsedMs < 2 * WINDOW_MS ? this.#answered : 0
    this.#answered = 0
    this.#windowStartMs = now
  }
}
