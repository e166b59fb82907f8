import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  charactersIn,
  packSegment,
  SEGMENT_CHARACTERS_MAX,
  SEGMENT_DECISIONS_MAX,
  splitIntoSegments,
  unpackSegment,
} from './segment.ts'

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

const withTrace = (trace: string) => ({ documents: { body: '', facts: '', trace, graph: '' } })

test('a segment unpacks to exactly the documents that it was packed from', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(documents, { minLength: 1, maxLength: SEGMENT_DECISIONS_MAX }), async (decisions) => {
      assert.deepEqual(unpackSegment(await packSegment(decisions)), decisions)
    }),
  )
})

test('of a segment only the wanted documents are unpacked', async () => {
  const decision = fc.array(documents, { minLength: 1, maxLength: SEGMENT_DECISIONS_MAX })
  await fc.assert(
    fc.asyncProperty(decision, fc.nat(), async (decisions, index) => {
      const { decision_id: id } = decisions[index % decisions.length]!
      const wanted = decisions.filter(({ decision_id }) => decision_id === id)
      assert.deepEqual(unpackSegment(await packSegment(decisions), [id, 'another']), wanted)
    }),
  )
})

test('decisions are split into as few segments as hold them, in their order and of nearly equal size', () => {
  for (let count = 0; count <= 100; count++) {
    const decisions = Array.from({ length: count }, (_, index) => withTrace(String(index)))
    const segments = splitIntoSegments(decisions)
    const sizes = segments.map(({ length }) => length)
    assert.deepEqual(segments.flat(), decisions)
    assert.equal(segments.length, Math.ceil(count / SEGMENT_DECISIONS_MAX))
    assert.ok(count === 0 || Math.max(...sizes) - Math.min(...sizes) <= 1, String(sizes))
  }
})

test('decisions with large documents are split further, so that a segment unpacks within its bound', () => {
  const sizesOf = (...lengths: number[]) =>
    splitIntoSegments(lengths.map((length) => withTrace('x'.repeat(length)))).map(({ length }) => length)
  const third = Math.floor(SEGMENT_CHARACTERS_MAX / 3)
  assert.deepEqual(sizesOf(third, third, third), [3])
  assert.deepEqual(sizesOf(third, third, third, third), [2, 2])
  assert.deepEqual(sizesOf(1, 1, third * 2, third * 2), [2, 1, 1])
  assert.deepEqual(sizesOf(third * 4), [1])
  assert.equal(charactersIn([withTrace('xyz').documents, withTrace('z').documents]), 4)
})

test('what is not a segment, or was altered, throws', async () => {
  const packed = await packSegment([{ decision_id: 'dec_1', body: '{}', facts: '{}', trace: '{}', graph: '{}' }])
  for (const altered of [Buffer.from('x'), packed.subarray(0, -3), Buffer.alloc(0)])
    assert.throws(() => unpackSegment(altered))
})
