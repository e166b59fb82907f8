/** In the trust graph, merged entities are one node, whatever is recorded about any of them and in any order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { refreshExposures } from '../src/consequences/refresh-exposures.ts'
import { spreadOutcomes } from '../src/consequences/spread-outcomes.ts'
import type { EnvironmentStore } from '../src/store/environment/environment-store.ts'
import { type MergingWorld, NOW, openMergingWorld, type Standing } from './merging-world.ts'
import { ordersTried } from './orders-tried.ts'
import { startTestService } from './test-service.ts'

// Without a worker of its own, so that each test knows what is done and when.
const api = await startTestService({ nowMs: () => Date.parse(NOW), roles: ['api'] })
const store = api.service.installation.stores.sandbox

/** Gives an entity so many verified links that all others are beyond the fan-out. */
async function surround(organizationId: string, id: string): Promise<void> {
  const link = { type: 'same_as', verified: true, base_ppm: 900_000, since: 20_000, expires: 30_000, claim: '' }
  const neighbours = Array.from({ length: 42 }, (_, n) => `${id}-neighbour-${n}`)
  await store.commit({
    organizationId,
    links: neighbours.flatMap((other) => [
      { ...link, entity_id: id, neighbour_id: other, to_adverse: false },
      { ...link, entity_id: other, neighbour_id: id, to_adverse: false },
    ]),
  })
}

test('a new link of a merged entity does not hide the bad outcomes of the other from its neighbours', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x, y] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity(), world.newEntity()])
  await world.identify(b, 'phone', '+49 30 7654321')
  await world.identify(x, 'phone', '+49 30 7654321')
  await surround(world.organizationId, x)
  await world.merge(a, b)
  await world.report(a, 'default')
  await world.drain()
  const { negativeExposure } = await world.standingOf(x)
  assert.ok(negativeExposure > 0.2, String(negativeExposure))
  await world.identify(y, 'email', 'shared@example.com')
  await world.identify(b, 'email', 'shared@example.com')
  await world.identify(x, 'device', 'laptop')
  await world.identify(y, 'device', 'laptop')
  await world.drain()
  assert.deepEqual(await world.marksOf(x, b), [true])
  assert.equal((await world.standingOf(x)).negativeExposure, negativeExposure)
})

test('a neighbour beyond the fan-out is followed if one that it is merged with is linked to bad outcomes', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x, z] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity(), world.newEntity()])
  for (const id of [x, a]) await world.identify(id, 'phone', '+49 30 7654321')
  for (const id of [b, z]) await world.identify(id, 'tax_id', 'T-1')
  await surround(world.organizationId, x)
  await world.merge(a, b)
  await world.report(z, 'default')
  await world.drain()
  const { negativeExposure } = await world.standingOf(x)
  assert.ok(negativeExposure > 0.2, String(negativeExposure))
})

test('a link to an entity that is merged with one with bad outcomes is marked from the start', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x, y] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity(), world.newEntity()])
  await world.merge(a, b)
  await world.report(a, 'default')
  await world.drain()
  await world.identify(b, 'email', 'b@example.com')
  await world.identify(x, 'email', 'b@example.com')
  await world.pay(y, b)
  assert.deepEqual([await world.marksOf(x, b), await world.marksOf(b, x)], [[true], [false]])
  assert.deepEqual([await world.marksOf(y, b), await world.marksOf(b, y)], [[true], [false]])
})

test('a new link of a merged entity reaches the neighbours of the other', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x, z] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity(), world.newEntity()])
  for (const id of [a, x]) await world.identify(id, 'tax_id', 'T-1')
  await world.merge(a, b)
  await world.report(z, 'default')
  await world.identify(z, 'tax_id', 'T-2')
  await world.drain()
  assert.equal((await world.standingOf(x)).negativeExposure, 0)
  await world.identify(b, 'tax_id', 'T-2')
  await world.drain()
  const { negativeExposure } = await world.standingOf(x)
  assert.ok(negativeExposure > 0.4, String(negativeExposure))
})

