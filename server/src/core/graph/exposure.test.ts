import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { affectedByLink, affectedByOutcome } from './affected-entities.ts'
import { dayOf } from './decay.ts'
import {
  CONTRIBUTIONS_MAX,
  type Exposure,
  exposureOf,
  FIRST_HOP_SUPPORT_MAX,
  negativeExposure,
  negativeExposureWithoutPayments,
  positiveSupport,
} from './exposure.ts'
import {
  BEYOND_FAN_OUT_MAX,
  FAN_OUT,
  type FollowedLinks,
  type Link,
  type LinkBasis,
  type LinkSelection,
  type LinkType,
  linkOf,
  rankLinks,
  selectLinks,
} from './link.ts'
import { type LoadedLinks, linksToLoad, reachOf } from './reach.ts'
import { isAdverse, NO_TRACK_RECORD, type TrackRecord } from './track-record.ts'

const ASOF = '2026-03-01T09:30:00.000Z'
const TODAY = dayOf(ASOF)

/** An undirected edge: one link from each of its ends. */
interface Edge {
  ends: readonly [string, string]
  type: LinkType
  verification: 'verified' | 'unverified'
  share?: number
  since?: number
}

function edge(one: string, other: string, over: Partial<Edge> = {}): Edge {
  return { ends: [one, other], type: 'same_as', verification: 'verified', ...over }
}

const bad: TrackRecord = { adversePpm: 500_000, favourablePpm: 0 }
const good: TrackRecord = { adversePpm: 0, favourablePpm: 500_000 }

