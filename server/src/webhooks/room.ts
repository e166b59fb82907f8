/** How an endpoint's attempts go, as far as this node has seen: what matters here is how long they take, not how they end. */
export type Pace = 'quick' | 'unknown' | 'slow'

/** How much there may be at once. */
export interface RoomBounds {
  inAll: number
  /** Of all, for endpoints that are not known to be quick. */
  unproven: number
  /** Of those, for endpoints that are known to be slow. */
  slow: number
  /** For one endpoint; less when little is left. */
  perEndpoint: Record<Pace, number>
}

/** Who asks for a place. */
export interface Guest {
  org_id: string
  pace: Pace
}

/** An endpoint gets at most this part of what is left. */
const SHARE_OF_LEFT = 1 / 4

/**
 * A bounded number of places. Those that are not known to be quick find only a part of them free, and those that are
 * known to be slow a part of that: so however many are slow, quick ones find room, and so do new ones. Among their like,
 * an organization may have no more than is left: n of them that all want everything get an equal part each, and one such
 * part stays free for the next that comes (the dynamic threshold of Choudhury and Hahne, 1998).
 */
export class Room {
  readonly #bounds: RoomBounds
  readonly #taken = { quick: 0, unknown: 0, slow: 0 }
  readonly #ofOrganization = new Map<string, { quick: number; unproven: number }>()

  constructor(bounds: RoomBounds) {
    this.#bounds = bounds
  }

  /** How many places are taken. */
  get taken(): number {
    return this.#taken.quick + this.#unproven
  }

  /** Whether there is a place for an endpoint that has so many already. */
  hasPlace({ org_id, pace }: Guest, ofEndpoint: number): boolean {
    const left = this.#leftFor(pace)
    const own = this.#ofOrganization.get(org_id)
    const ofOrganization = own === undefined ? 0 : pace === 'quick' ? own.quick : own.unproven
    if (ofOrganization >= left) return false
    return ofEndpoint < Math.max(1, Math.min(this.#bounds.perEndpoint[pace], Math.floor(left * SHARE_OF_LEFT)))
  }

  take(guest: Guest): void {
    this.#add(guest, 1)
  }

  giveBack(guest: Guest): void {
    this.#add(guest, -1)
  }

  get #unproven(): number {
    return this.#taken.unknown + this.#taken.slow
  }

  #leftFor(pace: Pace): number {
    const { inAll, unproven, slow } = this.#bounds
    let left = inAll - this.taken
    if (pace !== 'quick') left = Math.min(left, unproven - this.#unproven)
    if (pace === 'slow') left = Math.min(left, slow - this.#taken.slow)
    return left
  }

  #add({ org_id, pace }: Guest, by: 1 | -1): void {
    this.#taken[pace] += by
    const own = this.#ofOrganization.get(org_id) ?? { quick: 0, unproven: 0 }
    own[pace === 'quick' ? 'quick' : 'unproven'] += by
    if (own.quick + own.unproven === 0) this.#ofOrganization.delete(org_id)
    else this.#ofOrganization.set(org_id, own)
  }
}
