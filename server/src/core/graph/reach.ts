import { timesPpm } from './decay.ts'
import { FAN_OUT, type FollowedLinks, type Link, type LinkType, STRENGTH_MIN_PPM, strengthPpm } from './link.ts'

/** The loaded links by entity, as `selectLinks` selects them. */
export type LoadedLinks = ReadonlyMap<string, FollowedLinks>

/** One link along a path, and the entity it leads to. */
export interface PathStep {
  to: string
  type: LinkType
  verified: boolean
}

/** A path of one or two links from one entity to another; its strength is the product of theirs. */
export interface Path {
  strengthPpm: number
  steps: readonly PathStep[]
}

/** The strongest paths to one entity: of all, of those without payments, and of those over verified links only. */
export interface ReachedEntity {
  best: Path
  withoutPayments: Path | null
  verified: Path | null
}

/** The entity whose neighbourhood is walked, the links to follow, and the day. */
export interface Walk {
  entityId: string
  links: LoadedLinks
  today: number
}

/**
 * The entities whose links must be loaded next: first the entity itself, then its neighbours, then none. That is two
 * batched reads of at most 1 + 120 entities, independent of their degree.
 */
export function linksToLoad(walk: Walk): string[] {
  if (!walk.links.has(walk.entityId)) return [walk.entityId]
  const neighbours = new Set(firstHops(walk).map(({ steps }) => steps[0]!.to))
  return [...neighbours].filter((neighbour) => !walk.links.has(neighbour))
}

/** The strongest paths to every entity within two hops. */
export function reachOf(walk: Walk): Map<string, ReachedEntity> {
  const { entityId, links, today } = walk
  const reached = new Map<string, ReachedEntity>()
  for (const link of firstLinks(links, entityId)) keepPath(reached, { path: pathOver(link, today), walk })
  for (const hop of firstHops(walk)) {
    for (const link of onwardLinks(hop.steps[0]!.to, walk)) {
      keepPath(reached, { path: extended(hop, pathOver(link, today)), walk })
    }
  }
  return reached
}

/**
 * The links of the second hop. If the walked entity is among the neighbour's ranked links, all ranked and adverse links are
 * followed. If not, only the adverse ones, so that links to other entities cannot be piled up to hide a bad outcome; and
 * none from a hub, because two of a hundred thousand employees of one employer say nothing about each other.
 */
function onwardLinks(between: string, { entityId, links }: Walk): readonly Link[] {
  const ranked = rankedLinks(links, between)
  const adverse = adverseLinks(links, between)
  if (ranked.some(({ neighbour }) => neighbour === entityId)) return [...ranked, ...adverse]
  return isHub(links, between) ? [] : adverse
}

/** Whether an entity is a hub: its verified neighbours fill the fan-out. Unverified links, however many, do not make a hub. */
export function isHub(links: LoadedLinks, entityId: string): boolean {
  const verified = rankedLinks(links, entityId).filter((link) => link.verified)
  return new Set(verified.map(({ neighbour }) => neighbour)).size >= FAN_OUT
}

/** The paths of one hop that are strong enough for a second. */
function firstHops({ entityId, links, today }: Walk): Path[] {
  const paths = firstLinks(links, entityId).map((link) => pathOver(link, today))
  return paths.filter((path) => path.steps[0]!.to !== entityId && canBeExtended(path))
}

/** The links to the first neighbours of an entity by rank, up to the fan-out. */
export function rankedLinks(links: LoadedLinks, entityId: string): readonly Link[] {
  return links.get(entityId)?.ranked ?? []
}

/** The links to the next neighbours by rank, which may depend on this entity. */
export function linksBeyondFanOut(links: LoadedLinks, entityId: string): readonly Link[] {
  return links.get(entityId)?.beyondFanOut ?? []
}

/** Whether an entity has links to adverse entities. */
export function hasAdverse(links: LoadedLinks, entityId: string): boolean {
  return adverseLinks(links, entityId).length > 0
}

function adverseLinks(links: LoadedLinks, entityId: string): readonly Link[] {
  return links.get(entityId)?.adverse ?? []
}

/** The links of the first hop. */
function firstLinks(links: LoadedLinks, entityId: string): readonly Link[] {
  const nearAdverse = links.get(entityId)?.nearAdverse ?? []
  return [...rankedLinks(links, entityId), ...adverseLinks(links, entityId), ...nearAdverse]
}

/** Whether a second link could stay above the minimum strength: no link carries more than nine tenths. */
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

/** Whether any link of a path is a payment. */
export function usesPayments(path: Path): boolean {
  return path.steps.some(({ type }) => type === 'payment')
}

function strongerOrNull(one: Path | null | undefined, other: Path | null): Path | null {
  if (!one || !other) return one ?? other
  return strongerOf(one, other)
}

/** Of equally strong paths the first found stays: direct links come before two hops, and links come in the order of rank. */
function strongerOf(known: Path, other: Path): Path {
  return other.strengthPpm > known.strengthPpm ? other : known
}
