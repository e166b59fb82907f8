import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalJson } from '../canonical-json.ts'
import { takeOutTexts } from './take-out-texts.ts'

const POLICY = canonicalJson({
  rules: [{ when: 'snapshot.job == "permanent" || snapshot.job == \'fixed\'' }],
  bins: ['gold'],
})

const documents = (
  values: Record<string, unknown>,
  { derived = {}, reference }: { derived?: Record<string, unknown>; reference?: string } = {},
) => {
  const features = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]))
  const lines = (all: Record<string, unknown>) => Object.entries(all).map(([feature, value]) => ({ feature, value }))
  return {
    body: canonicalJson({ id: 'dec_1', verdict: 'approve', ...(reference !== undefined && { reference }) }),
    facts: canonicalJson({ format: 1, features }),
    trace: canonicalJson({ derived: lines(derived), scorecard: lines({ ...values, ...derived }) }),
    graph: '{}',
  }
}

test('texts that callers measured go from facts and trace, also where a computed feature repeats them', () => {
  const was = documents(
    { 'snapshot.employer': 'Quastel', 'snapshot.months': 14, 'entity.country': 'DE' },
    { derived: { 'derived.key': 'at Quastel' } },
  )
  const left = documents(
    { 'snapshot.employer': '[erased]', 'snapshot.months': 14, 'entity.country': 'DE' },
    { derived: { 'derived.key': 'at [erased]' } },
  )
  assert.deepEqual(takeOutTexts(was, POLICY), left)
  assert.equal(takeOutTexts(left, POLICY), left, 'nothing is left to take out')
})

test('a text that the policy spells is one of its categories and stays', () => {
  for (const text of ['permanent', 'fixed', 'gold']) {
    const was = documents({ 'snapshot.job': text })
    assert.equal(takeOutTexts(was, POLICY), was, text)
  }
})

test('a feature that is no caller’s keeps its text, whatever callers sent beside it', () => {
  const left = takeOutTexts(documents({ 'snapshot.name': 'D', 'entity.country': 'DE' }), POLICY)!
  assert.deepEqual(JSON.parse(left.facts).features, {
    'entity.country': { value: 'DE' },
    'snapshot.name': { value: '[erased]' },
  })
  assert.match(left.trace, /"entity.country","value":"DE"/)
})

test('of two texts the longer one goes first', () => {
  const was = documents({ 'snapshot.a': 'Quast', 'snapshot.b': 'Quastel' }, { derived: { 'derived.key': 'Quastel' } })
  assert.doesNotMatch(takeOutTexts(was, POLICY)!.trace, /el"/)
})

test('the reference of the request goes from the answer', () => {
  assert.deepEqual(takeOutTexts(documents({}, { reference: 'app-1' }), POLICY), documents({}))
})

test('a document that cannot be read gives no answer to which texts it holds', () => {
  for (const altered of ['', '[]', '{']) assert.equal(takeOutTexts({ ...documents({}), facts: altered }, POLICY), null)
})
