import { dayOf } from '../server/src/core/graph/decay.ts'
import { describeTrust, type Trust } from '../server/src/core/graph/describe-trust.ts'
import { exposureOf } from '../server/src/core/graph/exposure.ts'
import { type FollowedLinks, type Link, linkOf, selectLinks } from '../server/src/core/graph/link.ts'
import { linksToLoad, reachOf } from '../server/src/core/graph/reach.ts'
import {
  isAdverse,
  NO_TRACK_RECORD,
  type OutcomeTally,
  type TrackRecord,
  tallyOutcome,
  trackRecordOf,
} from '../server/src/core/graph/track-record.ts'

/** One member's rating of another: from −10 to 10, and never 0. */
export interface Rating {
  from: string
  to: string
  rating: number
  at: string
}

/** The trust of a member at one moment: as the API returns it, and from its own history or its neighbours alone. */
export interface TrustAt {
  trust: Trust
  ownTrust: Trust
  neighbourTrust: Trust
}

interface Member {
  links: Map<string, Link>
  tallies: OutcomeTally[]
  isAdverse: boolean
  /** The members that it rated below zero, or that rated it so: a link that either end has failed carries nothing. */
  failed: Set<string>
  /** How many of the linked members are adverse. */
  adverseNeighbours: number
  /** Its links as a walk follows them, until one of them changes. */
  followed: FollowedLinks | null
}

/** The trust graph that ratings make, in memory: the links, track records and walks are those of the service. */
export class WebOfTrust {
  readonly #members = new Map<string, Member>()

  /** The trust of a member, from the ratings that were added so far. */
  trustOf(id: string, at: string): TrustAt {
    const today = dayOf(at)
    const links = new Map<string, FollowedLinks>()
    for (;;) {
      const wanted = linksToLoad({ entityId: id, links, today })
      if (wanted.length === 0) break
      for (const one of wanted) links.set(one, this.#followedLinks(one, today))
    }
    const reach = reachOf({ entityId: id, links, today })
    const trackRecords = new Map([...reach.keys()].map((other) => [other, this.#trackRecord(other, today)]))
    const own = this.#trackRecord(id, today)
    const exposure = exposureOf({ entityId: id, asOf: at, reach, trackRecords })
    return {
      trust: describeTrust(exposure, own),
      ownTrust: describeTrust({ ...exposure, contributions: [] }, own),
      neighbourTrust: describeTrust(exposure, NO_TRACK_RECORD),
    }
  }

  /** Adds a rating: an outcome of the rated member, and a link between the two unless either has rated the other below zero. */
  add({ from, to, rating, at }: Rating): void {
    const rated = this.#member(to)
    this.#link({ from, to, rating, at })
    const type = rating < 0 ? 'default' : 'repaid'
    rated.tallies = tallyOutcome(rated.tallies, { type, occurredAt: at })
    this.#mark(to, isAdverse(trackRecordOf(rated.tallies, dayOf(at))))
  }

  #link({ from, to, rating, at }: Rating): void {
    for (const [id, neighbour] of [
      [from, to],
      [to, from],
    ] as const) {
      const member = this.#member(id)
      if (rating < 0) member.failed.add(neighbour)
      const verification = member.failed.has(neighbour) ? 'failed' : 'verified'
      const link = linkOf({ neighbour, type: 'business_partner', verification, since: dayOf(at) })
      const wasLinked = member.links.delete(neighbour)
      if (link) member.links.set(neighbour, link)
      if (this.#member(neighbour).isAdverse) member.adverseNeighbours += Number(link !== null) - Number(wasLinked)
      member.followed = null
    }
  }

  #mark(id: string, adverse: boolean): void {
    const member = this.#member(id)
    if (member.isAdverse === adverse) return
    member.isAdverse = adverse
    for (const neighbour of member.links.keys()) {
      const other = this.#member(neighbour)
      other.adverseNeighbours += adverse ? 1 : -1
      other.followed = null
    }
  }

  #followedLinks(id: string, today: number): FollowedLinks {
    const member = this.#member(id)
    const others = Number(member.isAdverse)
    member.followed ??= selectLinks([...member.links.values()], {
      isAdverse: (other) => this.#member(other).isAdverse,
      isNearAdverse: (other) => this.#member(other).adverseNeighbours > others,
      today,
    })
    return member.followed
  }

  #trackRecord(id: string, today: number): TrackRecord {
    const tallies = this.#members.get(id)?.tallies ?? []
    return tallies.length === 0 ? NO_TRACK_RECORD : trackRecordOf(tallies, today)
  }

  #member(id: string): Member {
    const known = this.#members.get(id)
    if (known) return known
    const member = {
      links: new Map(),
      failed: new Set<string>(),
      tallies: [],
      isAdverse: false,
      adverseNeighbours: 0,
      followed: null,
    }
    this.#members.set(id, member)
    return member
  }
}
