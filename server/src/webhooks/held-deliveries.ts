import type { DueEndpoint, LeasedDelivery } from '../store/queries/webhook-dispatch.ts'
import { type Pace, Room } from './room.ts'

/**
 * Attempts in flight on this node, for one environment. Connections that were used in the last four seconds are open besides,
 * at most as many to an endpoint as it had attempts at once.
 */
const IN_FLIGHT = { inAll: 256, unproven: 192, slow: 128, perEndpoint: { quick: 32, unknown: 8, slow: 32 } }
/** Deliveries that this node has leased: in flight, about to be, or about to be recorded. A reserve keeps quick lines busy. */
const HELD = { inAll: 4_096, unproven: 2_048, slow: 1_024, perEndpoint: { quick: 1_024, unknown: 8, slow: 32 } }
/** An endpoint whose attempts take longer is slow. */
const QUICK_MS = 1_000
const REMEMBERED_MAX = 10_000

/** A leased delivery, with the last moment at which an attempt still ends within its lease. */
export type HeldDelivery = LeasedDelivery & { beginBeforeMs: number; heldAs: Pace }

/** How many deliveries of an endpoint are wanted; room for them is set aside. */
export interface Wanted extends DueEndpoint {
  pace: Pace
  count: number
}

/** What names an endpoint. */
export type EndpointKey = Pick<DueEndpoint, 'org_id' | 'endpoint_id'>

/** One endpoint's deliveries that this node has leased. */
interface Line extends EndpointKey {
  failing: boolean
  waiting: HeldDelivery[]
  /** The longest in flight first. */
  inFlight: Map<HeldDelivery, { begunMs: number; pace: Pace }>
  /** Waiting, in flight, or not yet on record. */
  held: number
}

/** An endpoint's key as text. */
export function keyOf({ org_id, endpoint_id }: EndpointKey): string {
  return `${org_id} ${endpoint_id}`
}

/** The deliveries that this node has leased, in a line for each endpoint; and whose turn it is. */
export class HeldDeliveries {
  readonly #lines = new Map<string, Line>()
  readonly #held = new Room(HELD)
  readonly #inFlight = new Room(IN_FLIGHT)
  readonly #paces = new Map<string, Pace>()
  #turn = 0

  get held(): number {
    return this.#held.taken
  }

  get inFlight(): number {
    return this.#inFlight.taken
  }

