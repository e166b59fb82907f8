import type { IdentifierType, Relationship, VerificationStatus } from '../vocabularies.ts'
import { decayPpm, PPM, timesPpm } from './decay.ts'

/** Why two entities are linked: a stated relationship, an identifier both have, or money that went between them. */
export type LinkType = Relationship | IdentifierType | 'payment'

/** One link as seen from one of its ends; it means the same from the other. */
export interface Link {
  neighbour: string
  type: LinkType
  verified: boolean
  /** What the link is worth on the day it is made, in ppm. */
  basePpm: number
  /** The day it was made or, for payments, last renewed. */
  since: number
}

/** A link from nowhere in particular: what it says, before anyone asks how strong it is today. */
export interface LinkBasis {
  neighbour: string
  type: LinkType
  /** A shared identifier counts as verified only when both ends have verified it. */
  verification: VerificationStatus
  /** The owner's share, or the payments' share in the flow of the end that they matter more to; 0 to 1. */
  share?: number
  since: number
}

// How much of a neighbour's fate a link carries, and after how many days that has halved. One identity is nearly one
// fate; a contact detail may be shared or passed on; a guarantor pays; an owner steers by his share; a payment only
// shows that two have met. What binds by law or nature fades slowly, what is replaced every few years fades with it.
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

/** Half of what a verified link carries: a claim nobody has checked may be a fake, or a slip. */
const UNVERIFIED_PPM = 500_000

/** A path weaker than this carries nothing worth following. */
export const STRENGTH_MIN_PPM = 20_000

/** How many links of one entity are followed, and how many more of those that lead to harm, at once or by one more link. */
export const FAN_OUT = 40

/** How many links of one entity are looked through for those with harm behind them. */
export const LOOKED_THROUGH = 1_000

/** How many links behind the followed ones are known by name, so that harm on the way to them reaches them at once. */
export const BEHIND_MAX = 160

/** Makes a link of what was claimed, or nothing where the claim has failed its check. */
export function linkOf({ neighbour, type, verification, share = 1, since }: LinkBasis): Link | null {
  if (verification === 'failed') return null
  // A payment is observed, not verified: it shows an acquaintance, whoever checked it.
  const verified = verification === 'verified' && type !== 'payment'
  const { carriedPpm, isByShare } = LINK_TYPES[type]
  const sharePpm = isByShare ? Math.round(Math.min(1, Math.max(0, share)) * PPM) : PPM
  const certaintyPpm = verified || type === 'payment' ? PPM : UNVERIFIED_PPM
  return { neighbour, type, verified, basePpm: timesPpm(timesPpm(carriedPpm, sharePpm), certaintyPpm), since }
}

/** What a link is worth on a day, in ppm. */
export function strengthPpm(link: Link, today: number): number {
  return timesPpm(link.basePpm, decayPpm(today - link.since, LINK_TYPES[link.type].halfLifeDays))
}

/** The first day on which a link is too weak to be followed; a store need not look at it from then on. */
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

/** The links of one entity that are followed: the first of all its links, and the first of those that lead to harm. */
export interface FollowedLinks {
  ranked: readonly Link[]
  /** Only links to entities with adverse evidence: no number of links to the clean can crowd these out. */
  adverse: readonly Link[]
  /** Only links to entities that are themselves linked to such: of those that do not rank, and so are not followed anyway. */
  near: readonly Link[]
  /** The next after the ranked ones. They are not followed, but what is bad here may matter at their far ends. */
  behind: readonly Link[]
}

/** What is known of the far ends of links, and the day on which they are chosen. */
export interface LinkChoice {
  isAdverse: (entityId: string) => boolean
  /** Whether an entity is linked to one with adverse evidence, other than the one whose links these are. */
  isNearAdverse: (entityId: string) => boolean
  today: number
}

/** Chooses the links that are followed, given which entities have adverse evidence. */
export function followLinks(links: readonly Link[], { isAdverse, isNearAdverse, today }: LinkChoice): FollowedLinks {
  const ranked = rankLinks(links, today)
  const near = ranked.slice(FAN_OUT, LOOKED_THROUGH).filter(({ neighbour }) => isNearAdverse(neighbour))
  return {
    ranked: ranked.slice(0, FAN_OUT),
    adverse: ranked.filter(({ neighbour }) => isAdverse(neighbour)).slice(0, FAN_OUT),
    near: near.slice(0, FAN_OUT),
    behind: ranked.slice(FAN_OUT, FAN_OUT + BEHIND_MAX),
  }
}

/**
 * All links that have not faded, in this order: verified first, so that fakes cannot crowd out what was checked; payments
 * last, so that they never displace anything else; then the stronger type; then the older link, so that among equals a later
 * one displaces none. A store can keep an index in this order: nothing in it changes with the day but what has faded.
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

/** Orders by code units, as a database does under the "C" collation; `localeCompare` depends on the machine. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