function linksOf({ edges, trackRecords }: World): LoadedLinks {
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

type World = { edges: readonly Edge[]; trackRecords: ReadonlyMap<string, TrackRecord> }

function exposureIn(world: World, entityId: string): Exposure {
  return exposureFrom(linksOf(world), world.trackRecords, entityId)
}

/** Loads only the links that `linksToLoad` asks for, then walks, as the service does. */
function exposureFrom(all: LoadedLinks, trackRecords: ReadonlyMap<string, TrackRecord>, entityId: string): Exposure {
  const links = new Map<string, FollowedLinks>()
  for (let read = 0; read < 3; read += 1) {
    for (const wanted of linksToLoad({ entityId, links, today: TODAY })) links.set(wanted, all.get(wanted) ?? NO_LINKS)
  }
  const reach = reachOf({ entityId, links, today: TODAY })
  return exposureOf({ entityId, asOf: ASOF, reach, trackRecords })
}

const names = Array.from({ length: 14 }, (_, index) => `ent_${index}`)
const pairs = fc.uniqueArray(fc.constantFrom(...names), { minLength: 2, maxLength: 2 }) as fc.Arbitrary<
  [string, string]
>
const types = fc.constantFrom<LinkType>(
  'same_as',
  'tax_id',
  'email',
  'device',
  'address',
  'guarantor',
  'owner',
  'payment',
)
const edgesOf = (
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
const anyEdge = edgesOf(fc.constantFrom('verified', 'unverified'))
const anyTrackRecord: fc.Arbitrary<TrackRecord> = fc.record({
  adversePpm: fc.integer({ min: 0, max: 500_000 }),
  favourablePpm: fc.integer({ min: 0, max: 499_999 }),
})
const anyTrackRecords = fc
  .array(fc.tuple(fc.constantFrom(...names), anyTrackRecord), { maxLength: 10 })
  .map((all) => new Map(all))
// Few enough that no entity has more links than the fan-out.
const worlds: fc.Arbitrary<World> = fc.record({
  edges: fc.array(anyEdge, { maxLength: 30 }),
  trackRecords: anyTrackRecords,
})

describe('negative exposure', () => {
  it('is 0 where no entity within two hops is adverse', () => {
    const edges = [edge('me', 'a'), edge('a', 'b'), edge('b', 'c')]
    assert.equal(negativeExposure(exposureIn({ edges, trackRecords: new Map([['c', bad]]) }, 'me')), 0)
    assert.equal(negativeExposure(exposureIn({ edges, trackRecords: new Map([['me', bad]]) }, 'me')), 0)
    assert.equal(negativeExposure(exposureIn({ edges, trackRecords: new Map([['a', good]]) }, 'me')), 0)
  })

  it('does not come from the entity itself, over any link', () => {
    const edges = [edge('me', 'a'), edge('me', 'me'), edge('me', 'a', { type: 'email' })]
    assert.deepEqual(exposureIn({ edges, trackRecords: new Map([['me', bad]]) }, 'me').contributions, [])
  })

  it('falls with every hop', () => {
    const edges = [edge('me', 'a'), edge('a', 'b', { type: 'email' })]
    assert.equal(negativeExposure(exposureIn({ edges, trackRecords: new Map([['a', bad]]) }, 'me')), 1 - (1 - 0.45))
    assert.equal(negativeExposure(exposureIn({ edges, trackRecords: new Map([['b', bad]]) }, 'me')), 1 - (1 - 0.225))
  })

  it('counts each bad neighbour once, by its best path', () => {
    const direct = edge('me', 'a', { type: 'address' })
    const detour = [edge('me', 'b'), edge('b', 'a')]
    const trackRecords = new Map([['a', bad]])
    const both = exposureIn({ edges: [direct, ...detour], trackRecords }, 'me')
    assert.equal(negativeExposure(both), negativeExposure(exposureIn({ edges: detour, trackRecords }, 'me')))
    assert.deepEqual(
      both.contributions[0]?.path.steps.map(({ to }) => to),
      ['b', 'a'],
    )
  })

  it('is explained by the direct link, then by the one that ranks first, where paths are equally strong', () => {
    const pathIn = (edges: Edge[]) =>
      exposureIn({ edges, trackRecords: new Map([['a', bad]]) }, 'me').contributions[0]?.path.steps.map(({ to }) => to)
    const detour = (via: string) => [edge('me', via, { type: 'email' }), edge(via, 'a')]
    assert.deepEqual(pathIn([...detour('b'), edge('me', 'a', { type: 'owner', share: 0.9 })]), ['a'])
    assert.deepEqual(pathIn([...detour('c'), ...detour('b')]), ['b', 'a'])
  })

  it('is 0 over a path that carries less than a fiftieth', () => {
    const weak = { type: 'address', verification: 'unverified' } as const
    const edges = [edge('me', 'a', weak), edge('a', 'b', weak)]
    assert.equal(negativeExposure(exposureIn({ edges, trackRecords: new Map([['b', bad]]) }, 'me')), 0)
  })

  // Few entities in a chain, where every path counts, and many fake links at some of them, as an attacker would make.
  const few = names.slice(0, 5)
  const chains: fc.Arbitrary<World> = fc.record({
    edges: fc
      .array(anyEdge, { minLength: 4, maxLength: 4 })
      .map((made) =>
        made.map((one, index) => ({ ...one, ends: [few[index]!, few[index + 1]!] as const, since: TODAY })),
      ),
    trackRecords: fc.constantFrom(...few).map((name) => new Map([[name, bad]])),
  })
  const fakes = fc
    .uniqueArray(fc.constantFrom(...few), { maxLength: 3 })
    .map((targets) =>
      targets.flatMap((to) =>
        Array.from({ length: 120 }, (_, index) =>
          edge(to, `fake_${to}_${index}`, { verification: 'unverified', since: TODAY - 300 }),
        ),
      ),
    )
  const assertNotLower = (before: World, after: World) => {
    const [linksBefore, linksAfter] = [linksOf(before), linksOf(after)]
    for (const name of names) {
      const [one, other] = [
        exposureFrom(linksBefore, before.trackRecords, name),
        exposureFrom(linksAfter, after.trackRecords, name),
      ]
      assert.ok(negativeExposure(other) >= negativeExposure(one))
      assert.ok(negativeExposureWithoutPayments(other) >= negativeExposureWithoutPayments(one))
    }
  }

  it('is never lowered by a new link among many unverified ones', () => {
    fc.assert(
      fc.property(fc.oneof(worlds, chains), fakes, anyEdge, (world, crowd, added) => {
        const crowded = { ...world, edges: [...crowd, ...world.edges] }
        assertNotLower(crowded, { ...crowded, edges: [...crowded.edges, added] })
      }),
      { numRuns: 50 },
    )
  })

  it('is never lowered by unverified links, however many and at either end', () => {
    fc.assert(
      fc.property(fc.oneof(worlds, chains), fakes, (world, added) =>
        assertNotLower(world, { ...world, edges: [...world.edges, ...added] }),
      ),
      { numRuns: 50 },
    )
  })

  it('over two hops is not changed by fake links at the entity itself or at the entity in between', () => {
    const weak = { type: 'email', verification: 'unverified' } as const
    const path = [edge('me', 'between', weak), edge('between', 'bad')]
    const trackRecords = new Map([['bad', bad]])
    const without = negativeExposure(exposureIn({ edges: path, trackRecords }, 'me'))
    assert.ok(without > 0.1)
    for (const end of ['me', 'between']) {
      const added = Array.from({ length: 300 }, (_, index) =>
        edge(end, `fake_${index}`, { verification: 'unverified', since: TODAY - 1000 }),
      )
      assert.equal(negativeExposure(exposureIn({ edges: [...added, ...path], trackRecords }, 'me')), without, end)
    }
  })

  it('to direct neighbours is never lowered by links to entities without outcomes, however many and even if verified', () => {
    const directEdges = fc.array(
      anyEdge.map((made): Edge => ({ ...made, ends: ['me', made.ends[0]] })),
      { maxLength: FAN_OUT },
    )
    fc.assert(
      fc.property(directEdges, anyTrackRecords, fc.integer({ min: 0, max: 120 }), (edges, trackRecords, count) => {
        const clean = Array.from({ length: count }, (_, index) => edge('me', `clean_${index}`))
        const [before, after] = [edges, [...clean, ...edges]].map((all) =>
          exposureIn({ edges: all, trackRecords }, 'me'),
        )
        assert.ok(negativeExposure(after!) >= negativeExposure(before!))
      }),
    )
  })

  it('passes through an adverse neighbour, however many links to entities without outcomes there are', () => {
    const clean = Array.from({ length: 50 }, (_, index) => edge('me', `clean_${index}`))
    const edges = [...clean, edge('me', 'a', { type: 'email' }), edge('a', 'b', { type: 'email' })]
    const trackRecords = new Map([
      ['a', bad],
      ['b', bad],
    ])
    const { contributions } = exposureIn({ edges, trackRecords }, 'me')
    assert.deepEqual(
      contributions.map(({ entityId }) => entityId),
      ['a', 'b'],
    )
  })

  it('without payments is not changed by any number of payments', () => {
    const payments = fc.array(edgesOf(fc.constant('unverified'), fc.constant('payment')), { maxLength: 80 })
    fc.assert(
      fc.property(worlds, payments, (world, added) => {
        const more = { ...world, edges: [...world.edges, ...added] }
        for (const name of names) {
          assert.equal(
            negativeExposureWithoutPayments(exposureIn(more, name)),
            negativeExposureWithoutPayments(exposureIn(world, name)),
          )
        }
      }),
      { numRuns: 50 },
    )
  })

  it('over payments alone counts, but not in the exposure without payments', () => {
    const edges = [edge('me', 'a', { type: 'payment', verification: 'unverified' })]
    const exposure = exposureIn({ edges, trackRecords: new Map([['a', bad]]) }, 'me')
    assert.ok(negativeExposure(exposure) > 0.07)
    assert.equal(negativeExposureWithoutPayments(exposure), 0)
  })

  it('keeps the 256 heaviest contributions, so that good entities cannot push out a bad one', () => {
    const edges: Edge[] = []
    const trackRecords = new Map<string, TrackRecord>()
    for (let first = 0; first < FAN_OUT; first += 1) {
      edges.push(edge('me', `hop_${first}`))
      for (let second = 0; second < FAN_OUT - 1; second += 1) {
        edges.push(edge(`hop_${first}`, `end_${first}_${second}`))
        trackRecords.set(`end_${first}_${second}`, good)
      }
    }
    trackRecords.set('end_39_38', { adversePpm: 1, favourablePpm: 0 })
    const exposure = exposureIn({ edges, trackRecords }, 'me')
    assert.equal(exposure.contributions.length, CONTRIBUTIONS_MAX)
    assert.ok(exposure.isTruncated)
    assert.ok(exposure.contributions.some(({ entityId }) => entityId === 'end_39_38'))
  })
})

describe('positive support', () => {
  it('is carried by verified links only', () => {
    const trackRecords = new Map([['a', good]])
    assert.ok(positiveSupport(exposureIn({ edges: [edge('me', 'a')], trackRecords }, 'me')) > 0)
    const unverified = edge('me', 'a', { verification: 'unverified' })
    assert.equal(positiveSupport(exposureIn({ edges: [unverified], trackRecords }, 'me')), 0)
    const behind = [edge('me', 'b', { verification: 'unverified' }), edge('b', 'a')]
    assert.equal(positiveSupport(exposureIn({ edges: behind, trackRecords }, 'me')), 0)
  })

  it('cannot be raised by Sybil entities beyond the cap of the verified neighbours', () => {
    const sybils = fc.record({
      behind: fc.array(fc.constantFrom(...names), { maxLength: 60 }),
      among: fc.array(fc.tuple(fc.nat(59), fc.nat(59)), { maxLength: 60 }),
    })
    fc.assert(
      fc.property(worlds, sybils, (world, { behind, among }) => {
        const added = [
          ...behind.map((name, index) => edge(name, `sybil_${index}`)),
          ...among.map(([one, other]) => edge(`sybil_${one}`, `sybil_${other}`)),
        ]
        const trackRecords = new Map(world.trackRecords)
        for (let index = 0; index < 60; index += 1)
          trackRecords.set(`sybil_${index}`, { adversePpm: 0, favourablePpm: 999_999 })
        // No Sybil entity is a direct neighbour: the entity has verified no link with one.
        const edges = [...world.edges, ...added].filter(
          ({ ends }) => !ends.includes('ent_0') || !ends.some((end) => end.startsWith('sybil')),
        )
        const verified = edges.filter(
          ({ ends, verification, type }) => ends.includes('ent_0') && verification === 'verified' && type !== 'payment',
        )
        const neighbours = new Set(verified.flatMap(({ ends }) => ends.filter((end) => end !== 'ent_0')))
        const cap = 1 - (1 - FIRST_HOP_SUPPORT_MAX) ** neighbours.size
        assert.ok(positiveSupport(exposureIn({ edges, trackRecords }, 'ent_0')) <= cap + 1e-12)
      }),
    )
  })

  it('through one neighbour is capped, including all entities behind it', () => {
    const edges = [edge('me', 'a'), ...Array.from({ length: 20 }, (_, index) => edge('a', `friend_${index}`))]
    const trackRecords = new Map(edges.flatMap(({ ends }) => ends.map((end) => [end, good] as const)))
    assert.equal(positiveSupport(exposureIn({ edges, trackRecords }, 'me')), 1 - (1 - FIRST_HOP_SUPPORT_MAX))
  })
})

describe('a hub', () => {
  /** A list that counts the reads of its elements. */
  function counted(list: readonly Link[], reads: { count: number }): readonly Link[] {
    return new Proxy(list, {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads.count += 1
        return Reflect.get(target, key, receiver)
      },
    })
  }

  function readsOfWalk(degree: number, entityId: string): number {
    const reads = { count: 0 }
    const spokes = Array.from({ length: degree }, (_, index) => `spoke_${String(index).padStart(6, '0')}`)
    const linkTo = (neighbour: string) => linkOf({ ...basis, neighbour })!
    const followed = (list: readonly Link[]): FollowedLinks => {
      const all = counted(list, reads)
      return { ranked: all, adverse: all, nearAdverse: all, beyondFanOut: all }
    }
    const links = new Map(spokes.map((spoke) => [spoke, followed([linkTo('hub')])]))
    links.set('hub', followed(spokes.map(linkTo)))
    exposureFrom(links, new Map([['spoke_000001', bad]]), entityId)
    return reads.count
  }
  const basis = { type: 'email', verification: 'verified', since: TODAY } as const

  it('of degree 100,000 costs as many reads as one of degree 40, walked from the hub or from a neighbour', () => {
    assert.equal(readsOfWalk(100_000, 'hub'), readsOfWalk(FAN_OUT, 'hub'))
    assert.equal(readsOfWalk(100_000, 'spoke_000000'), readsOfWalk(FAN_OUT, 'spoke_000000'))
    assert.ok(readsOfWalk(100_000, 'hub') <= 121 * 80 * 4)
  })

  const rim = (count: number) =>
    Array.from({ length: count }, (_, index) => edge('hub', `rim_${index}`, { since: TODAY - 100 + index }))

  it('passes no exposure on to neighbours beyond its fan-out', () => {
    const trackRecords = new Map([['rim_0', bad]])
    assert.ok(negativeExposure(exposureIn({ edges: rim(60), trackRecords }, 'rim_1')) > 0)
    assert.equal(negativeExposure(exposureIn({ edges: rim(60), trackRecords }, 'rim_50')), 0)
  })

  it('is made by verified links only: an entity with unverified links passes exposure on to all neighbours', () => {
    const unverified = rim(60).map((made): Edge => ({ ...made, verification: 'unverified' }))
    const trackRecords = new Map([['rim_0', bad]])
    assert.ok(negativeExposure(exposureIn({ edges: unverified, trackRecords }, 'rim_50')) > 0)
    const some = [...rim(39), ...unverified.slice(39)]
    assert.ok(negativeExposure(exposureIn({ edges: some, trackRecords }, 'rim_50')) > 0)
    const hub = [...rim(40), ...unverified.slice(40)]
    assert.equal(negativeExposure(exposureIn({ edges: hub, trackRecords }, 'rim_50')), 0)
  })

  it('is exposed to the one adverse neighbour of many, and so are the neighbours it ranks', () => {
    const trackRecords = new Map([['rim_59', bad]])
    assert.ok(negativeExposure(exposureIn({ edges: rim(60), trackRecords }, 'hub')) > 0.44)
    assert.ok(negativeExposure(exposureIn({ edges: rim(60), trackRecords }, 'rim_1')) > 0.38)
  })

  it('that is adverse exposes all of its neighbours', () => {
    const trackRecords = new Map([['hub', bad]])
    assert.ok(negativeExposure(exposureIn({ edges: rim(60), trackRecords }, 'rim_59')) > 0.44)
  })
})

describe('an exposure that is recomputed only when it is affected', () => {
  type Event = { kind: 'outcome'; entityId: string; trackRecord: TrackRecord } | { kind: 'link'; edge: Edge }

  /** Keeps the exposures of all entities up to date as the service does: recomputes only the affected ones. */
  function keepUpToDate(all: readonly string[], start: World, events: readonly Event[]) {
    let world = start
    let links = linksOf(world)
    const kept = new Map(all.map((name) => [name, exposureFrom(links, world.trackRecords, name)]))
    const recompute = (name: string) => kept.set(name, exposureFrom(links, world.trackRecords, name))
    for (const event of events) {
      if (event.kind === 'link') {
        const before = links
        world = { ...world, edges: [...world.edges, event.edge] }
        links = linksOf(world)
        const adverse = new Set(
          event.edge.ends.filter((end) => isAdverse(world.trackRecords.get(end) ?? NO_TRACK_RECORD)),
        )
        for (const name of affectedByLink({ ends: event.edge.ends, before, after: links, adverse })) recompute(name)
        continue
      }
      const { entityId, trackRecord: after } = event
      world = { ...world, trackRecords: new Map(world.trackRecords).set(entityId, after) }
      links = linksOf(world)
      const neighbours = world.edges.filter(({ ends }) => ends.includes(entityId)).flatMap(({ ends }) => ends)
      for (const name of affectedByOutcome({ neighbours, links })) recompute(name)
    }
    return { kept, world }
  }

  const eventsOn = (entityIds: readonly string[], edges: fc.Arbitrary<Edge>): fc.Arbitrary<Event[]> =>
    fc.array(
      fc.oneof(
        fc.record({
          kind: fc.constant('outcome' as const),
          entityId: fc.constantFrom(...entityIds),
          trackRecord: fc.oneof(anyTrackRecord, fc.constant(NO_TRACK_RECORD)),
        }),
        fc.record({ kind: fc.constant('link' as const), edge: edges }),
      ),
      { maxLength: 12 },
    )

  it('equals one computed from scratch, for any order of outcomes and links', () => {
    fc.assert(
      fc.property(worlds, eventsOn(names, anyEdge), (start, events) => {
        const after = keepUpToDate(names, start, events)
        for (const name of names) assert.deepEqual(after.kept.get(name), exposureIn(after.world, name))
      }),
    )
  })

  it('equals one computed from scratch also around hubs whose degree exceeds the fan-out', () => {
    const crowd = [...names, ...Array.from({ length: 50 }, (_, index) => `crowd_${index}`)]
    const crowded = [
      ...crowd.slice(1).map((name) => edge('ent_0', name, { type: 'email' })),
      ...crowd.slice(2).map((name) => edge('ent_1', name, { type: 'device', verification: 'unverified' })),
    ]
    const anyEnds = fc.uniqueArray(fc.constantFrom(...crowd), { minLength: 2, maxLength: 2 }) as fc.Arbitrary<
      [string, string]
    >
    const edges = fc.record({
      ends: anyEnds,
      type: types,
      verification: fc.constantFrom<Edge['verification']>('verified', 'unverified'),
    })
    fc.assert(
      fc.property(fc.array(edges, { maxLength: 10 }), eventsOn(crowd, edges), (some, events) => {
        const after = keepUpToDate(crowd, { edges: [...crowded, ...some], trackRecords: new Map() }, events)
        const links = linksOf(after.world)
        for (const name of crowd)
          assert.deepEqual(after.kept.get(name), exposureFrom(links, after.world.trackRecords, name))
      }),
      { numRuns: 15 },
    )
  })

  it('is recomputed for the neighbours and forty more for each of them, or two hundred more if it is no hub', () => {
    const affectedBehind = (verification: Edge['verification']) => {
      const edges = Array.from({ length: 300 }, (_, index) =>
        edge('hub', `rim_${index}`, { verification, since: TODAY - 400 + index }),
      )
      return affectedByOutcome({ neighbours: ['hub'], links: linksOf({ edges, trackRecords: new Map() }) })
    }
    const affected = affectedBehind('verified')
    assert.equal(affected.size, 1 + FAN_OUT)
    assert.ok(affected.has('hub') && affected.has('rim_39') && !affected.has('rim_40'))
    assert.equal(affectedBehind('unverified').size, 1 + FAN_OUT + BEYOND_FAN_OUT_MAX)
  })

  it('is recomputed when a new link pushes another out of the fan-out, and when its removal lets it in again', () => {
    const full = Array.from({ length: FAN_OUT }, (_, index) =>
      edge('hub', `rim_${index}`, { type: 'email', since: TODAY - 100 + index }),
    )
    const stronger = edge('hub', 'newcomer')
    const trackRecords = new Map([['rim_0', bad]])
    const [without, withIt] = [
      { edges: full, trackRecords },
      { edges: [...full, stronger], trackRecords },
    ]
    assert.notDeepEqual(exposureIn(without, 'rim_39'), exposureIn(withIt, 'rim_39'))
    const [before, after] = [linksOf(without), linksOf(withIt)]
    assert.ok(affectedByLink({ ends: stronger.ends, before, after, adverse: new Set() }).has('rim_39'))
    assert.ok(affectedByLink({ ends: stronger.ends, before: after, after: before, adverse: new Set() }).has('rim_39'))
  })

  const known = exposureIn({ edges: [edge('me', 'a')], trackRecords: new Map([['a', bad]]) }, 'me')

  it('is recomputed for both ends of a link, even one beyond the fan-out', () => {
    const none: LoadedLinks = new Map()
    assert.deepEqual(
      [...affectedByLink({ ends: ['a', 'b'], before: none, after: none, adverse: new Set() })],
      ['a', 'b'],
    )
  })

  it('is plain JSON, unchanged by storing and reading it back', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(known)), known)
  })
})