test('payments of a merged entity reach the neighbours of the other', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x, z] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity(), world.newEntity()])
  for (const id of [a, x]) await world.identify(id, 'tax_id', 'T-1')
  await world.merge(a, b)
  await world.report(z, 'fraud_confirmed')
  await world.drain()
  await world.pay(b, z)
  await world.drain()
  const { negativeExposure } = await world.standingOf(x)
  assert.ok(negativeExposure > 0.05, String(negativeExposure))
})

test('before an outcome is answered, the neighbours of all merged entities see it', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity()])
  for (const id of [b, x]) await world.identify(id, 'tax_id', 'T-1')
  await world.merge(a, b)
  await world.drain()
  await world.report(a, 'default')
  assert.deepEqual(await world.marksOf(x, b), [true])
  assert.ok((await world.standingOf(x)).negativeExposure > 0.4)
})

test('an outcome that is reported while those of a merged entity spread reaches the neighbours of both', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity()])
  for (const id of [a, x]) await world.identify(id, 'tax_id', 'T-1')
  await world.merge(a, b)
  await world.drain()
  const { organizationId } = world
  const cause = { org_id: organizationId, kind: 'spread', entity_id: a, mark: 'earlier' }
  await store.consequences.queue([cause])
  let isReported = false
  const reporting: EnvironmentStore = {
    ...store,
    graph: {
      ...store.graph,
      async markLinksTo(...asked) {
        // As a process does that fails before it refreshes anything itself.
        const record = { entity_id: b, tallies: JSON.stringify([BAD]), is_adverse: true, version: 1 }
        const consequences = [{ kind: 'spread', entity_id: b, mark: 'later' }]
        if (!isReported) await store.commit({ organizationId, changedTrackRecords: [record], consequences })
        isReported = true
        return store.graph.markLinksTo(...asked)
      },
    },
  }
  await spreadOutcomes(reporting, cause, NOW)
  assert.deepEqual(await world.marksOf(x, a), [false])
  await world.drain()
  assert.deepEqual(await world.marksOf(x, a), [true])
  assert.ok((await world.standingOf(x)).negativeExposure > 0.4)
})

/** A default in the period before now. */
const BAD = { since: Math.floor(Date.parse(NOW) / 86_400_000 / 30) * 30, adverse: 1_000_000, favourable: 0 }

test('merged entities with many neighbours are spread page by page, each neighbour once', async () => {
  const world = await openMergingWorld(api)
  const [a, b] = (await Promise.all([world.newEntity(), world.newEntity()])).sort() as [string, string]
  const { organizationId } = world
  const link = { type: 'same_as', verified: true, base_ppm: 900_000, since: 20_000, expires: 30_000, claim: '' }
  const neighboursOf = (id: string) => Array.from({ length: 300 }, (_, n) => `${id}-${n}`)
  await world.merge(a, b)
  await store.commit({
    organizationId,
    links: [a, b].flatMap((id) =>
      neighboursOf(id).flatMap((other) => [
        { ...link, entity_id: id, neighbour_id: other, to_adverse: false },
        { ...link, entity_id: other, neighbour_id: id, to_adverse: false },
      ]),
    ),
  })
  await world.drain()
  await world.report(b, 'default')
  // The exposures of so many neighbours are not what is tried here.
  const queue: EnvironmentStore['consequences']['queue'] = (_, done) => store.consequences.queue([], done)
  const marking = { ...store, consequences: { ...store.consequences, queue } }
  const pages: number[] = []
  const spreads = () => store.consequences.due('spread', { after: '', limit: 10, now: NOW })
  for (let due = await spreads(); due.length > 0; due = await spreads())
    for (const cause of due) pages.push(await spreadOutcomes(marking, cause, NOW))
  assert.deepEqual(pages, [200, 200, 200, 0])
  const [marked] = await api.service.installation.storage.environments.sandbox.query<{ count: number }>(
    'SELECT count(*) FROM graph_links WHERE org_id = $1 AND neighbour_id = ANY($2::text[]) AND to_adverse',
    [organizationId, [a, b]],
  )
  assert.equal(marked!.count, 600)
})

