import { timesPpm } from './decay.ts'
import {
  BEHIND_MAX,
  FAN_OUT,
  type FollowedLinks,
  type Link,
  type LinkType,
  STRENGTH_MIN_PPM,
  strengthPpm,
} from './link.ts'

/** The links that were loaded, by entity, as `followLinks` chooses them. */
export type LoadedLinks = ReadonlyMap<string, FollowedLinks>

/** One link along a path, and the entity it leads to. */
export interface PathStep {
  to: string
  type: LinkType
  verified: boolean
}

/** A way of one or two links from an entity to another; its strength is the product of theirs. */
export interface Path {
  strengthPpm: number
  steps: readonly PathStep[]
}

/** The strongest ways to one entity: of all, of those without payments, and of those with verified links only. */
export interface ReachedEntity {
  best: Path
  withoutPayments: Path | null
  verified: Path | null
}

/** Whose neighbourhood is walked, over which links, on which day. */
export interface Walk {
  entityId: string
  links: LoadedLinks
  today: number
}

/**
 * Whose links must be loaded before the neighbourhood can be walked: first the entity's own, then its neighbours', then
 * no more. That is two batched reads of 1 + 120 entities at most, whatever stands in the graph.
 */
export function linksToLoad(walk: Walk): string[] {
  if (!walk.links.has(walk.entityId)) return [walk.entityId]
  const neighbours = new Set(passages(walk).map(({ steps }) => steps[0]!.to))
  return [...neighbours].filter((neighbour) => !walk.links.has(neighbour))
}

/** The strongest paths to every entity within two links. */
export function reachOf(walk: Walk): Map<string, ReachedEntity> {
  const { entityId, links, today } = walk
  const reached = new Map<string, ReachedEntity>()
  for (const link of firstLinks(links, entityId)) keepPath(reached, { path: pathOver(link, today), walk })
  for (const passage of passages(walk)) {
    for (const link of onwardLinks(passage.steps[0]!.to, walk)) {
      keepPath(reached, { path: extended(passage, pathOver(link, today)), walk })
    }
  }
  return reached
}

/**
 * Where a path goes on to from an entity in between: to all that it follows, if the walk comes over one of its 40 first
 * links. If not, then still to those who have done harm, so that links to the clean cannot be heaped up in front of them;
 * but not beyond a hub, for two of a hundred thousand strangers with one employer say nothing about each other.
 */
function onwardLinks(between: string, { entityId, links }: Walk): readonly Link[] {
  const ranked = rankedLinks(links, between)
  const adverse = adverseLinks(links, between)
  if (ranked.some(({ neighbour }) => neighbour === entityId)) return [...ranked, ...adverse]
  return isHub(links, between) ? [] : adverse
}

/** A hub has more verified links than are followed: claims that nobody has checked make none, as many as there may be. */
export function isHub(links: LoadedLinks, entityId: string): boolean {
  return rankedLinks(links, entityId)[FAN_OUT - 1]?.verified ?? false
}

/** The first links of the paths that may go on. */
function passages({ entityId, links, today }: Walk): Path[] {
  const paths = firstLinks(links, entityId).map((link) => pathOver(link, today))
  return paths.filter((path) => path.steps[0]!.to !== entityId && canBeExtended(path))
}

/** The links of an entity that rank first among all it has. */
export function rankedLinks(links: LoadedLinks, entityId: string): readonly Link[] {
  return (links.get(entityId)?.ranked ?? []).slice(0, FAN_OUT)
}

/** The links behind those, at whose far ends it may matter what is bad here. */
export function linksBehind(links: LoadedLinks, entityId: string): readonly Link[] {
  return (links.get(entityId)?.behind ?? []).slice(0, BEHIND_MAX)
}

/** Tells whether an entity has links to those with adverse evidence. */
export function hasAdverse(links: LoadedLinks, entityId: string): boolean {
  return adverseLinks(links, entityId).length > 0
}

function adverseLinks(links: LoadedLinks, entityId: string): readonly Link[] {
  return (links.get(entityId)?.adverse ?? []).slice(0, FAN_OUT)
}

/** The links on which a walk sets out. */
function firstLinks(links: LoadedLinks, entityId: string): readonly Link[] {
  const near = (links.get(entityId)?.near ?? []).slice(0, FAN_OUT)
  return [...rankedLinks(links, entityId), ...adverseLinks(links, entityId), ...near]
}

/** No link carries more than nine tenths of what comes to it. */
function canBeExtended(path: Path): boolean {
  return timesPpm(path.strengthPpm, 900_000) >= STRENGTH_MIN_PPM
}

function pathOver(link: Link, today: number): Path {
  const { neighbour: to, type, verified } = link
  return { strengthPpm: strengthPpm(link, today), steps: [{ to, type, verified }] }
}

function extended(path: Path, onward: Path): Path {
  return { strengthPpm: timesPpm(path.strengthPpm, onward.strengthPpm), steps: [...path.steps, ...onward.steps] }
}

function keepPath(reached: Map<string, ReachedEntity>, { path, walk }: { path: Path; walk: Walk }): void {
  const { to } = path.steps.at(-1)!
  if (to === walk.entityId || path.strengthPpm < STRENGTH_MIN_PPM) return
  const known = reached.get(to)
  const withoutPayments = usesPayments(path) ? null : path
  const verified = path.steps.every((step) => step.verified) ? path : null
  reached.set(to, {
    best: known ? strongerOf(known.best, path) : path,
    withoutPayments: strongerOrNull(known?.withoutPayments, withoutPayments),
    verified: strongerOrNull(known?.verified, verified),
  })
}

/** Tells whether any link of a path is a payment. */
export function usesPayments(path: Path): boolean {
  return path.steps.some(({ type }) => type === 'payment')
}

function strongerOrNull(one: Path | null | undefined, other: Path | null): Path | null {
  if (!one || !other) return one ?? other
  return strongerOf(one, other)
}

/** Of equally strong paths the first is told: direct links come before others, and links in the order of their rank. */
function strongerOf(known: Path, other: Path): Path {
  return other.strengthPpm > known.strengthPpm ? other : known
}
