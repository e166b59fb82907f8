import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  anyEdge,
  anyTrackRecord,
  bad,
  type Edge,
  edge,
  exposureFrom,
  exposureIn,
  linksOf,
  names,
  TODAY,
  types,
  type World,
  worlds,
} from '../../../tests/graph-world.ts'
import { affectedByLink, affectedByOutcome } from './affected-entities.ts'
import { BEYOND_FAN_OUT_MAX, FAN_OUT } from './link.ts'
import type { LoadedLinks } from './reach.ts'
import { isAdverse, NO_TRACK_RECORD, type TrackRecord } from './track-record.ts'

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

  it('is recomputed beyond the fan-out of an end only if a link leads from there to an adverse entity', () => {
    const rim = Array.from({ length: 60 }, (_, index) =>
      edge('hub', `rim_${index}`, { verification: 'unverified', since: TODAY - 400 + index }),
    )
    const reachesBeyond = (adverse: readonly string[], trackRecords: World['trackRecords'] = new Map()) => {
      const before = linksOf({ edges: rim, trackRecords })
      const after = linksOf({ edges: [...rim, edge('hub', 'outsider')], trackRecords })
      return affectedByLink({ ends: ['hub', 'outsider'], before, after, adverse: new Set(adverse) }).has('rim_59')
    }
    assert.equal(reachesBeyond([]), false)
    assert.equal(reachesBeyond(['outsider']), true)
    // That the hub itself is adverse leads no entity of its rim to another adverse one.
    assert.equal(reachesBeyond(['hub']), false)
    assert.equal(reachesBeyond(['hub', 'outsider']), true)
    assert.equal(reachesBeyond([], new Map([['rim_0', bad]])), true)
  })

  it('is recomputed for both ends of a link, even one beyond the fan-out', () => {
    const none: LoadedLinks = new Map()
    assert.deepEqual(
      [...affectedByLink({ ends: ['a', 'b'], before: none, after: none, adverse: new Set() })],
      ['a', 'b'],
    )
  })
})
