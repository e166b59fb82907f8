import { compareText } from '../plain-spelling.ts'
import { PPM } from './decay.ts'
import type { Path, ReachedEntity } from './reach.ts'
import { NO_TRACK_RECORD, type TrackRecord } from './track-record.ts'

/** One entity with a track record, and the strength of the paths over which it counts for the walked entity. */
export interface Contribution extends TrackRecord {
  entityId: string
  path: Path
  withoutPaymentsPpm: number
  /** The best path over verified links, and the neighbour of its first hop; null if there is none. */
  support: { strengthPpm: number; via: string } | null
}

/**
 * The contributions to one entity's trust from its neighbourhood, on the day of `asOf`. An exposure that an outcome or a link
 * may have changed is computed from scratch: an incrementally updated sum of logarithms would differ between engine versions.
 */
export interface Exposure {
  entityId: string
  asOf: string
  /** Sorted by entity id, so that equal contributions multiply to the same bits. */
  contributions: readonly Contribution[]
  /** Whether contributions beyond the maximum were dropped. */
  isTruncated: boolean
}

/** How many contributions are kept. The walk itself needs no other bound: it visits at most 121 entities with 80 links each. */
export const CONTRIBUTIONS_MAX = 256

/** How many contributions make the negative exposure, which they also explain; and how many neighbours make the support. */
export const HEAVIEST = 3

/** The most that one direct neighbour, with all entities reached through it, adds to the support. */
export const FIRST_HOP_SUPPORT_MAX = 0.05

/** Joins the entities that a walk reached with their track records. */
export function exposureOf(known: {
  entityId: string
  asOf: string
  reach: ReadonlyMap<string, ReachedEntity>
  trackRecords: ReadonlyMap<string, TrackRecord>
}): Exposure {
  const contributions: Contribution[] = []
  for (const [entityId, paths] of known.reach) {
    const trackRecord = known.trackRecords.get(entityId) ?? NO_TRACK_RECORD
    if (hasWeight(trackRecord)) contributions.push(contributionOf(entityId, paths, trackRecord))
  }
  // The heaviest are kept. By path strength alone, strong links to good entities would push out the bad ones.
  const kept = contributions.sort(byWeight).slice(0, CONTRIBUTIONS_MAX).sort(byEntityId)
  const isTruncated = contributions.length > CONTRIBUTIONS_MAX
  return { entityId: known.entityId, asOf: known.asOf, contributions: kept, isTruncated }
}

/**
 * Negative exposure, a noisy-or over the three heaviest contributions: N = 1 − Π(1 − s · q), where each entity counts once.
 * Over all of them, N would tell how many neighbours an entity has, not how bad they are: on the Bitcoin-OTC web of trust it
 * was at least 0.2 for 49 % of the members with good ratings, and is for 15 % (studies/bitcoin-otc.ts). Further links
 * still never lower it.
 */
export function negativeExposure({ contributions }: Exposure): number {
  return heaviest(contributions.map(adverseWeight))
}

/** Negative exposure over paths without payments: an acquaintance may be a reason to review, but not to decline. */
export function negativeExposureWithoutPayments({ contributions }: Exposure): number {
  return heaviest(contributions.map((one) => weightOf(one.withoutPaymentsPpm, netAdversePpm(one))))
}

/** Sorted, so that equal weights multiply to the same bits. */
function heaviest(weights: number[]): number {
  return noisyOr(weights.sort((a, b) => b - a).slice(0, HEAVIEST))
}

/**
 * Positive support, a noisy-or over verified links: 1 − Π(1 − s · q⁺), capped for each neighbour of the first hop, over the
 * three neighbours with the most.
 */
export function positiveSupport({ contributions }: Exposure): number {
  const byFirstHop = new Map<string, number[]>()
  for (const contribution of contributions) {
    if (!contribution.support) continue
    const { via } = contribution.support
    byFirstHop.set(via, [...(byFirstHop.get(via) ?? []), favourableWeight(contribution)])
  }
  return heaviest([...byFirstHop.values()].map((weights) => Math.min(FIRST_HOP_SUPPORT_MAX, noisyOr(weights))))
}

/** The weight of one contribution in the negative exposure, 0 to 1. */
export function adverseWeight(contribution: Contribution): number {
  return weightOf(contribution.path.strengthPpm, netAdversePpm(contribution))
}

/** What is bad about a track record after the good in it: a trader with two complaints in two hundred deals is no bad company. */
function netAdversePpm({ adversePpm, favourablePpm }: TrackRecord): number {
  return Math.max(0, adversePpm - favourablePpm)
}

function favourableWeight({ support, favourablePpm }: Contribution): number {
  return weightOf(support?.strengthPpm ?? 0, favourablePpm)
}

function weightOf(strengthPpm: number, beliefPpm: number): number {
  return (strengthPpm * beliefPpm) / (PPM * PPM)
}

function contributionOf(entityId: string, reached: ReachedEntity, trackRecord: TrackRecord): Contribution {
  const { best: path, withoutPayments, verified } = reached
  const support = verified && { strengthPpm: verified.strengthPpm, via: verified.steps[0]!.to }
  return { ...trackRecord, entityId, path, withoutPaymentsPpm: withoutPayments?.strengthPpm ?? 0, support }
}

/** The probability that at least one of several independent causes takes effect: 1 − Π(1 − weight). */
export function noisyOr(weights: readonly number[]): number {
  return 1 - weights.reduce((spared, weight) => spared * (1 - weight), 1)
}

function hasWeight({ adversePpm, favourablePpm }: TrackRecord): boolean {
  return adversePpm > 0 || favourablePpm > 0
}

function byWeight(a: Contribution, b: Contribution): number {
  return adverseWeight(b) - adverseWeight(a) || favourableWeight(b) - favourableWeight(a) || byEntityId(a, b)
}

function byEntityId(a: { entityId: string }, b: { entityId: string }): number {
  return compareText(a.entityId, b.entityId)
}
