import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { PPM } from './decay.ts'
import {
  expiryDay,
  FAN_OUT,
  type Link,
  type LinkBasis,
  linkOf,
  rankLinks,
  STRENGTH_MIN_PPM,
  selectLinks,
  strengthPpm,
} from './link.ts'

const TYPES = [
  'same_as',
  'tax_id',
  'bank_account',
  'email',
  'device',
  'address',
  'guarantor',
  'owner',
  'director',
  'household',
  'employer',
  'payment',
] as const

const basis = (over: Partial<LinkBasis>): LinkBasis => ({
  neighbour: 'ent_b',
  type: 'same_as',
  verification: 'verified',
  since: 20_000,
  ...over,
})
const link = (over: Partial<LinkBasis>): Link => linkOf(basis(over))!

const links: fc.Arbitrary<Link> = fc
  .record({
    neighbour: fc.integer({ min: 0, max: 99 }).map((number) => `ent_${number}`),
    type: fc.constantFrom(...TYPES),
    verification: fc.constantFrom('verified', 'unverified'),
    share: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
    since: fc.integer({ min: 18_000, max: 20_000 }),
  } satisfies { [Key in keyof LinkBasis]-?: fc.Arbitrary<unknown> })
  .map((made) => linkOf(made as LinkBasis)!)

describe('a link', () => {
  it('carries most for one identity and least for a payment', () => {
    const carried = (type: LinkBasis['type']) => link({ type }).basePpm / PPM
    assert.deepEqual(
      ['same_as', 'email', 'device', 'address'].map((type) => carried(type as 'email')),
      [0.9, 0.5, 0.4, 0.2],
    )
    assert.deepEqual(
      ['guarantor', 'owner', 'director', 'business_partner', 'household', 'employer', 'payment'].map((type) =>
        carried(type as 'owner'),
      ),
      [0.6, 0.5, 0.4, 0.3, 0.3, 0.15, 0.15],
    )
  })

  it('carries half while it is unverified, and there is none once its check has failed', () => {
    assert.equal(link({ verification: 'unverified' }).basePpm, 450_000)
    assert.equal(linkOf(basis({ verification: 'failed' })), null)
  })

  it('of an owner or a payment carries by its share, which is clamped to 0 and 1', () => {
    assert.equal(link({ type: 'owner', share: 0.25 }).basePpm, 125_000)
    assert.equal(link({ type: 'payment', share: 0.5 }).basePpm, 75_000)
    assert.equal(link({ type: 'owner', share: 7 }).basePpm, 500_000)
    assert.equal(link({ type: 'owner', share: -1 }).basePpm, 0)
    assert.equal(link({ type: 'director', share: 0.25 }).basePpm, 400_000)
  })

  it('of a payment is never verified', () => {
    assert.equal(link({ type: 'payment', verification: 'verified' }).verified, false)
    const verifications = ['verified', 'unverified'] as const
    const [one, other] = verifications.map((verification) => link({ type: 'payment', verification }))
    assert.deepEqual(one, other)
  })

  it('is followed until the day it expires and not from then on', () => {
    fc.assert(
      fc.property(links, (made) => {
        const expiry = expiryDay(made)
        assert.ok(strengthPpm(made, expiry) < STRENGTH_MIN_PPM)
        if (expiry > made.since) assert.ok(strengthPpm(made, expiry - 1) >= STRENGTH_MIN_PPM)
      }),
    )
  })
})

