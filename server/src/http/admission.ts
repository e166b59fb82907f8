import { FairScheduler } from './fair-scheduler.ts'

/** Requests that are admitted at any rate of answers: enough to fill one batch while another is being written. */
const ALWAYS_ADMITTED = 256
/** How long an admitted request may have to wait for the requests in flight. */
const WAIT_MAX_MS = 500
const WINDOW_MS = 1_000
/** The share of the slots that one party may hold: requests that wait for one lock must not fill the server. */
const SHARE_MAX = 0.5
/** How far the slots may be exceeded by parties that hold less than an equal share of them. */
const EXCESS_MAX = 2

/** The party of all requests without a valid key or session. */
export const UNKNOWN_PARTY = 'unknown'

/**
 * Decides which requests a process works on, and when. One instance serves all of its ports, so that no organization
 * gets more by using several. A party is an organization, or an account that acts for none.
 *
 * Slots: requests are refused while those in flight will take too long to answer. A request that queues in an overloaded
 * server is answered after its client has timed out; one that is refused at once can be retried, and the admitted ones
 * are answered in time. By Little's law, the wait is the number of requests in flight divided by the rate of answers. The
 * rate is that of the last full second or of this one, if higher, so the bound follows the machine and the database
 * without configuration. A party with less than an equal share of the slots gets one also while others hold them all. A
 * request holds no slot while its body arrives, because its client decides how long that takes.
 *
 * Turns: parties take turns in using the event loop (`FairScheduler`).
 */
export class Admission {
  readonly #nowMs: () => number
  readonly #scheduler: FairScheduler
  readonly #inFlightOf = new Map<string, number>()
  #inFlight = 0
  #windowStartMs = 0
  #answeredLastWindow = 0
  #answered = 0

  constructor({
    nowMs = () => performance.now(),
    scheduler = new FairScheduler(),
  }: {
    nowMs?: () => number
    scheduler?: FairScheduler
  } = {}) {
    this.#nowMs = nowMs
    this.#scheduler = scheduler
  }

  /** Whether a request of any party would be refused. */
  get isFull(): boolean {
    return this.#inFlight >= this.#slots() * EXCESS_MAX
  }

  /** Resolves when it is the party's turn to use the event loop. */
  turn(party: string): Promise<void> {
    return this.#scheduler.turn(party)
  }

  /** Waits for a turn before the body of a request is read; false if the request is refused. */
  async start(party: string): Promise<boolean> {
    if (!this.#enter(party)) return false
    await this.turn(party)
    this.#leave(party)
    return true
  }

  /** Does the work of a request, whose body has arrived, in a turn; `refused` if there is no slot for it. */
  async answer<T>(party: string, work: () => Promise<T>): Promise<T | 'refused'> {
    if (!this.#enter(party)) return 'refused'
    try {
      await this.turn(party)
      return await work()
    } finally {
      this.#rollWindow()
      this.#answered += 1
      this.#leave(party)
    }
  }

  /** Takes a slot; returns false if the party gets none. */
  #enter(party: string): boolean {
    if (this.isFull) return false
    const slots = this.#slots()
    const own = this.#inFlightOf.get(party) ?? 0
    const parties = this.#inFlightOf.size + (own === 0 ? 1 : 0)
    const most = this.#inFlight < slots ? slots * SHARE_MAX : slots * Math.min(SHARE_MAX, 1 / parties)
    if (own >= most) return false
    this.#inFlight += 1
    this.#inFlightOf.set(party, own + 1)
    return true
  }

  #leave(party: string): void {
    this.#inFlight -= 1
    const own = this.#inFlightOf.get(party)! - 1
    if (own === 0) this.#inFlightOf.delete(party)
    else this.#inFlightOf.set(party, own)
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
