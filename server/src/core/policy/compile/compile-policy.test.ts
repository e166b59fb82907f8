import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GOOD } from '../../../../tests/arbitrary-facts.ts'
import { sandboxPolicy } from '../../../../tests/sandbox-policy.ts'
import { canonicalJson, sha256 } from '../../canonical-json.ts'
import { decide } from '../../decide/decide.ts'
import { factsFrom } from '../../facts/facts-from.ts'
import type { PolicyDocument } from '../policy-document.ts'
import { compilePolicy, compileStoredPolicy } from './compile-policy.ts'

const { document } = sandboxPolicy()
const facts = factsFrom(GOOD)

function stored(policy: unknown): { document: string; checksum: string } {
  const text = canonicalJson(policy)
  return { document: text, checksum: sha256(text) }
}

/** Edits of the sandbox policy that are refused in a new policy, but can still decide. */
const REFUSED_IN_NEW_POLICIES: Record<string, (policy: PolicyDocument) => PolicyDocument> = {
  'has one code with two labels': (policy) => ({
    ...policy,
    missing_reasons: policy.missing_reasons.map((reason) => ({ ...reason, label: `${reason.label}, again` })),
  }),
  'declines by payments': (policy) => ({
    ...policy,
    rules: policy.rules.map((rule) =>
      rule.id === 'abuse_on_record' ? { ...rule, when: 'graph.negative_exposure > 0.9' } : rule,
    ),
  }),
  'compares lists': (policy) => ({
    ...policy,
    rules: policy.rules.map((rule) => (rule.id === 'abuse_on_record' ? { ...rule, when: '[1] == [1]' } : rule)),
  }),
  'compares a number with text': (policy) => ({
    ...policy,
    rules: policy.rules.map((rule) =>
      rule.id === 'abuse_on_record' ? { ...rule, when: 'history.abuse == "yes"' } : rule,
    ),
  }),
  'has a test with a misspelled fact': (policy) => ({
    ...policy,
    tests: [{ name: 'misspelled', facts: { 'history.abused': 1 }, expect: {} }],
  }),
  'has an unknown field': (policy) => ({ ...policy, colour: 'green' }) as PolicyDocument,
}

describe('a stored policy', () => {
  for (const [what, edit] of Object.entries(REFUSED_IN_NEW_POLICIES)) {
    it(`that ${what} still decides, though it could not be proposed today`, () => {
      const edited = edit(document)
      if (!('colour' in edited)) assert.ok('problems' in compilePolicy(edited))
      const row = stored(edited)
      const result = compileStoredPolicy(row)
      assert.ok('policy' in result, JSON.stringify(result))
      assert.equal(result.policy.checksum, row.checksum)
      assert.equal(decide(result.policy, facts).verdict, 'approve')
    })
  }

  it('with another checksum is reported as altered', () => {
    const row = stored(document)
    for (const text of [row.document.replace('"base":', '"base":1'), `${row.document} `, 'nonsense', '{}', 'null', ''])
      assert.deepEqual(compileStoredPolicy({ ...row, document: text }), { altered: true })
  })

  it('that cannot run has problems, and is not reported as altered', () => {
    const { rules, products, tiers, inputs } = document
    const cases: [policy: PolicyDocument, path: RegExp, message: RegExp][] = [
      [{ ...document, rules: [{ ...rules[0]!, when: 'future.function()' }] }, /^rules 0 when$/, /not available/],
      [{ ...document, inputs: inputs.slice(1) }, /^(rules|scorecard)/, /not among the inputs/],
      [{ ...document, products: products.filter(({ product }) => product !== 'default') }, /^products$/, /'default'/],
      [{ ...document, tiers: tiers.slice(0, -1) }, /^tiers$/, /without a 'from'/],
    ]
    for (const [policy, path, message] of cases) {
      const result = compileStoredPolicy(stored(policy))
      assert.ok('problems' in result, String(message))
      assert.match(result.problems[0]!.path.join(' '), path)
      assert.match(result.problems[0]!.message, message)
    }
    const shapeless = compileStoredPolicy(stored({ rules: 5 }))
    assert.ok('problems' in shapeless)
    assert.match(shapeless.problems[0]!.message, /not a policy that this version can run/)
  })
})
