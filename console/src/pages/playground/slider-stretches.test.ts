import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stretchesOf } from './slider-stretches.ts'

const VERDICTS = ['decline', 'manual_review', 'approve_with_conditions', 'approve'] as const
const edge = fc.oneof(fc.constantFrom(0, -1, 1e12, 1e-9), fc.double({ min: -1e12, max: 1e12, noNaN: true }))

test('the stretches of any track follow each other from one end of the slider to the other', () => {
  fc.assert(
    fc.property(fc.array(edge, { minLength: 2, maxLength: 8 }), (values) => {
      const edges = values.sort((a, b) => a - b)
      const [from, to] = [edges[0]!, edges.at(-1)!]
      const track = edges.slice(1).map((end, index) => ({
        from: edges[index]!,
        to: end,
        verdict: VERDICTS[index % VERDICTS.length]!,
        settled_by: 'score' as const,
      }))
      const stretches = stretchesOf({ from, to, track })
      assert.equal(stretches[0]!.left, 0)
      assert.equal(stretches.at(-1)!.right, from < to ? 100 : 0)
      stretches.forEach(({ left, right }, index) => {
        assert.ok(left >= 0 && left <= right && right <= 100, `a stretch from ${left} % to ${right} %`)
        assert.ok(index === 0 || left === stretches[index - 1]!.right, 'the stretches leave a gap')
      })
    }),
  )
})
