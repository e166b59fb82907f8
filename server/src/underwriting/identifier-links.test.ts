import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { Assertion } from '../core/graph/claim.ts'
import { CROWD_MAX } from '../core/graph/link.ts'
import { countsAfter, type HolderCounts, identifierLinks, mayChangeLinks } from './identifier-links.ts'

interface Asserted extends Assertion {
  entityId: string
}

const EMAIL = { type: 'email', hash: 'h' } as const
const entityName = (n: number) => `ent_${String(n).padStart(3, '0')}`
const asserted = (n: number, status: Assertion['status'], day = 1): Asserted => ({
  entityId: entityName(n),
  status,
  at: `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z`,
})

/** Makes assertions one after the other, with the reads of the store in memory; returns the links that are left. */
function linksAfter(assertions: readonly Asserted[]) {
  const holders = new Map<string, Assertion[]>()
  const links = new Map<string, boolean>()
  let [version, counts, read]: [number, HolderCounts, number] = [0, { holders: 0, verifiedHolders: 0 }, 0]
  for (const { entityId, ...assertion } of assertions) {
    const before = { version: version++, ...counts, own: holders.get(entityId) ?? [] }
    const after = countsAfter(before, assertion)
    const all = [...holders]
      .filter(([id, own]) => id !== entityId && own.some(({ status }) => status !== 'failed'))
      .sort(([a], [b]) => (a < b ? -1 : 1))
    const verified = all.filter(([, own]) => own.some(({ status }) => status === 'verified'))
    const first = new Map([...all.slice(0, CROWD_MAX + 1), ...verified.slice(0, CROWD_MAX + 1)])
    const others = mayChangeLinks(before, after)
      ? [...first].map(([id, own]) => ({ entityId: id, assertions: own }))
      : []
    read = others.length
    const entity = { entityId, assertions: [...before.own, assertion] }
    for (const { from, to, link } of identifierLinks(EMAIL, { entity, others, before, after })) {
      const pair = [from, to].sort().join(' ')
      if (link) links.set(pair, link.verified)
      else links.delete(pair)
    }
    holders.set(entityId, entity.assertions)
    counts = after
  }
  return { links: Object.fromEntries([...links].sort()), counts, read }
}

it('the links of an identifier depend on what was asserted, not on the order, also around a crowd', () => {
  const assertion = fc
    .tuple(
      fc.integer({ min: 1, max: CROWD_MAX + 6 }),
      fc.constantFrom<Assertion['status']>('verified', 'verified', 'unverified', 'failed'),
      fc.integer({ min: 1, max: 28 }),
    )
    .map(([n, status, day]) => asserted(n, status, day))
  const inTwoOrders = fc
    .array(assertion, { minLength: 20, maxLength: 70, size: 'max' })
    .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
  fc.assert(
    fc.property(inTwoOrders, ([one, other]) => {
      const [first, second] = [linksAfter(one), linksAfter(other)]
      assert.deepEqual([first.links, first.counts], [second.links, second.counts])
    }),
    { numRuns: 300 },
  )
})

it('two dozen holders are all linked, one more ends every link, and further ones read no other holder', () => {
  const crowd = (size: number) => linksAfter(Array.from({ length: size }, (_, n) => asserted(n, 'verified')))
  assert.equal(Object.keys(crowd(CROWD_MAX).links).length, (CROWD_MAX * (CROWD_MAX - 1)) / 2)
  assert.deepEqual(crowd(CROWD_MAX + 1).links, {})
  assert.deepEqual(crowd(240), { links: {}, counts: { holders: 240, verifiedHolders: 240 }, read: 0 })
})

it('a crowd of unverified holders neither ends nor counts for a verified link', () => {
  const fakes = Array.from({ length: 60 }, (_, n) => asserted(n, 'unverified'))
  const verified = [asserted(100, 'verified'), asserted(101, 'verified')]
  for (const all of [
    [...verified, ...fakes],
    [...fakes, ...verified],
  ]) {
    const { links, counts } = linksAfter(all)
    assert.deepEqual(links, { 'ent_100 ent_101': true })
    assert.deepEqual(counts, { holders: 62, verifiedHolders: 2 })
  }
})

it('entities whose only check failed neither end nor count for an unverified link, and count once they assert it again', () => {
  const pair = [asserted(100, 'unverified'), asserted(101, 'unverified')]
  const exposed = Array.from({ length: 60 }, (_, n) => asserted(n, 'failed'))
  for (const all of [
    [...pair, ...exposed],
    [...exposed, ...pair],
  ]) {
    const { links, counts } = linksAfter(all)
    assert.deepEqual(links, { 'ent_100 ent_101': false })
    assert.deepEqual(counts, { holders: 2, verifiedHolders: 0 })
  }
  const again = linksAfter([
    ...pair,
    ...exposed,
    ...exposed.slice(0, 3).map((one) => ({ ...one, status: 'unverified' as const })),
  ])
  assert.deepEqual(again.counts, { holders: 5, verifiedHolders: 0 })
})
