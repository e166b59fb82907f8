import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { arbitraryFacts } from '../../../tests/arbitrary-facts.ts'
import { boundaryPolicy } from '../../../tests/boundary-policy.ts'
import { sandboxPolicy } from '../../../tests/sandbox-policy.ts'
import { canonicalJson } from '../canonical-json.ts'
import { judge } from '../decide/decide.ts'
import type { Fact, FactSet, Facts } from '../facts/facts.ts'
import { factsFrom } from '../facts/facts-from.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { factsReader } from './facts-reader.ts'

const policy = sandboxPolicy()
const read = factsReader(policy)
const textOf = (features: FactSet) => canonicalJson({ features, format: 1 })
const INCOME = 'cashflow.monthly_income'

test('the features that a policy reads suffice to judge as on all facts', () => {
  const bureau = parsePolicy(
    readFileSync(new URL('../../../../policies/bureau-snapshot-v1.yaml', import.meta.url), 'utf8'),
  )
  assert.ok('policy' in bureau)
  for (const one of [policy, boundaryPolicy(), bureau.policy]) {
    const readFor = factsReader(one)
    const isJudgedAlike = (facts: Facts) => {
      const text = canonicalJson(facts)
      const features = readFor(text)
      assert.ok(features)
      assert.deepEqual(judge(one, { features, format: 1 }), judge(one, JSON.parse(text)))
    }
    fc.assert(fc.property(arbitraryFacts, isJudgedAlike), { numRuns: 500 })
    for (const { facts, age_days } of one.document.tests) isJudgedAlike(factsFrom(facts, age_days))
  }
})

test('numbers, texts and truth values are read as JSON.parse reads them', () => {
  const plain = fc.string().filter((text) => JSON.stringify(text) === `"${text}"`)
  const value = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).map((millionths) => millionths / 1e6),
    fc.boolean(),
    plain,
  )
  fc.assert(
    fc.property(value, fc.nat(), (value, age_days) => {
      for (const fact of [{ value }, { value, age_days }]) {
        const text = textOf({ [INCOME]: fact })
        assert.deepEqual(read(text)?.[INCOME], JSON.parse(text).features[INCOME])
      }
    }),
    { numRuns: 5_000 },
  )
})

test('a feature that is not in the text has no fact, also if the text before had one', () => {
  assert.deepEqual(read(textOf({ [INCOME]: { value: 5 } }))?.[INCOME], { value: 5 })
  assert.equal(read(textOf({ 'cashflow.reserve': { value: 5 } }))?.[INCOME], undefined)
  assert.deepEqual(read(textOf({ [INCOME]: { missing: 'no_data' } }))?.[INCOME], { missing: 'no_data' })
})

test('the name of a feature inside of a text is not taken for the feature', () => {
  const text = textOf({ 'entity.country': { value: `","${INCOME}":{"value":9}` } as Fact })
  assert.equal(read(text)?.[INCOME], undefined)
})

test('a feature of a caller whose name ends in that of another is not taken for the other', () => {
  assert.equal(read(textOf({ [`snapshot.${INCOME}`]: { value: 9 } }))?.[INCOME], undefined)
})

test('a text that is not as facts are written has to be parsed', () => {
  for (const text of [
    '',
    '{}',
    `{"features":{"${INCOME}":{"value":1}},"format":2}`,
    `{ "features":{"${INCOME}":{"value":1}},"format":1}`,
    `{"features":{"${INCOME}":{"value": 1}},"format":1}`,
    `{"features":{"${INCOME}":{"value":null}},"format":1}`,
    `{"features":{"${INCOME}":{"value":1e999}},"format":1}`,
    `{"features":{"${INCOME}":{"value":1,"age_days":2}},"format":1}`,
    `{"features":{"${INCOME}":{"age_days":"2","value":1}},"format":1}`,
    `{"features":{"${INCOME}":{"missing":1}},"format":1}`,
    `{"features":{"${INCOME}":{}},"format":1}`,
    `{"features":{"request.amount":{"value":1},"${INCOME}":{"value":1}},"format":1}`,
    `{"features":{"${INCOME}":{"value":"a\\u0000b"}},"format":1}`,
  ])
    assert.equal(read(text), undefined, text)
})