test('merged entities are one holder of an identifier, so duplicates do not weaken bad company', async () => {
  const world = await openMergingWorld(api)
  const entities = await Promise.all(Array.from({ length: 8 }, () => world.newEntity()))
  const [x, one, other, ...duplicates] = entities as [string, string, string, ...string[]]
  for (const id of [x, ...duplicates]) await world.identify(id, 'phone', '+49 30 99999')
  for (const id of [one, other]) await world.identify(id, 'phone', '+49 30 88888')
  await world.report(one, 'default')
  await world.report(duplicates[0]!, 'default')
  for (const id of duplicates.slice(1)) await world.merge(duplicates[0]!, id)
  await world.drain()
  assert.equal((await world.standingOf(x)).negativeExposure, (await world.standingOf(other)).negativeExposure)
  assert.ok((await world.standingOf(x)).negativeExposure > 0.2)
  await world.separate(duplicates[4]!)
  await world.drain()
  const apart = (await world.standingOf(x)).negativeExposure
  assert.ok(apart > 0.1 && apart < 0.2, String(apart))
})

type Queries = Record<string, (...given: never[]) => unknown>

/** A store that notes each read of the graph and of merges: one statement each, but for those that are not needed. */
function noting(read: string[]): EnvironmentStore {
  const noted = <T extends object>(queries: T): T => {
    const entries = Object.entries(queries as unknown as Queries).map(([name, ask]) => {
      const note = (...given: never[]) => {
        const ids: unknown = given[1]
        if (!Array.isArray(ids) || ids.length > 0) read.push(name)
        return ask(...given)
      }
      return [name, note]
    })
    return Object.fromEntries(entries)
  }
  return { ...store, graph: noted(store.graph), entityMerges: noted(store.entityMerges) }
}

test('an exposure without merged entities near it takes three reads, in an organization with merges too', async () => {
  const world = await openMergingWorld(api)
  const [a, b, x, y] = await Promise.all([world.newEntity(), world.newEntity(), world.newEntity(), world.newEntity()])
  for (const id of [x, y]) await world.identify(id, 'email', 'y@example.com')
  const readsOf = async (id: string) => {
    const read: string[] = []
    const asked = { organizationId: world.organizationId, entityIds: [id], now: NOW, causes: [] }
    await refreshExposures(noting(read), asked)
    return read
  }
  const plain = [
    'nextExposureRead',
    'followedLinksAndMerges',
    'followedLinksAndMerges',
    'trackRecordsAndMerges',
    'writeExposures',
  ]
  assert.deepEqual(await readsOf(x), plain)
  await world.merge(a, b)
  await world.drain()
  assert.deepEqual(await readsOf(x), plain)
  const ofMerged = await readsOf(a)
  assert.equal(ofMerged.filter((name) => name === 'followedLinksAndMerges').length, 2, 'its own links, and those of b')
})

/** One step of a random history; entities are numbers. */
type Step =
  | { does: 'identifies'; who: number; type: string; value: number; status: string }
  | { does: 'relates'; who: number; whom: number; relationship: string }
  | { does: 'reports'; who: number; type: string }
  | { does: 'merges'; who: number; whom: number }
  | { does: 'separates'; who: number }
  | { does: 'drains' }

const ENTITIES = 6
const anEntity = fc.nat(ENTITIES - 1)
// What is asserted about one identifier has one status: which of two assertions counts is not what is tried here.
const identifier = fc.constantFrom(
  { type: 'tax_id', value: 1, status: 'verified' },
  { type: 'phone', value: 2, status: 'verified' },
  { type: 'device', value: 3, status: 'unverified' },
  { type: 'email', value: 4, status: 'unverified' },
)
const facts: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(anEntity, identifier).map(([who, held]) => ({ does: 'identifies' as const, who, ...held })),
  fc.record({
    does: fc.constant('relates' as const),
    who: anEntity,
    whom: anEntity,
    relationship: fc.constantFrom('same_as', 'guarantor', 'household'),
  }),
  fc.record({
    does: fc.constant('reports' as const),
    who: anEntity,
    type: fc.constantFrom('default', 'late', 'current', 'fraud_confirmed'),
  }),
)
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: facts },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('merges' as const), who: anEntity, whom: anEntity }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('separates' as const), who: anEntity }) },
  { weight: 1, arbitrary: fc.constant({ does: 'drains' as const }) },
)

