import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { arbitraryFacts, GOOD } from '../../../tests/arbitrary-facts.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { canonicalJson } from '../canonical-json.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { decide } from './decide.ts'
import { verdictTrack, withValues } from './verdict-track.ts'

const policy = sandboxPolicy()
const AMOUNT = { feature: 'request.amount', from: 100, to: 60_000, step: 100 }
const OVERDRAWN = { feature: 'cashflow.overdrawn_days_365', from: 0, to: 60, step: 1 }

describe('the verdicts along a feature', () => {
  it('are those that decide gives at both ends of every stretch, without gaps between them', () => {
    fc.assert(
      fc.property(arbitraryFacts, fc.constantFrom(AMOUNT, OVERDRAWN), (facts, tried) => {
        const stretches = verdictTrack(policy, facts, tried)
        assert.equal(stretches[0]!.from, tried.from)
        assert.equal(stretches.at(-1)!.to, tried.to)
        for (const [index, { from, to, verdict }] of stretches.entries()) {
          for (const value of [from, to])
            assert.equal(decide(policy, withValues(facts, { [tried.feature]: value })).verdict, verdict)
          const next = stretches[index + 1]
          if (next) {
            assert.notEqual(next.verdict, verdict)
            assert.ok(Math.abs(next.from - to - tried.step) < 1e-6, 'the border is exact to the step')
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  it('turn to a review at four overdrawn days and to a decline at twelve', () => {
    const stretches = verdictTrack(policy, factsFrom(GOOD), OVERDRAWN)
    assert.deepEqual(
      stretches.slice(-2).map(({ from, verdict }) => [from, verdict]),
      [
        [4, 'manual_review'],
        [12, 'decline'],
      ],
    )
  })

  it('leave the given facts as they are', () => {
    const facts = factsFrom(GOOD)
    const before = canonicalJson(facts)
    verdictTrack(policy, facts, AMOUNT)
    assert.equal(canonicalJson(facts), before)
    assert.deepEqual(withValues(facts, {}), facts)
  })
})
