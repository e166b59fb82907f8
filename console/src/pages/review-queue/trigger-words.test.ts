import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setNotation } from '../../components/money/number-notation.ts'
import type { ListedCase } from './review-case.ts'
import { explainTrigger, triggerWords } from './trigger-words.ts'

after(() => setNotation('comma_point'))

const NOTHING: ListedCase['trigger'] = {
  evidence: 'stored',
  settled_by: null,
  reason: null,
  confidence_ppm: 645_990,
  completeness_ppm: 84_500,
  missing: [],
  confidence_min_ppm: 646_000,
  completeness_min_ppm: 500_000,
}
const listed = (trigger: Partial<ListedCase['trigger']>, score = 1_250.5) => ({
  trigger: { ...NOTHING, ...trigger },
  decision: { score, cutoff: 1_200 },
})

test('the words of a trigger have their figures in the notation of the person', () => {
  setNotation('point_comma')
  assert.equal(
    triggerWords(listed({ settled_by: 'completeness' })).words,
    '8,4\u00a0% of the inputs known, policy asks for 50\u00a0%',
  )
  assert.equal(
    explainTrigger(listed({ settled_by: 'confidence' })),
    '1.250,5 clears the cutoff of 1.200, but with 64,5\u00a0% confidence. The policy asks for 64,6\u00a0%.',
  )
  assert.match(explainTrigger(listed({ settled_by: 'confidence' }, 1_199.5)), /^1\.199,5 misses the cutoff of 1\.200, /)
  setNotation('comma_point')
  assert.equal(
    triggerWords(listed({ settled_by: 'confidence' })).words,
    '64.5\u00a0% sure, policy asks for 64.6\u00a0%',
  )
})

test('a rule is named by its reason, and evidence that was deleted is said to be', () => {
  const reason = { code: 'linked_to_default', label: 'Linked to a default.' }
  assert.deepEqual(triggerWords(listed({ settled_by: 'review_rule', reason })), {
    title: 'linked_to_default',
    isCode: true,
    words: 'Linked to a default.',
  })
  assert.equal(
    explainTrigger(listed({ settled_by: 'review_rule', reason })),
    'A rule asks for a person: linked to a default.',
  )
  assert.equal(
    explainTrigger(listed({ settled_by: 'data_questioned', reason })),
    'A rule questions the data: linked to a default.',
  )
  assert.match(explainTrigger(listed({})), /not stored any more/)
  assert.equal(triggerWords(listed({})).title, 'Left to a person')
  assert.equal(triggerWords(listed({ evidence: 'altered', reason })).title, 'Evidence altered')
  assert.match(explainTrigger(listed({ evidence: 'altered' })), /was altered and cannot be read/)
  assert.equal(triggerWords(listed({ settled_by: 'limit_unknown', missing: ['a.b'] })).words, 'a.b missing')
})