/** A value that an identifier of this type can have, another one in each run. */
function identifierOf({ type, value }: { type: string; value: number }, run: number): string {
  if (type === 'email') return `${run}-${value}@example.com`
  return type === 'phone' ? `+49 30 ${1_000_000 + run * 10 + value}` : `${run}-${value}`
}

let runs = 0

/** Records a fact about entities, of which some may be the same. */
async function recordFact(world: MergingWorld, ids: readonly string[], step: Step, run: number): Promise<void> {
  if (step.does === 'identifies') await world.identify(ids[step.who]!, step.type, identifierOf(step, run), step.status)
  if (step.does === 'relates' && ids[step.who] !== ids[step.whom])
    await world.relate(ids[step.who]!, ids[step.whom]!, step.relationship)
  if (step.does === 'reports') await world.report(ids[step.who]!, step.type)
}

/** Takes the steps one after another, and returns which entities are one after them. */
async function takeSteps(world: MergingWorld, ids: readonly string[], all: readonly Step[], run: number) {
  let groups = ids.map((_, index) => [index])
  const groupOf = (who: number) => groups.find((group) => group.includes(who))!
  for (const step of all) {
    if (step.does === 'merges' && groupOf(step.who) !== groupOf(step.whom)) {
      await world.merge(ids[step.who]!, ids[step.whom]!)
      const [one, other] = [groupOf(step.who), groupOf(step.whom)]
      groups = [...groups.filter((group) => group !== one && group !== other), [...one, ...other].sort()]
    } else if (step.does === 'separates' && groupOf(step.who).length > 1) {
      await world.separate(ids[step.who]!)
      const rest = groupOf(step.who).filter((other) => other !== step.who)
      groups = [...groups.filter((group) => !group.includes(step.who)), rest, [step.who]]
    } else if (step.does === 'drains') await world.drain()
    else await recordFact(world, ids, step, run)
  }
  await world.drain()
  return groups.sort(([one], [other]) => one! - other!)
}

/** Entities whose ids sort in the order of their creation. */
async function newEntities(world: MergingWorld, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) ids.push(await world.newEntity())
  assert.deepEqual(ids.toSorted(), ids)
  return ids
}

/** A standing whose paths lead to numbers of nodes instead of entities. */
function numbered(standing: Standing, ids: readonly string[], groups: readonly number[][]): unknown {
  const numberOf = (id: string) => groups.findIndex((group) => group.some((member) => ids[member] === id))
  return { ...standing, paths: standing.paths.map((path) => ({ ...path, entityId: numberOf(path.entityId) })) }
}

test('any order of links, outcomes, merges and separations leaves what the same facts about single entities make', async () => {
  const world = await openMergingWorld(api)
  const property = fc.asyncProperty(fc.array(steps, { minLength: 12, maxLength: 50, size: 'max' }), async (all) => {
    const ids = await newEntities(world, ENTITIES)
    const groups = await takeSteps(world, ids, all, ++runs)

    const nodes = await newEntities(world, groups.length)
    const singles = ids.map((_, index) => nodes[groups.findIndex((group) => group.includes(index))]!)
    const run = ++runs
    for (const step of all) await recordFact(world, singles, step, run)
    await world.drain()
    const alone = nodes.map((_, index) => [index])
    const expected = await Promise.all(singles.map(async (id) => numbered(await world.standingOf(id), nodes, alone)))
    const stored = () => Promise.all(ids.map(async (id) => numbered(await world.standingOf(id), ids, groups)))
    assert.deepEqual(await stored(), expected)

    const isBad = (who: number) =>
      all.some(
        (step) =>
          step.does === 'reports' &&
          step.type !== 'current' &&
          groups.some((g) => g.includes(who) && g.includes(step.who)),
      )
    for (const from of ids.keys())
      for (const to of ids.keys())
        for (const mark of await world.marksOf(ids[from]!, ids[to]!))
          assert.equal(mark, isBad(to), `the mark of ${from} to ${to}`)
  })
  await fc.assert(property, { numRuns: ordersTried.atMost * 2, endOnFailure: true })
})