  /** The endpoints that something is held for. */
  endpoints(): EndpointKey[] {
    return [...this.#lines.values()]
  }

  /** Says how much to lease of what is due: one of each endpoint in turn, as long as there is room, so that a long queue of one holds up nobody. */
  plan(due: readonly DueEndpoint[]): Wanted[] {
    const turn = due.length > 0 ? this.#turn++ % due.length : 0
    const wanted = [...due.slice(turn), ...due.slice(0, turn)].map((endpoint) => ({
      ...endpoint,
      pace: this.#paceOf(keyOf(endpoint), endpoint.failing),
      held: this.#lines.get(keyOf(endpoint))?.held ?? 0,
      count: 0,
    }))
    let open = wanted
    while (open.length > 0) {
      open = open.filter((endpoint) => {
        const held = endpoint.held + endpoint.count
        // What cannot begin soon is better left to other nodes; only quick lines are worth a reserve.
        const isOfUse = endpoint.pace === 'quick' || this.#inFlight.hasPlace(endpoint, held)
        if (!isOfUse || !this.#held.hasPlace(endpoint, held)) return false
        this.#held.take(endpoint)
        endpoint.count += 1
        return true
      })
    }
    return wanted.filter(({ count }) => count > 0)
  }

  /** Takes in what was leased, and gives back the room that was set aside for more. */
  add(wanted: readonly Wanted[], leased: readonly LeasedDelivery[], beginBeforeMs: number): void {
    const planned = new Map(wanted.map((endpoint) => [keyOf(endpoint), endpoint]))
    for (const endpoint of wanted) for (let left = endpoint.count; left > 0; left--) this.#held.giveBack(endpoint)
    for (const row of leased) {
      const key = keyOf(row)
      const { org_id, endpoint_id, pace, failing } = planned.get(key)!
      const line: Line = this.#lines.get(key) ?? {
        ...{ org_id, endpoint_id, failing },
        ...{ waiting: [], inFlight: new Map(), held: 0 },
      }
      this.#lines.set(key, line)
      line.failing = failing
      line.waiting.push({ ...row, beginBeforeMs, heldAs: pace })
      line.held += 1
      this.#held.take({ org_id, pace })
    }
  }

  /** Begins what there is room for, one of each endpoint in turn. Returns how many came too late for their lease. */
  begin(isReady: (endpoint: EndpointKey) => boolean, start: (delivery: HeldDelivery) => void): number {
    let late = 0
    let open = [...this.#lines.values()]
    while (open.length > 0) {
      open = open.filter((line) => {
        late += this.#dropLate(line)
        const [delivery] = line.waiting
        const guest = { org_id: line.org_id, pace: this.#paceOf(keyOf(line), line.failing) }
        if (!delivery || !this.#inFlight.hasPlace(guest, line.inFlight.size) || !isReady(line)) return false
        line.waiting.shift()
        line.inFlight.set(delivery, { begunMs: performance.now(), pace: guest.pace })
        this.#inFlight.take(guest)
        // To the end of the row: next time, the others come first.
        this.#lines.delete(keyOf(line))
        this.#lines.set(keyOf(line), line)
        start(delivery)
        return true
      })
    }
    return late
  }

  /** An attempt has come to its end: its place is free for another. It stays held until it is let go. */
  end(delivery: HeldDelivery): void {
    const key = keyOf(delivery)
    const line = this.#lines.get(key)!
    const { begunMs, pace } = line.inFlight.get(delivery)!
    line.inFlight.delete(delivery)
    this.#inFlight.giveBack({ org_id: line.org_id, pace })
    if (!this.#paces.has(key) && this.#paces.size === REMEMBERED_MAX) this.#paces.clear()
    this.#paces.set(key, performance.now() - begunMs > QUICK_MS ? 'slow' : 'quick')
  }

  /** Puts a delivery back to the front of its line: its attempt was withdrawn. */
  putBack(delivery: HeldDelivery): void {
    this.#lines.get(keyOf(delivery))!.waiting.unshift(delivery)
  }

  /** Forgets a delivery that is on record, or that another node may have by now. */
  letGo(delivery: HeldDelivery): void {
    const line = this.#lines.get(keyOf(delivery))!
    line.held -= 1
    this.#held.giveBack({ org_id: line.org_id, pace: delivery.heldAs })
    if (line.held === 0) this.#lines.delete(keyOf(line))
  }

  /** Lets go of everything that waits for some endpoints, and returns what of it is still this node's to give back. */
  dismiss(whose: (endpoint: EndpointKey) => boolean): HeldDelivery[] {
    return [...this.#lines.values()].filter(whose).flatMap((line) => {
      this.#dropLate(line)
      const dismissed = line.waiting.splice(0)
      for (const delivery of dismissed) this.letGo(delivery)
      return dismissed
    })
  }

  /** Lets go of what can no longer be sent within its lease. It comes back by itself when that has run out. */
  #dropLate(line: Line): number {
    let late = 0
    // Those that were leased first stand first.
    while (line.waiting.length > 0 && line.waiting[0]!.beginBeforeMs <= performance.now()) {
      this.letGo(line.waiting.shift()!)
      late += 1
    }
    return late
  }

  #paceOf(key: string, failing: boolean): Pace {
    const [longest] = this.#lines.get(key)?.inFlight.values() ?? []
    if (longest && performance.now() - longest.begunMs > QUICK_MS) return 'slow'
    return this.#paces.get(key) ?? (failing ? 'slow' : 'unknown')
  }
}
