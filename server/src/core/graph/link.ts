import { compareText } from '../plain-spelling.ts'
import type { IdentifierType, Relationship, VerificationStatus } from '../vocabularies.ts'
import { decayPpm, PPM, timesPpm } from './decay.ts'

/** Why two entities are linked: an asserted relationship, a shared identifier, or payments between them. */
export type LinkType = Relationship | IdentifierType | 'payment'

/** One link, stored and read from each of its two ends. */
export interface Link {
  neighbour: string
  type: LinkType
  verified: boolean
  /** The strength of the link on the day it is made, in ppm. */
  basePpm: number
  /** The day the link was made; for payments, the day of the latest one. */
  since: number
  /** The hash of the identifier behind the link; absent for relationships and payments. */
  claim?: string
  /** How many entities have that identifier. */
  holders?: number
}

/** What the strength of a link is computed from. */
export interface LinkBasis {
  neighbour: string
  type: LinkType
  /** A shared identifier is verified only if it is verified at both ends. */
  verification: VerificationStatus
  /** The owner's share, or the share of the payments in the cash flow of the end that the link belongs to; 0 to 1. */
  share?: number
  since: number
}

// How much of a neighbour's outcomes a link carries, and its half-life. The same identity carries nearly all; a contact
// detail may be shared or passed on; a guarantor is liable; an owner has influence by share; a payment shows only an
// acquaintance. Identity hardly changes, so its links decay slowly; details that are replaced every few years decay faster.
const YEAR = 365
const LINK_TYPES: Record<LinkType, { carriedPpm: number; halfLifeDays: number; isByShare?: true }> = {
  same_as: { carriedPpm: 900_000, halfLifeDays: 10 * YEAR },
  government_id: { carriedPpm: 900_000, halfLifeDays: 10 * YEAR },
  tax_id: { carriedPpm: 900_000, halfLifeDays: 10 * YEAR },
  registration_number: { carriedPpm: 900_000, halfLifeDays: 10 * YEAR },
  bank_account: { carriedPpm: 900_000, halfLifeDays: 5 * YEAR },
  email: { carriedPpm: 500_000, halfLifeDays: 3 * YEAR },
  phone: { carriedPpm: 500_000, halfLifeDays: 3 * YEAR },
  device: { carriedPpm: 400_000, halfLifeDays: YEAR },
  address: { carriedPpm: 200_000, halfLifeDays: 2 * YEAR },
  guarantor: { carriedPpm: 600_000, halfLifeDays: 3 * YEAR },
  owner: { carriedPpm: 500_000, halfLifeDays: 3 * YEAR, isByShare: true },
  director: { carriedPpm: 400_000, halfLifeDays: 3 * YEAR },
  business_partner: { carriedPpm: 300_000, halfLifeDays: 2 * YEAR },
  household: { carriedPpm: 300_000, halfLifeDays: 2 * YEAR },
  employer: { carriedPpm: 150_000, halfLifeDays: 2 * YEAR },
  payment: { carriedPpm: 150_000, halfLifeDays: 180, isByShare: true },
}

/** An unverified link carries half of a verified one, because an unchecked claim may be false. */
const UNVERIFIED_PPM = 500_000

/**
 * How many entities may have an identifier before it links none of them: more than two dozen share a switchboard, an agent or
 * a default value, and that says nothing about any of them.
 */
export const CROWD_MAX = 24

/** A path weaker than this is not followed. */
export const STRENGTH_MIN_PPM = 20_000

/** How many neighbours of one entity are followed by rank, how many more that are adverse, and how many more near those. */
export const FAN_OUT = 40

/**
 * How many links to one neighbour are followed. Two entities of one person rarely share more identifiers; a neighbour that
 * shares hundreds must not cost more than that.
 */
export const LINKS_PER_NEIGHBOUR_MAX = 8

/** How many links of one entity are read to find its first neighbours, and as many to find its adverse ones. */
export const LINKS_SCANNED_MAX = 1_000

/** How many neighbours beyond the fan-out are loaded, so that their exposure is refreshed at once. */
export const BEYOND_FAN_OUT_MAX = 160

/** Computes a link; null if its verification has failed. */
export function linkOf({ neighbour, type, verification, share = 1, since }: LinkBasis): Link | null {
  if (verification === 'failed') return null
  // A payment is observed, not verified: it shows an acquaintance and no more.
  const verified = verification === 'verified' && type !== 'payment'
  const { carriedPpm, isByShare } = LINK_TYPES[type]
  const sharePpm = isByShare ? Math.round(Math.min(1, Math.max(0, share)) * PPM) : PPM
  const certaintyPpm = verified || type === 'payment' ? PPM : UNVERIFIED_PPM
  return { neighbour, type, verified, basePpm: timesPpm(timesPpm(carriedPpm, sharePpm), certaintyPpm), since }
}

/** The strength of a link on a day, in ppm. */
export function strengthPpm(link: Link, today: number): number {
  return timesPpm(agedPpm(link, today), crowdPpm(link.holders))
}

