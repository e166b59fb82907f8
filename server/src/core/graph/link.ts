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

/** A path weaker than this is not followed. */
export const STRENGTH_MIN_PPM = 20_000

/** How many links of one entity are followed by rank, how many more to adverse entities, and how many more near those. */
export const FAN_OUT = 40

/** How many links of one entity are scanned for neighbours that are linked to an adverse entity. */
export const LINKS_SCANNED_MAX = 1_000

/** How many links beyond the fan-out are loaded, so that the exposure at their far ends is refreshed at once. */
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
  return timesPpm(link.basePpm, decayPpm(today - link.since, LINK_TYPES[link.type].halfLifeDays))
}

/** The first day on which a link is too weak to be followed; the store may delete it from then on. */
export function expiryDay(link: Link): number {
  const isFollowedAt = (age: number) => strengthPpm(link, link.since + age) >= STRENGTH_MIN_PPM
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

/** The links of one entity that a walk follows, and the next in rank. An adverse entity is one with bad outcomes. */
export interface FollowedLinks {
  /** The first of all links by rank, up to the fan-out. */
  ranked: readonly Link[]
  /** The first links to adverse entities, so that no number of other links can crowd them out. */
  adverse: readonly Link[]
  /** Links beyond the fan-out whose neighbour is itself linked to an adverse entity. */
  nearAdverse: readonly Link[]
  /** The next links by rank. They are not followed, but the exposure at their far ends may depend on this entity. */
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
  const nearAdverse = ranked.slice(FAN_OUT, LINKS_SCANNED_MAX).filter(({ neighbour }) => isNearAdverse(neighbour))
  return {
    ranked: ranked.slice(0, FAN_OUT),
    adverse: ranked.filter(({ neighbour }) => isAdverse(neighbour)).slice(0, FAN_OUT),
    nearAdverse: nearAdverse.slice(0, FAN_OUT),
    beyondFanOut: ranked.slice(FAN_OUT, FAN_OUT + BEYOND_FAN_OUT_MAX),
  }
}

/**
 * All links that have not expired, by rank: verified before unverified, so that fakes cannot displace checked links;
 * payments last, so that they displace nothing else; then the higher base strength; then the older link, so that a new one
 * displaces no equal one. The order does not depend on the day, only the expiry does, so a store can index it.
 */
export function rankLinks(links: readonly Link[], today: number): Link[] {
  return links.filter((link) => strengthPpm(link, today) >= STRENGTH_MIN_PPM).sort(byRank)
}

function byRank(a: Link, b: Link): number {
  return (
    Number(b.verified) - Number(a.verified) ||
    Number(a.type === 'payment') - Number(b.type === 'payment') ||
    b.basePpm - a.basePpm ||
    a.since - b.since ||
    compareText(a.neighbour, b.neighbour) ||
    compareText(a.type, b.type)
  )
}

/** Compares by code units, as PostgreSQL does under the "C" collation; `localeCompare` depends on the machine. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
