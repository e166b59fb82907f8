import { timesPpm } from './decay.ts'
import { FAN_OUT, type FollowedLinks, type Link, type LinkType, STRENGTH_MIN_PPM, strengthPpm } from './link.ts'

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
 * no more. That is two batched reads of 1 + 80 entities at most, whatever stands in the graph.
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
  for (const link of followedLinks(links, entityId)) keepPath(reached, { path: pathOver(link, today), walk })
  for (const passage of passages(walk)) {
    const between = passage.steps[0]!.to
    if (!letsPass({ between, entityId, links })) continue
    for (const link of followedLinks(links, between)) {
      keepPath(reached, { path: extended(passage, pathOver(link, today)), walk })
    }
  }
  return reached
}

/**
 * A hub speaks for its 40 first links only: two of a hundred thousand strangers with one employer say nothing about each
 * other. So an outcome, or a new link, concerns a bounded neighbourhood; and a direct link still counts, however many
 * others its far end has.
 */
function letsPass({ between, entityId, links }: { between: string; entityId: string; links: LoadedLinks }): boolean {
  return rankedLinks(links, between).some(({ neighbour }) => neighbour === entityId)
}

/** The first links of the paths that may go on. */
function passages({ entityId, links, today }: Walk): Path[] {
  const paths = followedLinks(links, entityId).map((link) => pathOver(link, today))
  return paths.filter((path) => path.steps[0]!.to !== entityId && canBeExtended(path))
}

/** The links of an entity that rank first among all it has. */
export function rankedLinks(links: LoadedLinks, entityId: string): readonly Link[] {
  return (links.get(entityId)?.ranked ?? []).slice(0, FAN_OUT)
}

function followedLinks(links: LoadedLinks, entityId: string): readonly Link[] {
  return [...rankedLinks(links, entityId), ...(links.get(entityId)?.adverse ?? []).slice(0, FAN_OUT)]
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
