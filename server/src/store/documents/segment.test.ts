import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { packSegment, SEGMENT_DECISIONS_MAX, splitIntoSegments, unpackSegment } from './segment.ts'

const documents = fc.record(
  {
    decision_id: fc.uuid(),
    body: fc.string({ unit: 'grapheme' }),
    facts: fc.json(),
    trace: fc.string({ unit: 'grapheme' }),
    graph: fc.constantFrom('', '{}'),
  },
  { noNullPrototype: true },
)

test('a segment unpacks to exactly the documents that it was packed from', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(documents, { minLength: 1, maxLength: SEGMENT_DECISIONS_MAX }), async (decisions) => {
      assert.deepEqual(unpackSegment(await packSegment(decisions)), decisions)
    }),
  )
})

test('decisions are split into as few segments as hold them, in their order and of nearly equal size', () => {
  for (let count = 0; count <= 100; count++) {
    const decisions = Array.from({ length: count }, (_, index) => index)
    const segments = splitIntoSegments(decisions)
    const sizes = segments.map(({ length }) => length)
    assert.deepEqual(segments.flat(), decisions)
    assert.equal(segments.length, Math.ceil(count / SEGMENT_DECISIONS_MAX))
    assert.ok(count === 0 || Math.max(...sizes) - Math.min(...sizes) <= 1, String(sizes))
  }
})

test('what is not a segment, or was altered, throws', async () => {
  const packed = await packSegment([{ decision_id: 'dec_1', body: '{}', facts: '{}', trace: '{}', graph: '{}' }])
  for (const altered of [Buffer.from('x'), packed.subarray(0, -3), Buffer.alloc(0)])
    assert.throws(() => unpackSegment(altered))
})