describe('the links that are followed', () => {
  it('carry two percent at least', () => {
    const ofShare = (share: number) => link({ neighbour: 'a', type: 'owner', share })
    assert.deepEqual([ofShare(0.04).basePpm, ofShare(0.039_998).basePpm], [20_000, 19_999])
    const followed = (one: Link) => rankLinks([one], one.since).length
    assert.deepEqual([followed(ofShare(0.04)), followed(ofShare(0.039_998))], [1, 0])
  })

  it('are ranked verified first, payments last, then strongest first, then oldest first', () => {
    const inOrder = [
      link({ neighbour: 'a', type: 'same_as' }),
      link({ neighbour: 'b', type: 'email', since: 19_000 }),
      link({ neighbour: 'c', type: 'email', since: 19_500 }),
      link({ neighbour: 'd', type: 'email', since: 19_500 }),
      link({ neighbour: 'd', type: 'phone', since: 19_500 }),
      link({ neighbour: 'e', type: 'same_as', verification: 'unverified' }),
      link({ neighbour: 'f', type: 'address', verification: 'unverified' }),
      link({ neighbour: 'g', type: 'payment' }),
    ]
    assert.deepEqual(rankLinks(inOrder.toReversed(), 20_000), inOrder)
  })

  it('do not depend on the order of the input', () => {
    const twoOrders = fc
      .array(links, { maxLength: 80 })
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
    fc.assert(
      fc.property(twoOrders, ([one, other]) => {
        assert.deepEqual(rankLinks(one, 20_000), rankLinks(other, 20_000))
      }),
    )
  })

  it('are at most forty, and none that has expired', () => {
    const fresh = Array.from({ length: 50 }, (_, index) =>
      link({ neighbour: `ent_${index}`, type: 'address', since: 19_000 + index }),
    )
    const expired = Array.from({ length: 50 }, (_, index) =>
      link({ neighbour: `old_${index}`, type: 'device', since: 0 }),
    )
    const none = { isAdverse: () => false, isNearAdverse: () => false, today: 20_000 }
    const { ranked, adverse, nearAdverse, beyondFanOut } = selectLinks([...expired, ...fresh], none)
    assert.deepEqual(
      [ranked, adverse, nearAdverse, beyondFanOut],
      [fresh.slice(0, FAN_OUT), [], [], fresh.slice(FAN_OUT)],
    )
  })

  it('include links beyond the fan-out that lead to an adverse entity in one hop or two', () => {
    const all = Array.from({ length: 60 }, (_, index) => link({ neighbour: `ent_${index}`, since: 19_000 + index }))
    const { adverse, nearAdverse } = selectLinks(all, {
      isAdverse: (id) => id === 'ent_50',
      isNearAdverse: (id) => ['ent_1', 'ent_55'].includes(id),
      today: 20_000,
    })
    assert.deepEqual([adverse, nearAdverse], [[all[50]], [all[55]]])
  })

  it('are never displaced by unverified links or by payments', () => {
    const followedFirst = fc.array(links, { maxLength: FAN_OUT })
    fc.assert(
      fc.property(followedFirst, fc.array(links, { maxLength: 80 }), (known, added) => {
        const verified = known.filter((made) => made.verified)
        const fakes = added.filter((made) => !made.verified)
        assert.deepEqual(
          rankLinks([...verified, ...fakes], 20_000).slice(0, rankLinks(verified, 20_000).length),
          rankLinks(verified, 20_000),
        )
        const payments = added.filter((made) => made.type === 'payment')
        const others = known.filter((made) => made.type !== 'payment')
        assert.deepEqual(
          rankLinks([...others, ...payments], 20_000).filter((made) => made.type !== 'payment'),
          rankLinks(others, 20_000),
        )
      }),
    )
  })
})

describe('a link of each type', () => {
  for (const [type, carriedPpm, halfLifeDays] of [
    ['same_as', 900_000, 3650],
    ['government_id', 900_000, 3650],
    ['tax_id', 900_000, 3650],
    ['registration_number', 900_000, 3650],
    ['bank_account', 900_000, 1825],
    ['email', 500_000, 1095],
    ['phone', 500_000, 1095],
    ['device', 400_000, 365],
    ['address', 200_000, 730],
    ['guarantor', 600_000, 1095],
    ['owner', 500_000, 1095],
    ['director', 400_000, 1095],
    ['business_partner', 300_000, 730],
    ['household', 300_000, 730],
    ['employer', 150_000, 730],
  ] as const)
    it(`${type} carries ${carriedPpm} ppm, and half of it after ${halfLifeDays} days`, () => {
      const made = link({ type, since: 10_000 })
      assert.equal(strengthPpm(made, 10_000), carriedPpm)
      assert.equal(strengthPpm(made, 10_000 + halfLifeDays), carriedPpm / 2)
      assert.equal(strengthPpm(link({ type, verification: 'unverified', since: 10_000 }), 10_000), carriedPpm / 2)
    })

  it('payment carries its share, verified or not, and half of it after 180 days', () => {
    for (const verification of ['verified', 'unverified'] as const) {
      const made = link({ type: 'payment', verification, share: 0.5, since: 10_000 })
      assert.equal(strengthPpm(made, 10_000), 75_000)
      assert.equal(strengthPpm(made, 10_180), 37_500)
    }
  })
})
