import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decide } from '../src/core/decide/decide.ts'
import { compilePolicy } from '../src/core/policy/compile/compile-policy.ts'
import { type Ask, drawImprovement, scalesFor, seededBelow, worsenedBy, worsenedByAsking } from './improvements.ts'
import { sandboxPolicy } from './sandbox-policy.ts'

// A sample; `npm run study:monotone` makes the study, with 100,000 and more of each.
const SAMPLE = 2_500
const policy = sandboxPolicy()
const scales = scalesFor(policy)

describe('an improvement of one fact', () => {
  for (const ask of ['credit', 'access'] satisfies Ask[])
    it(`never worsens verdict, limit or probability of ${ask}, in ${SAMPLE} draws`, () => {
      const below = seededBelow(19_990_701)
      let changed = 0
      for (let count = 0; count < SAMPLE; count++) {
        const drawn = drawImprovement(below, { scales, ask })
        assert.deepEqual(worsenedBy(policy, drawn), [], `${drawn.improved}: ${JSON.stringify(drawn.before)}`)
        if (decide(policy, drawn.before).verdict !== decide(policy, drawn.after).verdict) changed += 1
      }
      assert.ok(changed > SAMPLE / 100, `only ${changed} verdicts changed, so the sample shows little`)
    })
})

it('asking for more never gives a smaller limit, and asking for less never a worse verdict', () => {
  const below = seededBelow(19_990_702)
  let offered = 0
  for (let count = 0; count < SAMPLE; count++) {
    const { before } = drawImprovement(below, { scales, ask: 'credit' })
    const less = 1 + below(60_000)
    const amounts = { less, more: less + 1 + below(60_000) }
    assert.deepEqual(worsenedByAsking(policy, before, amounts), [], JSON.stringify({ amounts, before }))
    if (decide(policy, before).limit !== null) offered += 1
  }
  assert.ok(offered > SAMPLE / 50, `only ${offered} got a limit, so the sample shows little`)
})

it('a policy that punishes a better fact is found', () => {
  const { document } = policy
  const [first, ...others] = document.scorecard.characteristics
  const bins = first!.bins.map((bin) => ({ ...bin, points: 62 - bin.points }))
  const compiled = compilePolicy({
    ...document,
    scorecard: { ...document.scorecard, characteristics: [{ ...first!, bins }, ...others] },
    // What the labels say is about the bins as they were.
    meanings: [],
    tests: [],
  })
  assert.ok('policy' in compiled, JSON.stringify(compiled))
  const below = seededBelow(1)
  const found = Array.from({ length: 1000 }, () =>
    worsenedBy(compiled.policy, drawImprovement(below, { scales, ask: 'credit' })),
  )
  assert.ok(found.some((worsened) => worsened.length > 0))
})
