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
  BEHIND_MAX,
  FAN_OUT,
  type FollowedLinks,
  followLinks,
  type Link,
  type LinkBasis,
  type LinkChoice,
  type LinkType,
  linkOf,
  rankLinks,
} from './link.ts'
import { type LoadedLinks, linksToLoad, reachOf } from './reach.ts'
import { isAdverse, NO_TRACK_RECORD, type TrackRecord } from './track-record.ts'

const ASOF = '2026-03-01T09:30:00.000Z'
const TODAY = dayOf(ASOF)

/** A link between two entities, from no side in particular. */
interface Tie {
  ends: readonly [string, string]
  type: LinkType
  verification: 'verified' | 'unverified'
  share?: number
  since?: number
}

function tie(one: string, other: string, over: Partial<Tie> = {}): Tie {
  return { ends: [one, other], type: 'same_as', verification: 'verified', ...over }
}

const bad: TrackRecord = { adversePpm: 500_000, favourablePpm: 0 }
const good: TrackRecord = { adversePpm: 0, favourablePpm: 500_000 }

function linksOf({ ties, trackRecords }: World): LoadedLinks {
  const links = new Map<string, Link[]>()
  for (const { ends, type, verification, share = 1, since = TODAY } of ties) {
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
  const choiceOf = (entityId: string): LinkChoice => ({
    isAdverse: isBad,
    isNearAdverse: (neighbour) => [...badOf.get(neighbour)!].some((bad) => bad !== entityId),
    today: TODAY,
  })
  return new Map(Array.from(links, ([entityId, list]) => [entityId, followLinks(list, choiceOf(entityId))]))
}

const NO_LINKS: FollowedLinks = { ranked: [], adverse: [], near: [], behind: [] }

type World = { ties: readonly Tie[]; trackRecords: ReadonlyMap<string, TrackRecord> }

function exposureIn(world: World, entityId: string): Exposure {
  return exposureFrom(linksOf(world), world.trackRecords, entityId)
}

/** Loads what the plan asks for, and nothing else, then walks: as a store would do it. */
function exposureFrom(all: LoadedLinks, trackRecords: ReadonlyMap<string, TrackRecord>, entityId: string): Exposure {
  const links = new Map<string, FollowedLinks>()
  for (let round = 0; round < 3; round += 1) {
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
const tiesOf = (
  verification: fc.Arbitrary<Tie['verification']>,
  type: fc.Arbitrary<LinkType> = types,
): fc.Arbitrary<Tie> =>
  fc.record({
    ends: pairs,
    type,
    verification,
    share: fc.integer({ min: 1, max: 10 }).map((tenths) => tenths / 10),
    since: fc.integer({ min: TODAY - 2000, max: TODAY }),
  })
const anyTie = tiesOf(fc.constantFrom('verified', 'unverified'))
const anyTrackRecord: fc.Arbitrary<TrackRecord> = fc.record({
  adversePpm: fc.integer({ min: 0, max: 500_000 }),
  favourablePpm: fc.integer({ min: 0, max: 499_999 }),
})
const anyTrackRecords = fc
  .array(fc.tuple(fc.constantFrom(...names), anyTrackRecord), { maxLength: 10 })
  .map((all) => new Map(all))
// Few enough that no entity has more links than are followed.
const worlds: fc.Arbitrary<World> = fc.record({
  ties: fc.array(anyTie, { maxLength: 30 }),
  trackRecords: anyTrackRecords,
})

describe('negative exposure', () => {
  it('is nothing where nothing bad is near', () => {
    const ties = [tie('me', 'a'), tie('a', 'b'), tie('b', 'c')]
    assert.equal(negativeExposure(exposureIn({ ties, trackRecords: new Map([['c', bad]]) }, 'me')), 0)
    assert.equal(negativeExposure(exposureIn({ ties, trackRecords: new Map([['me', bad]]) }, 'me')), 0)
    assert.equal(negativeExposure(exposureIn({ ties, trackRecords: new Map([['a', good]]) }, 'me')), 0)
  })

  it('does not come from the entity itself, by whatever link', () => {
    const ties = [tie('me', 'a'), tie('me', 'me'), tie('me', 'a', { type: 'email' })]
    assert.deepEqual(exposureIn({ ties, trackRecords: new Map([['me', bad]]) }, 'me').contributions, [])
  })

  it('falls with every link on the way', () => {
    const ties = [tie('me', 'a'), tie('a', 'b', { type: 'email' })]
    assert.equal(negativeExposure(exposureIn({ ties, trackRecords: new Map([['a', bad]]) }, 'me')), 1 - (1 - 0.45))
    assert.equal(negativeExposure(exposureIn({ ties, trackRecords: new Map([['b', bad]]) }, 'me')), 1 - (1 - 0.225))
  })

  it('counts each bad neighbour once, by its best path', () => {
    const direct = tie('me', 'a', { type: 'address' })
    const detour = [tie('me', 'b'), tie('b', 'a')]
    const trackRecords = new Map([['a', bad]])
    const both = exposureIn({ ties: [direct, ...detour], trackRecords }, 'me')
    assert.equal(negativeExposure(both), negativeExposure(exposureIn({ ties: detour, trackRecords }, 'me')))
    assert.deepEqual(
      both.contributions[0]?.path.steps.map(({ to }) => to),
      ['b', 'a'],
    )
  })

  it('is told by the direct link, then by the one that ranks first, where paths are equally strong', () => {
    const pathIn = (ties: Tie[]) =>
      exposureIn({ ties, trackRecords: new Map([['a', bad]]) }, 'me').contributions[0]?.path.steps.map(({ to }) => to)
    const detour = (via: string) => [tie('me', via, { type: 'email' }), tie(via, 'a')]
    assert.deepEqual(pathIn([...detour('b'), tie('me', 'a', { type: 'owner', share: 0.9 })]), ['a'])
    assert.deepEqual(pathIn([...detour('c'), ...detour('b')]), ['b', 'a'])
  })

  it('is not followed beyond where a path carries less than a fiftieth', () => {
    const weak = { type: 'address', verification: 'unverified' } as const
    const ties = [tie('me', 'a', weak), tie('a', 'b', weak)]
    assert.equal(negativeExposure(exposureIn({ ties, trackRecords: new Map([['b', bad]]) }, 'me')), 0)
  })

  // Few entities in a chain, where every way counts, and fakes heaped up at some of them, as by one with something to hide.
  const few = names.slice(0, 5)
  const chains: fc.Arbitrary<World> = fc.record({
    ties: fc
      .array(anyTie, { minLength: 4, maxLength: 4 })
      .map((made) =>
        made.map((one, index) => ({ ...one, ends: [few[index]!, few[index + 1]!] as const, since: TODAY })),
      ),
    trackRecords: fc.constantFrom(...few).map((name) => new Map([[name, bad]])),
  })
  const fakes = fc
    .uniqueArray(fc.constantFrom(...few), { maxLength: 3 })
    .map((heaps) =>
      heaps.flatMap((to) =>
        Array.from({ length: 120 }, (_, index) =>
          tie(to, `fake_${to}_${index}`, { verification: 'unverified', since: TODAY - 300 }),
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

  it('is never lowered by a link, in a crowd of claims that nobody has verified', () => {
    fc.assert(
      fc.property(fc.oneof(worlds, chains), fakes, anyTie, (world, crowd, added) => {
        const crowded = { ...world, ties: [...crowd, ...world.ties] }
        assertNotLower(crowded, { ...crowded, ties: [...crowded.ties, added] })
      }),
      { numRuns: 50 },
    )
  })

  it('is never lowered by links that nobody has verified, however many and at whichever end', () => {
    fc.assert(
      fc.property(fc.oneof(worlds, chains), fakes, (world, added) =>
        assertNotLower(world, { ...world, ties: [...world.ties, ...added] }),
      ),
      { numRuns: 50 },
    )
  })

  it('of two links is not washed away by fakes at the entity itself, nor at the one in between', () => {
    const weak = { type: 'email', verification: 'unverified' } as const
    const way = [tie('me', 'between', weak), tie('between', 'bad')]
    const trackRecords = new Map([['bad', bad]])
    const without = negativeExposure(exposureIn({ ties: way, trackRecords }, 'me'))
    assert.ok(without > 0.1)
    for (const end of ['me', 'between']) {
      const added = Array.from({ length: 300 }, (_, index) =>
        tie(end, `fake_${index}`, { verification: 'unverified', since: TODAY - 1000 }),
      )
      assert.equal(negativeExposure(exposureIn({ ties: [...added, ...way], trackRecords }, 'me')), without, end)
    }
  })

  it('to direct neighbours is never lowered by links to the clean, however many and however well verified', () => {
    const directTies = fc.array(
      anyTie.map((made): Tie => ({ ...made, ends: ['me', made.ends[0]] })),
      { maxLength: FAN_OUT },
    )
    fc.assert(
      fc.property(directTies, anyTrackRecords, fc.integer({ min: 0, max: 120 }), (ties, trackRecords, count) => {
        const clean = Array.from({ length: count }, (_, index) => tie('me', `clean_${index}`))
        const [before, after] = [ties, [...clean, ...ties]].map((all) => exposureIn({ ties: all, trackRecords }, 'me'))
        assert.ok(negativeExposure(after!) >= negativeExposure(before!))
      }),
    )
  })

  it('passes through a bad neighbour, however many links to the clean there are', () => {
    const clean = Array.from({ length: 50 }, (_, index) => tie('me', `clean_${index}`))
    const ties = [...clean, tie('me', 'a', { type: 'email' }), tie('a', 'b', { type: 'email' })]
    const trackRecords = new Map([
      ['a', bad],
      ['b', bad],
    ])
    const { contributions } = exposureIn({ ties, trackRecords }, 'me')
    assert.deepEqual(
      contributions.map(({ entityId }) => entityId),
      ['a', 'b'],
    )
  })

  it('without payments is not moved by any number of payments', () => {
    const payments = fc.array(tiesOf(fc.constant('unverified'), fc.constant('payment')), { maxLength: 80 })
    fc.assert(
      fc.property(worlds, payments, (world, added) => {
        const more = { ...world, ties: [...world.ties, ...added] }
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

  it('over payments alone is known, and known to be over payments alone', () => {
    const ties = [tie('me', 'a', { type: 'payment', verification: 'unverified' })]
    const exposure = exposureIn({ ties, trackRecords: new Map([['a', bad]]) }, 'me')
    assert.ok(negativeExposure(exposure) > 0.07)
    assert.equal(negativeExposureWithoutPayments(exposure), 0)
  })

  it('is told in full by the 256 heaviest contributions, which more of the clean cannot push out', () => {
    const ties: Tie[] = []
    const trackRecords = new Map<string, TrackRecord>()
    for (let first = 0; first < FAN_OUT; first += 1) {
      ties.push(tie('me', `hop_${first}`))
      for (let second = 0; second < FAN_OUT - 1; second += 1) {
        ties.push(tie(`hop_${first}`, `end_${first}_${second}`))
        trackRecords.set(`end_${first}_${second}`, good)
      }
    }
    trackRecords.set('end_39_38', { adversePpm: 1, favourablePpm: 0 })
    const exposure = exposureIn({ ties, trackRecords }, 'me')
    assert.equal(exposure.contributions.length, CONTRIBUTIONS_MAX)
    assert.ok(exposure.isTruncated)
    assert.ok(exposure.contributions.some(({ entityId }) => entityId === 'end_39_38'))
  })
})

describe('positive support', () => {
  it('is carried by verified links only', () => {
    const trackRecords = new Map([['a', good]])
    assert.ok(positiveSupport(exposureIn({ ties: [tie('me', 'a')], trackRecords }, 'me')) > 0)
    const unverified = tie('me', 'a', { verification: 'unverified' })
    assert.equal(positiveSupport(exposureIn({ ties: [unverified], trackRecords }, 'me')), 0)
    const behind = [tie('me', 'b', { verification: 'unverified' }), tie('b', 'a')]
    assert.equal(positiveSupport(exposureIn({ ties: behind, trackRecords }, 'me')), 0)
  })

  it('cannot be raised by sybils beyond the cap of the verified neighbours', () => {
    const sybils = fc.record({
      behind: fc.array(fc.constantFrom(...names), { maxLength: 60 }),
      among: fc.array(fc.tuple(fc.nat(59), fc.nat(59)), { maxLength: 60 }),
    })
    fc.assert(
      fc.property(worlds, sybils, (world, { behind, among }) => {
        const added = [
          ...behind.map((name, index) => tie(name, `sybil_${index}`)),
          ...among.map(([one, other]) => tie(`sybil_${one}`, `sybil_${other}`)),
        ]
        const trackRecords = new Map(world.trackRecords)
        for (let index = 0; index < 60; index += 1)
          trackRecords.set(`sybil_${index}`, { adversePpm: 0, favourablePpm: 999_999 })
        // The entity itself has none of them as a neighbour: it did not verify a link with any.
        const ties = [...world.ties, ...added].filter(
          ({ ends }) => !ends.includes('ent_0') || !ends.some((end) => end.startsWith('sybil')),
        )
        const verified = ties.filter(
          ({ ends, verification, type }) => ends.includes('ent_0') && verification === 'verified' && type !== 'payment',
        )
        const neighbours = new Set(verified.flatMap(({ ends }) => ends.filter((end) => end !== 'ent_0')))
        const cap = 1 - (1 - FIRST_HOP_SUPPORT_MAX) ** neighbours.size
        assert.ok(positiveSupport(exposureIn({ ties, trackRecords }, 'ent_0')) <= cap + 1e-12)
      }),
    )
  })

  it('of one neighbour is capped, with all those behind it', () => {
    const ties = [tie('me', 'a'), ...Array.from({ length: 20 }, (_, index) => tie('a', `friend_${index}`))]
    const trackRecords = new Map(ties.flatMap(({ ends }) => ends.map((end) => [end, good] as const)))
    assert.equal(positiveSupport(exposureIn({ ties, trackRecords }, 'me')), 1 - (1 - FIRST_HOP_SUPPORT_MAX))
  })
})

describe('a hub', () => {
  /** A list that counts what is read of it and never hands out the whole. */
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
    const linkTo = (neighbour: string) => linkOf({ ...claimTo, neighbour })!
    const followed = (list: readonly Link[]): FollowedLinks => {
      const all = counted(list, reads)
      return { ranked: all, adverse: all, near: all, behind: all }
    }
    const links = new Map(spokes.map((spoke) => [spoke, followed([linkTo('hub')])]))
    links.set('hub', followed(spokes.map(linkTo)))
    exposureFrom(links, new Map([['spoke_000001', bad]]), entityId)
    return reads.count
  }
  const claimTo = { type: 'email', verification: 'verified', since: TODAY } as const

  it('of a hundred thousand links costs what one of forty costs, seen from within and from its rim', () => {
    assert.equal(readsOfWalk(100_000, 'hub'), readsOfWalk(FAN_OUT, 'hub'))
    assert.equal(readsOfWalk(100_000, 'spoke_000000'), readsOfWalk(FAN_OUT, 'spoke_000000'))
    assert.ok(readsOfWalk(100_000, 'hub') <= 121 * 80 * 4)
  })

  const rim = (count: number) =>
    Array.from({ length: count }, (_, index) => tie('hub', `rim_${index}`, { since: TODAY - 100 + index }))

  it('passes nothing on to those of its links that do not rank with it', () => {
    const trackRecords = new Map([['rim_0', bad]])
    assert.ok(negativeExposure(exposureIn({ ties: rim(60), trackRecords }, 'rim_1')) > 0)
    assert.equal(negativeExposure(exposureIn({ ties: rim(60), trackRecords }, 'rim_50')), 0)
  })

  it('is made by verified links only: whoever has none but claims passes harm on to all', () => {
    const claimed = rim(60).map((made): Tie => ({ ...made, verification: 'unverified' }))
    const trackRecords = new Map([['rim_0', bad]])
    assert.ok(negativeExposure(exposureIn({ ties: claimed, trackRecords }, 'rim_50')) > 0)
    const some = [...rim(39), ...claimed.slice(39)]
    assert.ok(negativeExposure(exposureIn({ ties: some, trackRecords }, 'rim_50')) > 0)
    const hub = [...rim(40), ...claimed.slice(40)]
    assert.equal(negativeExposure(exposureIn({ ties: hub, trackRecords }, 'rim_50')), 0)
  })

  it('sees the one bad neighbour among any number, and those who rank with it see it too', () => {
    const trackRecords = new Map([['rim_59', bad]])
    assert.ok(negativeExposure(exposureIn({ ties: rim(60), trackRecords }, 'hub')) > 0.44)
    assert.ok(negativeExposure(exposureIn({ ties: rim(60), trackRecords }, 'rim_1')) > 0.38)
  })

  it('bears on everyone who has it for a neighbour', () => {
    const trackRecords = new Map([['hub', bad]])
    assert.ok(negativeExposure(exposureIn({ ties: rim(60), trackRecords }, 'rim_59')) > 0.44)
  })
})

describe('an exposure that is walked anew only when it is affected', () => {
  type Event = { kind: 'outcome'; entityId: string; trackRecord: TrackRecord } | { kind: 'link'; tie: Tie }

  /** Keeps everyone's exposure up to date as a store would: only those affected are walked anew. */
  function keptUp(everyone: readonly string[], start: World, events: readonly Event[]) {
    let world = start
    let links = linksOf(world)
    const kept = new Map(everyone.map((name) => [name, exposureFrom(links, world.trackRecords, name)]))
    const walkAgain = (name: string) => kept.set(name, exposureFrom(links, world.trackRecords, name))
    for (const event of events) {
      if (event.kind === 'link') {
        const before = links
        world = { ...world, ties: [...world.ties, event.tie] }
        links = linksOf(world)
        const adverse = new Set(
          event.tie.ends.filter((end) => isAdverse(world.trackRecords.get(end) ?? NO_TRACK_RECORD)),
        )
        for (const name of affectedByLink({ ends: event.tie.ends, before, after: links, adverse })) walkAgain(name)
        continue
      }
      const { entityId, trackRecord: after } = event
      world = { ...world, trackRecords: new Map(world.trackRecords).set(entityId, after) }
      links = linksOf(world)
      const neighbours = world.ties.filter(({ ends }) => ends.includes(entityId)).flatMap(({ ends }) => ends)
      for (const name of affectedByOutcome({ neighbours, links })) walkAgain(name)
    }
    return { kept, world }
  }

  const eventsOn = (people: readonly string[], ties: fc.Arbitrary<Tie>): fc.Arbitrary<Event[]> =>
    fc.array(
      fc.oneof(
        fc.record({
          kind: fc.constant('outcome' as const),
          entityId: fc.constantFrom(...people),
          trackRecord: fc.oneof(anyTrackRecord, fc.constant(NO_TRACK_RECORD)),
        }),
        fc.record({ kind: fc.constant('link' as const), tie: ties }),
      ),
      { maxLength: 12 },
    )

  it('equals one walked anew, in whatever order outcomes and links come', () => {
    fc.assert(
      fc.property(worlds, eventsOn(names, anyTie), (start, events) => {
        const after = keptUp(names, start, events)
        for (const name of names) assert.deepEqual(after.kept.get(name), exposureIn(after.world, name))
      }),
    )
  })

  it('equals one walked anew also around hubs that have more links than are followed', () => {
    const crowd = [...names, ...Array.from({ length: 50 }, (_, index) => `crowd_${index}`)]
    const crowded = [
      ...crowd.slice(1).map((name) => tie('ent_0', name, { type: 'email' })),
      ...crowd.slice(2).map((name) => tie('ent_1', name, { type: 'device', verification: 'unverified' })),
    ]
    const anyone = fc.uniqueArray(fc.constantFrom(...crowd), { minLength: 2, maxLength: 2 }) as fc.Arbitrary<
      [string, string]
    >
    const ties = fc.record({
      ends: anyone,
      type: types,
      verification: fc.constantFrom<Tie['verification']>('verified', 'unverified'),
    })
    fc.assert(
      fc.property(fc.array(ties, { maxLength: 10 }), eventsOn(crowd, ties), (some, events) => {
        const after = keptUp(crowd, { ties: [...crowded, ...some], trackRecords: new Map() }, events)
        const links = linksOf(after.world)
        for (const name of crowd)
          assert.deepEqual(after.kept.get(name), exposureFrom(links, after.world.trackRecords, name))
      }),
      { numRuns: 15 },
    )
  })

  it('is looked at again by few: the neighbours, and forty more for each, or two hundred where it is no hub', () => {
    const affectedBehind = (verification: Tie['verification']) => {
      const ties = Array.from({ length: 300 }, (_, index) =>
        tie('hub', `rim_${index}`, { verification, since: TODAY - 400 + index }),
      )
      return affectedByOutcome({ neighbours: ['hub'], links: linksOf({ ties, trackRecords: new Map() }) })
    }
    const affected = affectedBehind('verified')
    assert.equal(affected.size, 1 + FAN_OUT)
    assert.ok(affected.has('hub') && affected.has('rim_39') && !affected.has('rim_40'))
    assert.equal(affectedBehind('unverified').size, 1 + FAN_OUT + BEHIND_MAX)
  })

  it('follows a link that pushes another out of the followed ones, and one that lets it in again', () => {
    const full = Array.from({ length: FAN_OUT }, (_, index) =>
      tie('hub', `rim_${index}`, { type: 'email', since: TODAY - 100 + index }),
    )
    const stronger = tie('hub', 'newcomer')
    const trackRecords = new Map([['rim_0', bad]])
    const [without, withIt] = [
      { ties: full, trackRecords },
      { ties: [...full, stronger], trackRecords },
    ]
    assert.notDeepEqual(exposureIn(without, 'rim_39'), exposureIn(withIt, 'rim_39'))
    const [before, after] = [linksOf(without), linksOf(withIt)]
    assert.ok(affectedByLink({ ends: stronger.ends, before, after, adverse: new Set() }).has('rim_39'))
    assert.ok(affectedByLink({ ends: stronger.ends, before: after, after: before, adverse: new Set() }).has('rim_39'))
  })

  const known = exposureIn({ ties: [tie('me', 'a')], trackRecords: new Map([['a', bad]]) }, 'me')

  it('is looked at again by both ends of a link, even one that does not rank', () => {
    const none: LoadedLinks = new Map()
    assert.deepEqual(
      [...affectedByLink({ ends: ['a', 'b'], before: none, after: none, adverse: new Set() })],
      ['a', 'b'],
    )
  })

  it('is plain JSON: storing and reading it back changes nothing', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(known)), known)
  })
})
