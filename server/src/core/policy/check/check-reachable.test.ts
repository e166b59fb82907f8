import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { editedDocument, problemsOf, ruleOf, snapshotInput } from '../../../../tests/edited-policy.ts'
import type { PolicySegment } from '../policy-document.ts'

const { inputs } = editedDocument({})
const SENT = [
  snapshotInput('kind', 'string'),
  snapshotInput('owner', 'boolean'),
  { feature: 'request.date', type: 'string', weight: 0 } as const,
]
/** What is said of one more rule with this condition. */
const rule = (when: string) =>
  problemsOf(({ rules }) => ({
    inputs: [...inputs, ...SENT],
    rules: [ruleOf({ id: 'it', when, action: 'manual_review' }), ...rules],
  }))
const segments = (...conditions: string[]) =>
  problemsOf({
    inputs: [...inputs, ...SENT],
    segments: conditions.map((when, index): PolicySegment => ({ name: `s${index}`, when, verdicts: { cutoff: 540 } })),
  })

describe('a condition that can never hold is refused', () => {
  for (const when of [
    'history.late > 5 && history.late < 2',
    'history.late > 2 && history.late < 2',
    'history.late >= 2 && !(history.late > 1)',
    'snapshot.kind == "a" && snapshot.kind == "b"',
    'snapshot.kind in ["a", "b"] && !(snapshot.kind in ["a", "b", "c"])',
    'snapshot.owner && !snapshot.owner',
    '!has(history.late) && history.late > 1',
    'request.date >= "2027-01-01" && request.date < "2026-01-01"',
    'false',
  ]) {
    it(when, () =>
      assert.deepEqual(rule(when), ["/rules/0/when: rule 'it' can never hold; correct a bound, or remove it"]),
    )
  }
})

describe('a condition that holds for some values is accepted', () => {
  for (const when of [
    'history.late > 1 && history.late < 2',
    'history.late >= 2 && history.late <= 2',
    'history.late > -1',
    'snapshot.kind != "a" && snapshot.kind > "a"',
    'snapshot.kind in ["a"] || snapshot.owner',
    '!has(history.late)',
    'history.late > 5 && history.late * 2 < 2', // it computes, and is not judged
    'request.date >= "2026-11-01" && request.date < "2027-01-01"',
  ]) {
    it(when, () => assert.deepEqual(rule(when), []))
  }
})

it('a day that is not in the calendar is refused with its place', () => {
  assert.deepEqual(rule('request.date >= "2026-02-30"'), [
    '/rules/0/when: rule \'it\', column 17: "2026-02-30" is no day of the calendar; write one as "2027-01-31"',
  ])
  for (const day of ['2026-13-01', '2026-00-10', '2026-1-1', '01.02.2026', '2026-02-29', '2100-02-29', '2026-04-31'])
    assert.match(rule(`request.date == "${day}"`)[0] ?? '', /is no day of the calendar/, day)
  for (const day of ['2024-02-29', '2000-02-29', '2026-12-31']) assert.deepEqual(rule(`request.date == "${day}"`), [])
  assert.match(rule('"2026-02-30" > request.date')[0] ?? '', /is no day of the calendar/)
})

describe('a segment', () => {
  const dead = (index: number) =>
    `/segments/${index}/when: segment 's${index}' has no applicants: wherever it holds, an earlier segment does; move it up, or narrow those above it`

  it('that holds only where earlier ones do is refused', () => {
    assert.deepEqual(segments('history.late > 1', 'history.late > 3'), [dead(1)])
    assert.deepEqual(segments('history.late > 1', 'history.late <= 1', 'history.late > 0'), [dead(2)])
    assert.deepEqual(segments('!has(history.late)', 'has(history.late)', 'snapshot.owner'), [dead(2)])
    assert.deepEqual(segments('true', 'snapshot.owner'), [dead(1)])
  })

  it('that holds elsewhere too is accepted', () => {
    assert.deepEqual(segments('history.late > 3', 'history.late > 1'), [])
    assert.deepEqual(
      segments('history.late > 1', 'history.late <= 1', 'snapshot.owner'),
      [],
      'the value may be missing',
    )
    assert.deepEqual(segments('history.late + 0 > 1', 'history.late > 3'), [], 'what computes is not judged')
  })

  it('that can never hold is refused once', () => {
    assert.deepEqual(segments('history.late > 1', 'history.late > 3 && history.late < 2'), [
      "/segments/1/when: segment 's1' can never hold; correct a bound, or remove it",
    ])
  })
})
