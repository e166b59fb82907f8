import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  anyEdge,
  anyTrackRecords,
  bad,
  type Edge,
  edge,
  edgesOf,
  exposureFrom,
  exposureIn,
  good,
  linksOf,
  names,
  TODAY,
  type World,
  worlds,
} from '../../../tests/graph-world.ts'
import {
  CONTRIBUTIONS_MAX,
  FIRST_HOP_SUPPORT_MAX,
  negativeExposure,
  negativeExposureWithoutPayments,
  positiveSupport,
} from './exposure.ts'
import {
  BEYOND_FAN_OUT_MAX,
  FAN_OUT,
  type FollowedLinks,
  LINKS_PER_NEIGHBOUR_MAX,
  type Link,
  linkOf,
  selectLinks,
} from './link.ts'
import { isHub } from './reach.ts'
import type { TrackRecord } from './track-record.ts'

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

  it('comes from an adverse neighbour also beside another one that shares many identifiers', () => {
    const shared = Array.from({ length: 60 }, (_, index) => edge('me', 'twin', { since: TODAY - 60 + index }))
    const other = edge('me', 'other', { type: 'address', verification: 'unverified' })
    const alone = { edges: shared, trackRecords: new Map([['twin', bad]]) }
    const both = { edges: [...shared, other], trackRecords: new Map([...alone.trackRecords, ['other', bad]]) }
    assert.deepEqual(
      linksOf(both)
        .get('me')!
        .adverse.map(({ neighbour }) => neighbour)
        .filter((name) => name === 'other'),
      ['other'],
    )
    assert.ok(negativeExposure(exposureIn(both, 'me')) > negativeExposure(exposureIn(alone, 'me')))
  })

  it('is plain JSON, unchanged by storing and reading it back', () => {
    const known = exposureIn({ edges: [edge('me', 'a')], trackRecords: new Map([['a', bad]]) }, 'me')
    assert.deepEqual(JSON.parse(JSON.stringify(known)), known)
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
    const isAny = () => true
    const followed = (list: readonly Link[]): FollowedLinks => {
      const selected = selectLinks(list, { isAdverse: isAny, isNearAdverse: isAny, today: TODAY })
      const [ranked, adverse, nearAdverse, beyondFanOut] = [
        counted(selected.ranked, reads),
        counted(selected.adverse, reads),
        counted(selected.nearAdverse, reads),
        counted(selected.beyondFanOut, reads),
      ]
      return { ranked, adverse, nearAdverse, beyondFanOut }
    }
    const links = new Map(spokes.map((spoke) => [spoke, followed([linkTo('hub')])]))
    links.set('hub', followed(spokes.map(linkTo)))
    exposureFrom(links, new Map([['spoke_000001', bad]]), entityId)
    return reads.count
  }
  const basis = { type: 'email', verification: 'verified', since: TODAY } as const

  it('of degree 100,000 costs as many reads as one of degree 200, walked from the hub or from a neighbour', () => {
    const [many, few] = [100_000, FAN_OUT + BEYOND_FAN_OUT_MAX]
    assert.equal(readsOfWalk(many, 'hub'), readsOfWalk(few, 'hub'))
    assert.equal(readsOfWalk(many, 'spoke_000000'), readsOfWalk(few, 'spoke_000000'))
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

  it('is not made by one neighbour that shares many identifiers, which is followed as one', () => {
    const shared = Array.from({ length: 60 }, (_, index) => edge('me', 'twin', { since: TODAY - 2000 + index }))
    const others = Array.from({ length: FAN_OUT - 1 }, (_, index) => edge('me', `other_${index}`, { type: 'email' }))
    const edges = [...shared, ...others]
    const links = linksOf({ edges, trackRecords: new Map() })
    assert.equal(isHub(links, 'me'), true)
    assert.equal(isHub(linksOf({ edges: edges.slice(0, -1), trackRecords: new Map() }), 'me'), false)
    const followed = links.get('me')!.ranked
    assert.equal(new Set(followed.map(({ neighbour }) => neighbour)).size, FAN_OUT)
    const ofTwin = followed.filter(({ neighbour }) => neighbour === 'twin')
    assert.deepEqual([ofTwin.length, ofTwin.at(-1)!.since], [LINKS_PER_NEIGHBOUR_MAX, TODAY - 2000 + 59])
    const world = { edges, trackRecords: new Map([['other_7', bad]]) }
    assert.ok(negativeExposure(exposureIn(world, 'me')) > 0)
  })
})