/** The share of its strength that an identifier with this many holders has: 2 ÷ holders, and nothing in a crowd. */
export function crowdPpm(holders = 2): number {
  if (holders > CROWD_MAX) return 0
  return Math.floor((2 * PPM) / Math.max(2, holders))
}

/** The strength on a day without regard to the number of holders, which changes without the link being written. */
function agedPpm({ basePpm, since, type }: Link, today: number): number {
  return timesPpm(basePpm, decayPpm(today - since, LINK_TYPES[type].halfLifeDays))
}

/** The first day on which a link is too weak to be followed at any number of holders; the store may delete it from then on. */
export function expiryDay(link: Link): number {
  const isFollowedAt = (age: number) => agedPpm(link, link.since + age) >= STRENGTH_MIN_PPM
  let alive = -1
  // Beyond 20 halvings nothing is left of any link.
  let expired = 20 * LINK_TYPES[link.type].halfLifeDays
  while (expired - alive > 1) {
    const age = Math.floor((alive + expired) / 2)
    if (isFollowedAt(age)) alive = age
    else expired = age
  }
  return link.since + expired
}

/**
 * The links of one entity that a walk follows, and the next in rank. Neighbours are counted, not links, so that one that
 * shares many identifiers takes the place of one. An adverse entity is one with bad outcomes.
 */
export interface FollowedLinks {
  /** The links to the first neighbours by rank, up to the fan-out. */
  ranked: readonly Link[]
  /** The links to the first adverse neighbours, so that no number of others can crowd them out. */
  adverse: readonly Link[]
  /** Links to neighbours beyond the fan-out that are themselves linked to an adverse entity. */
  nearAdverse: readonly Link[]
  /** Links to the next neighbours. They are not followed, but the exposure at their far ends may depend on this entity. */
  beyondFanOut: readonly Link[]
}

/** Which neighbours are adverse or near an adverse entity, and the day on which links are selected. */
export interface LinkSelection {
  isAdverse: (entityId: string) => boolean
  /** Whether a neighbour is linked to an adverse entity other than the one whose links these are. */
  isNearAdverse: (entityId: string) => boolean
  today: number
}

/** Selects the links that a walk follows, from all links of one entity. */
export function selectLinks(links: readonly Link[], { isAdverse, isNearAdverse, today }: LinkSelection): FollowedLinks {
  const ranked = rankLinks(links, today)
  const neighbours = linksByNeighbour(ranked)
  const adverse = linksByNeighbour(ranked.filter(({ neighbour }) => isAdverse(neighbour)))
  const beyond = neighbours.slice(FAN_OUT)
  return {
    ranked: linksOfFirst(neighbours, FAN_OUT),
    adverse: linksOfFirst(adverse, FAN_OUT),
    nearAdverse: linksOfFirst(
      beyond.filter(([link]) => isNearAdverse(link!.neighbour)),
      FAN_OUT,
    ),
    beyondFanOut: linksOfFirst(beyond, BEYOND_FAN_OUT_MAX),
  }
}

/** The links to each neighbour, in the order of its first by rank. Of many of one kind the newest are kept: they are the strongest. */
function linksByNeighbour(ranked: readonly Link[]): Link[][] {
  const byNeighbour = Map.groupBy(ranked.slice(0, LINKS_SCANNED_MAX), ({ neighbour }) => neighbour)
  return [...byNeighbour.values()].map((links) => links.sort(byKindAndAge).slice(0, LINKS_PER_NEIGHBOUR_MAX))
}

function linksOfFirst(neighbours: readonly Link[][], count: number): Link[] {
  return neighbours.slice(0, count).flat().sort(byRank)
}

/**
 * All links that have not expired, by rank: verified before unverified, so that fakes cannot displace checked links;
 * payments last, so that they displace nothing else; then the higher base strength; then the older link, so that a new one
 * displaces no equal one. The order does not depend on the day, only the expiry does, so a store can index it.
 */
export function rankLinks(links: readonly Link[], today: number): Link[] {
  return links.filter((link) => agedPpm(link, today) >= STRENGTH_MIN_PPM).sort(byRank)
}

/** Compares links by rank. Total, because no two links of an entity agree in neighbour, type and claim. */
export function byRank(a: Link, b: Link): number {
  return byKind(a, b) || a.since - b.since || compareText(a.neighbour, b.neighbour) || byTypeAndClaim(a, b)
}

function byKindAndAge(a: Link, b: Link): number {
  return byKind(a, b) || b.since - a.since || byTypeAndClaim(a, b)
}

function byKind(a: Link, b: Link): number {
  return (
    Number(b.verified) - Number(a.verified) ||
    Number(a.type === 'payment') - Number(b.type === 'payment') ||
    b.basePpm - a.basePpm
  )
}

function byTypeAndClaim(a: Link, b: Link): number {
  return compareText(a.type, b.type) || compareText(a.claim ?? '', b.claim ?? '')
}
