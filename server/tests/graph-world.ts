import fc from 'fast-check'
import { dayOf } from '../src/core/graph/decay.ts'
import { type Exposure, exposureOf } from '../src/core/graph/exposure.ts'
import {
  type FollowedLinks,
  type Link,
  type LinkBasis,
  type LinkSelection,
  type LinkType,
  linkOf,
  rankLinks,
  selectLinks,
} from '../src/core/graph/link.ts'
import { type LoadedLinks, linksToLoad, reachOf } from '../src/core/graph/reach.ts'
import { isAdverse, NO_TRACK_RECORD, type TrackRecord } from '../src/core/graph/track-record.ts'

const ASOF = '2026-03-01T09:30:00.000Z'
/** The day on which exposures are computed. */
export const TODAY = dayOf(ASOF)

/** An undirected edge: one link from each of its ends. */
export interface Edge {
  ends: readonly [string, string]
  type: LinkType
  verification: 'verified' | 'unverified'
  share?: number
  since?: number
}

/** An edge between two entities: verified and as strong as can be, unless it says otherwise. */
export function edge(one: string, other: string, over: Partial<Edge> = {}): Edge {
  return { ends: [one, other], type: 'same_as', verification: 'verified', ...over }
}

/** The track record of an entity with bad outcomes. */
export const bad: TrackRecord = { adversePpm: 500_000, favourablePpm: 0 }
/** The track record of an entity with good outcomes. */
export const good: TrackRecord = { adversePpm: 0, favourablePpm: 500_000 }

/** The links that are followed from each entity of a world. */
export function linksOf({ edges, trackRecords }: World): LoadedLinks {
  const links = new Map<string, Link[]>()
  for (const { ends, type, verification, share = 1, since = TODAY } of edges) {
    for (const [from, neighbour] of [ends, ends.toReversed()] as [string, string][]) {
      const claim: LinkBasis = { neighbour, type, verification, share, since }
      links.set(from, [...(links.get(from) ?? []), linkOf(claim)!])
    }
  }
  const isBad = (entityId: string) => isAdverse(trackRecords.get(entityId) ?? NO_TRACK_RECORD)
  const badOf = new Map(
    Array.from(links, ([entityId, list]) => {
      const followed = rankLinks(list, TODAY).filter(({ neighbour }) => isBad(neighbour))
      return [entityId, new Set(followed.map(({ neighbour }) => neighbour))]
    }),
  )
  const selectionOf = (entityId: string): LinkSelection => ({
    isAdverse: isBad,
    isNearAdverse: (neighbour) => [...badOf.get(neighbour)!].some((bad) => bad !== entityId),
    today: TODAY,
  })
  return new Map(Array.from(links, ([entityId, list]) => [entityId, selectLinks(list, selectionOf(entityId))]))
}

const NO_LINKS: FollowedLinks = { ranked: [], adverse: [], nearAdverse: [], beyondFanOut: [] }

/** Entities with their edges and track records. */
export type World = { edges: readonly Edge[]; trackRecords: ReadonlyMap<string, TrackRecord> }

/** The exposure of an entity, computed from scratch. */
export function exposureIn(world: World, entityId: string): Exposure {
  return exposureFrom(linksOf(world), world.trackRecords, entityId)
}

/** Loads only the links that `linksToLoad` asks for, then walks, as the service does. */
export function exposureFrom(
  all: LoadedLinks,
  trackRecords: ReadonlyMap<string, TrackRecord>,
  entityId: string,
): Exposure {
  const links = new Map<string, FollowedLinks>()
  for (let read = 0; read < 3; read += 1) {
    for (const wanted of linksToLoad({ entityId, links, today: TODAY })) links.set(wanted, all.get(wanted) ?? NO_LINKS)
  }
  const reach = reachOf({ entityId, links, today: TODAY })
  return exposureOf({ entityId, asOf: ASOF, reach, trackRecords })
}

/** The entities of generated worlds. */
export const names = Array.from({ length: 14 }, (_, index) => `ent_${index}`)
const pairs = fc.uniqueArray(fc.constantFrom(...names), { minLength: 2, maxLength: 2 }) as fc.Arbitrary<
  [string, string]
>
/** Any type of link. */
export const types = fc.constantFrom<LinkType>(
  'same_as',
  'tax_id',
  'email',
  'device',
  'address',
  'guarantor',
  'owner',
  'payment',
)
/** Edges between any two entities. */
export const edgesOf = (
  verification: fc.Arbitrary<Edge['verification']>,
  type: fc.Arbitrary<LinkType> = types,
): fc.Arbitrary<Edge> =>
  fc.record({
    ends: pairs,
    type,
    verification,
    share: fc.integer({ min: 1, max: 10 }).map((tenths) => tenths / 10),
    since: fc.integer({ min: TODAY - 2000, max: TODAY }),
  })
/** An edge of any type, verified or not. */
export const anyEdge = edgesOf(fc.constantFrom('verified', 'unverified'))
/** A track record of any size. */
export const anyTrackRecord: fc.Arbitrary<TrackRecord> = fc.record({
  adversePpm: fc.integer({ min: 0, max: 500_000 }),
  favourablePpm: fc.integer({ min: 0, max: 499_999 }),
})
/** Track records of some entities. */
export const anyTrackRecords = fc
  .array(fc.tuple(fc.constantFrom(...names), anyTrackRecord), { maxLength: 10 })
  .map((all) => new Map(all))
/** Worlds with so few edges that no entity has more links than the fan-out. */
export const worlds: fc.Arbitrary<World> = fc.record({
  edges: fc.array(anyEdge, { maxLength: 30 }),
  trackRecords: anyTrackRecords,
})
