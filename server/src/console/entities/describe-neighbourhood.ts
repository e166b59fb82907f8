import { PPM } from '../../core/graph/decay.ts'
import { type Link, strengthPpm } from '../../core/graph/link.ts'
import { type LoadedLinks, type Path, reachOf } from '../../core/graph/reach.ts'
import { isAdverse, trackRecordOf } from '../../core/graph/track-record.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { loadNeighbourhoods } from '../../underwriting/load-neighbourhoods.ts'
import { entityName } from './entity-name.ts'

/** An entity in the picture of a neighbourhood. */
export interface GraphNode {
  id: string
  name: string
  type: string | null
  /** How many links lead to it: 0 for the entity itself. */
  hops: 0 | 1 | 2
  is_bad: boolean
  /** Its newest outcome, of a node with bad ones. */
  outcome: { type: string; at: string } | null
}

/** A link between two entities of the picture. */
export interface GraphLink {
  from: string
  to: string
  type: string
  verified: boolean
  /** The share of outcomes that it carries today, 0 to 1. */
  strength: number
  /** Whether it is part of the strongest path to a bad node. */
  on_bad_path: boolean
}

/** A path from the entity to a bad node. */
export interface BadPath {
  to: string
  /** The entities along it, from the first neighbour to the bad one. */
  via: string[]
  types: string[]
  strength: number
}

/** The neighbourhood of an entity: what a picture can show, and how much there is. */
export interface Neighbourhood {
  nodes: GraphNode[]
  links: GraphLink[]
  bad_paths: BadPath[]
  /** How many entities are near, with the ones that are not shown; counted up to a bound. */
  known: number
}

/** More nodes than this cannot be told apart in a picture. */
const NODES_MAX = 300

/** Walks one or two links from an entity, as its trust does, and keeps bad nodes and strong links first. */
export async function describeNeighbourhood(
  store: EnvironmentStore,
  { organizationId, entityId, hops, today }: { organizationId: string; entityId: string; hops: 1 | 2; today: number },
): Promise<Neighbourhood> {
  const links = await loadNeighbourhoods(store, { organizationId, entityIds: [entityId], today })
  const paths = pathsWithin(hops, { entityId, links, today })
  const records = await store.graph.trackRecords(organizationId, [entityId, ...paths.keys()])
  const bad = new Set(
    [...records].filter(([, { tallies }]) => isAdverse(trackRecordOf(tallies, today))).map(([id]) => id),
  )
  const chosen = choose(paths, bad)
  const ids = [entityId, ...chosen]
  const [names, outcomes, direct] = await Promise.all([
    store.entities.names(organizationId, ids),
    store.entities.newestOutcomes(organizationId, [...bad]),
    store.entities.countNeighbours(organizationId, entityId, today),
  ])
  const badPaths = [...bad].flatMap((id) => (chosen.has(id) ? [badPath(paths.get(id)!)] : []))
  const directFound = [...paths.values()].filter(({ steps }) => steps.length === 1).length
  return {
    nodes: ids.map((id) => ({
      id,
      name: entityName(names.get(id), id),
      type: names.get(id)?.type ?? null,
      hops: id === entityId ? 0 : paths.get(id)!.steps.length === 1 ? 1 : 2,
      is_bad: bad.has(id),
      outcome: outcomeOf(outcomes, id),
    })),
    links: linksAmong({ entityId, links, today }, { chosen, badPaths, hops }),
    bad_paths: badPaths.sort((a, b) => b.strength - a.strength),
    known: paths.size + Math.max(0, direct - directFound),
  }
}

interface Walked {
  entityId: string
  links: LoadedLinks
  today: number
}

/** The strongest path to every entity within so many links. */
function pathsWithin(hops: 1 | 2, walk: Walked): Map<string, Path> {
  const paths = new Map<string, Path>()
  for (const [id, { best }] of reachOf(walk)) if (best.steps.length <= hops) paths.set(id, best)
  // A direct link is shown as such, also where a way over a third entity carries more.
  for (const link of linksOf(walk.links, walk.entityId)) {
    const { neighbour: to, type, verified } = link
    const known = paths.get(to)
    const direct = { strengthPpm: strengthPpm(link, walk.today), steps: [{ to, type, verified }] }
    const isBetter = !known || known.steps.length > 1 || known.strengthPpm < direct.strengthPpm
    if (to !== walk.entityId && direct.strengthPpm > 0 && isBetter) paths.set(to, direct)
  }
  return paths
}

/** The entities to show: bad ones first, then by strength, each with the entity that its path leads over. */
function choose(paths: ReadonlyMap<string, Path>, bad: ReadonlySet<string>): Set<string> {
  const ordered = [...paths].sort(
    ([a, one], [b, other]) => Number(bad.has(b)) - Number(bad.has(a)) || other.strengthPpm - one.strengthPpm,
  )
  const chosen = new Set<string>()
  for (const [, { steps }] of ordered) {
    const added = steps.map(({ to }) => to).filter((id) => paths.has(id) && !chosen.has(id))
    if (1 + chosen.size + added.length > NODES_MAX) break
    for (const id of added) chosen.add(id)
  }
  return chosen
}

function linksAmong(
  { entityId, links, today }: Walked,
  { chosen, badPaths, hops }: { chosen: ReadonlySet<string>; badPaths: readonly BadPath[]; hops: 1 | 2 },
): GraphLink[] {
  const onBadPath = new Set(
    badPaths.flatMap(({ via, types }) =>
      via.map((to, index) => keyOf(index === 0 ? entityId : via[index - 1]!, to, types[index]!)),
    ),
  )
  const shown = new Map<string, GraphLink>()
  for (const from of hops === 1 ? [entityId] : [entityId, ...chosen]) {
    for (const link of linksOf(links, from)) {
      const { neighbour: to, type, verified } = link
      if (to !== entityId && !chosen.has(to)) continue
      const key = keyOf(from, to, type)
      const strength = strengthPpm(link, today) / PPM
      const known = shown.get(key)
      if (known && known.strength >= strength) continue
      shown.set(key, { from, to, type, verified, strength, on_bad_path: onBadPath.has(key) })
    }
  }
  return [...shown.values()].sort((a, b) => Number(b.on_bad_path) - Number(a.on_bad_path) || b.strength - a.strength)
}

function linksOf(links: LoadedLinks, entityId: string): readonly Link[] {
  const followed = links.get(entityId)
  return followed ? [...followed.ranked, ...followed.adverse, ...followed.nearAdverse] : []
}

/** The same for both directions of a link, which is stored from both ends. */
function keyOf(one: string, other: string, type: string): string {
  return `${[one, other].sort().join(' ')} ${type}`
}

function badPath({ strengthPpm: strength, steps }: Path): BadPath {
  return {
    to: steps.at(-1)!.to,
    via: steps.map(({ to }) => to),
    types: steps.map(({ type }) => type),
    strength: strength / PPM,
  }
}

function outcomeOf(
  outcomes: readonly { entity_id: string; type: string; occurred_at: string }[],
  id: string,
): GraphNode['outcome'] {
  const found = outcomes.find(({ entity_id }) => entity_id === id)
  return found ? { type: found.type, at: found.occurred_at } : null
}
