import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { describeTrust, explainExposure, neutralTrust, summarizeExposure } from './describe-trust.ts'
import type { Contribution, Exposure } from './exposure.ts'
import type { LinkType } from './link.ts'
import { NO_TRACK_RECORD } from './track-record.ts'

const ASOF = '2026-03-01T09:30:00.000Z'

function contribution(entityId: string, over: Partial<Contribution> & { types?: LinkType[] } = {}): Contribution {
  const { types = ['same_as'], ...rest } = over
  const steps = types.map((type, index) => ({
    to: index === types.length - 1 ? entityId : 'between',
    type,
    verified: true,
  }))
  return {
    entityId,
    adversePpm: 0,
    favourablePpm: 0,
    path: { strengthPpm: 900_000, steps },
    withoutPaymentsPpm: 900_000,
    support: null,
    ...rest,
  }
}

const exposure = (...contributions: Contribution[]): Exposure => ({
  entityId: 'me',
  asOf: ASOF,
  contributions,
  isTruncated: false,
})

const ppm = fc.nat(1_000_000)
const exposures = fc
  .array(fc.record({ adversePpm: ppm, favourablePpm: ppm, strengthPpm: ppm, via: fc.constantFrom('a', 'b', 'c') }), {
    maxLength: 20,
  })
  .map((all) =>
    exposure(
      ...all.map(({ adversePpm, favourablePpm, strengthPpm, via }, index) =>
        contribution(`ent_${index}`, {
          adversePpm,
          favourablePpm,
          path: { strengthPpm, steps: [{ to: `ent_${index}`, type: 'email', verified: true }] },
          support: { strengthPpm, via },
        }),
      ),
    ),
  )

describe('trust', () => {
  it('is 0.5 without any outcomes', () => {
    const neutral = { score: 0.5, negative_exposure: 0, positive_support: 0, evidence_count: 0, as_of: ASOF }
    assert.deepEqual(neutralTrust(ASOF), neutral)
    assert.deepEqual(describeTrust(exposure(), NO_TRACK_RECORD), neutral)
  })

  it("counts the entity's own outcomes at full strength", () => {
    const own = describeTrust(exposure(), { adversePpm: 500_000, favourablePpm: 0 })
    assert.deepEqual([own.score, own.negative_exposure, own.evidence_count], [0.2, 0.5, 1])
    assert.ok(describeTrust(exposure(), { adversePpm: 0, favourablePpm: 200_000 }).score > 0.5)
  })

  it('is rounded to six decimals and dated', () => {
    const seen = exposure(
      contribution('a', { adversePpm: 333_333 }),
      contribution('b', { favourablePpm: 333_333, support: { strengthPpm: 90_000, via: 'b' } }),
    )
    assert.deepEqual(describeTrust(seen, NO_TRACK_RECORD), {
      score: 0.261234,
      negative_exposure: 0.3,
      positive_support: 0.03,
      evidence_count: 2,
      as_of: ASOF,
    })
  })

  it('adds the log-odds of own history and of the neighbours', () => {
    const odds = ({ score }: { score: number }) => score / (1 - score)
    fc.assert(
      fc.property(exposures, fc.nat(900_000), fc.nat(90_000), (seen, adversePpm, favourablePpm) => {
        const own = { adversePpm, favourablePpm }
        const [both, alone, neighbours] = [
          describeTrust(seen, own),
          describeTrust(exposure(), own),
          describeTrust(seen, NO_TRACK_RECORD),
        ]
        fc.pre(both.score > 0.01 && neighbours.score > 0.01 && alone.score > 0.01)
        assert.ok(Math.abs(odds(both) / (odds(alone) * odds(neighbours)) - 1) < 0.001)
      }),
    )
  })

  it('does not grow with the number of neighbours beyond the three that matter most', () => {
    const many = (count: number, over: Partial<Contribution>) =>
      exposure(...Array.from({ length: count }, (_, n) => contribution(`ent_${n}`, over)))
    const bad = { adversePpm: 200_000 }
    assert.equal(
      describeTrust(many(80, bad), NO_TRACK_RECORD).score,
      describeTrust(many(3, bad), NO_TRACK_RECORD).score,
    )
    assert.ok(describeTrust(many(3, bad), NO_TRACK_RECORD).score < describeTrust(many(2, bad), NO_TRACK_RECORD).score)
    const experienced = { adversePpm: 100_000, favourablePpm: 600_000 }
    assert.equal(describeTrust(many(80, experienced), NO_TRACK_RECORD).negative_exposure, 0)
  })

  it('stays between 0 and 1, at most 0.5 with bad outcomes alone and at least 0.5 with good ones alone', () => {
    fc.assert(
      fc.property(exposures, (seen) => {
        const { score } = describeTrust(seen, NO_TRACK_RECORD)
        assert.ok(score >= 0 && score <= 1)
        const adverse = exposure(...seen.contributions.map((one) => ({ ...one, favourablePpm: 0 })))
        assert.ok(describeTrust(adverse, NO_TRACK_RECORD).score <= 0.5)
        const supported = exposure(...seen.contributions.map((one) => ({ ...one, adversePpm: 0 })))
        assert.ok(describeTrust(supported, NO_TRACK_RECORD).score >= 0.5)
      }),
    )
  })
})

describe('an explanation', () => {
  it('names the three paths with the largest share, and the links along them', () => {
    const seen = exposure(
      contribution('a', { adversePpm: 100_000 }),
      contribution('b', { adversePpm: 400_000, types: ['owner', 'payment'], withoutPaymentsPpm: 0 }),
      contribution('c', { adversePpm: 200_000 }),
      contribution('d', { adversePpm: 300_000 }),
      contribution('e', { favourablePpm: 900_000 }),
    )
    assert.deepEqual(explainExposure(seen), [
      { entityId: 'b', edges: ['owner', 'payment'], strength: 0.9, share: 0.444444, usesPayments: true },
      { entityId: 'd', edges: ['same_as'], strength: 0.9, share: 0.333333, usesPayments: false },
      { entityId: 'c', edges: ['same_as'], strength: 0.9, share: 0.222222, usesPayments: false },
    ])
  })

  it('is empty where no entity nearby is adverse', () => {
    assert.deepEqual(explainExposure(exposure(contribution('a', { favourablePpm: 500_000 }))), [])
  })

  it('comes with the exposure without payments, the only one that may lead to a decline', () => {
    const seen = exposure(contribution('a', { adversePpm: 500_000, types: ['payment'], withoutPaymentsPpm: 0 }))
    const { paths, ...figures } = summarizeExposure(seen)
    assert.deepEqual(figures, {
      negativeExposure: 0.45,
      negativeExposureWithoutPayments: 0,
      positiveSupport: 0,
      evidenceCount: 1,
      asOf: ASOF,
    })
    assert.equal(paths.length, 1)
  })
})
