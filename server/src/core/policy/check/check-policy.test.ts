import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import {
  editedDocument,
  type PolicyEdit,
  problemsOf,
  ruleOf,
  snapshotInput,
  withTerms,
} from '../../../../tests/edited-policy.ts'
import type { PolicyRule, PolicySegment } from '../policy-document.ts'

const { inputs, rules, scorecard, products, limit } = editedDocument({})
const REQUEST_HASH = { feature: 'request.hash', type: 'number', weight: 0 } as const
const REQUEST_AMOUNT = { feature: 'request.amount', type: 'number', weight: 0 } as const
const LATE = 'history.late > 1'

function withRule(rule: Partial<PolicyRule> & { action?: PolicyRule['then'] }): PolicyEdit {
  return { rules: [...rules, ruleOf({ id: 'it', when: LATE, action: 'decline', ...rule })] }
}

function positive(code = 'it') {
  return { reason: { code, label: `Test rule ${code}`, impact: 'positive' as const } }
}

/** The example of a segment in docs/policies.md, with a condition that the sandbox policy knows. */
function documentedSegment(): PolicySegment {
  const page = readFileSync(new URL('../../../../../docs/policies.md', import.meta.url), 'utf8')
  const block = /```yaml\n(segments:[\s\S]*?)```/.exec(page)![1]!
  const [segment] = parse(block).segments as PolicySegment[]
  return { ...segment!, when: LATE }
}

/** Edits of the sandbox policy, and what `policy check` says of them. */
const REFUSED: Record<string, [edit: PolicyEdit, message: RegExp]> = {
  'points for few payments, which are points against others': [
    withRule({ when: 'graph.negative_exposure < 0.2', action: 'points', points: 100 }),
    /rule 'it': graph\.negative_exposure includes payments and may not count towards a decline/,
  ],
  'points by chance': [
    {
      inputs: [...inputs, REQUEST_HASH],
      rules: [ruleOf({ id: 'it', when: 'request.hash < 5000', action: 'points', points: 100 })],
    },
    /rule 'it': request\.hash may not count against an applicant/,
  ],
  'a better tier that costs more because it is not listed': [
    { products: withTerms(products, { rates: [{ tier: 'A-', annual_rate: 0.1 }] }) },
    /tier 'A-' costs less than a better tier, 'A', which is not listed and costs the annual_rate of 0\.12/,
  ],
  'an external probability by chance': [
    {
      inputs: [...inputs, REQUEST_HASH],
      derived: [{ feature: 'derived.p', type: 'number', value: 'request.hash / 10000.0' }],
      scorecard: { ...scorecard, external_probability: 'derived.p' },
    },
    /^\/scorecard\/external_probability: request\.hash may not count against an applicant/,
  ],
  'an external probability by the amount': [
    {
      inputs: [...inputs, REQUEST_AMOUNT],
      derived: [{ feature: 'derived.p', type: 'number', value: 'request.amount / 100000.0' }],
      scorecard: { ...scorecard, external_probability: 'derived.p' },
    },
    /derived\.p depends on the requested amount, so it cannot be the probability/,
  ],
  'a scored derived feature without a reason for its absence': [
    {
      derived: [{ feature: 'derived.it', type: 'number', value: 'cashflow.reserve / 2.0' }],
      scorecard: {
        ...scorecard,
        characteristics: [
          ...scorecard.characteristics,
          {
            ...scorecard.characteristics[0]!,
            id: 'it',
            feature: 'derived.it',
          },
        ],
      },
    },
    /^\/derived\/0\/feature: derived\.it can be missing and is scored; name the reason to show then, as 'missing'/,
  ],
  'tiers of a segment without a number that a term of the document reads': [
    { segments: [{ name: 'thin', when: LATE, tiers: [{ tier: 'Starter', balance_multiple: 1 }] }] },
    /^\/segments\/0\/tiers: with these tiers, \/limit\/terms\/\d\/amount: .* tier 'Starter' has no 'cap'/,
  ],
  'tiers of a segment that the prices of the document do not know': [
    {
      products: withTerms(products, { rates: [{ tier: 'A+', annual_rate: 0.1 }] }),
      segments: [{ name: 'thin', when: LATE, tiers: [{ tier: 'Starter', cap: 1, balance_multiple: 1 }] }],
    },
    /^\/segments\/0\/tiers: with these tiers, \/products\/0\/rates\/0\/tier: there is no tier 'A\+'; write one of Starter/,
  ],
  'tiers of a segment without a number that a cap reads': [
    ({ limit, tiers }) => ({
      limit: { ...limit, terms: limit.terms.filter(({ amount }) => !amount?.includes('tier.')) },
      tiers: tiers.map((tier) => ({ ...tier, cap: 1 })),
      rules: [ruleOf({ id: 'it', when: LATE, action: 'cap', cap: 'tier.cap' })],
      segments: [{ name: 'thin', when: LATE, tiers: [{ tier: 'Starter' }] }],
    }),
    /^\/segments\/0\/tiers: with these tiers, \/rules\/0\/cap: .* tier 'Starter' has no 'cap'/,
  ],
  'a decline for a good reason': [
    withRule(positive()),
    /rule 'it' counts against the applicant \(decline\), so the impact of its reason is negative/,
  ],
  'a cap for a good reason': [
    withRule({ action: 'cap', cap: '100', ...positive() }),
    /impact of its reason is negative/,
  ],
  'a review for a good reason': [
    withRule({ action: 'manual_review', ...positive() }),
    /impact of its reason is negative/,
  ],
  'one code with two impacts': [
    {
      rules: [
        ruleOf({ id: 'one', when: LATE, action: 'points', points: 5, ...positive('same') }),
        ruleOf({
          id: 'two',
          when: LATE,
          action: 'points',
          points: -5,
          reason: { code: 'same', label: 'Test rule same', impact: 'negative' },
        }),
      ],
    },
    /the code 'same' has another impact at \/rules\/0\/reason; give it the same impact, or another code/,
  ],
  'a cap that covers a group': [
    withRule({ action: 'cap', cap: '100', covers: 'income' }),
    /rule 'it' ranks with the limit terms, and covers nothing; remove 'covers'/,
  ],
  'points that cover a group': [
    withRule({ action: 'points', points: -5, covers: 'income' }),
    /rule 'it' ranks with the scorecard, and covers nothing; remove 'covers'/,
  ],
  'the age of a derived feature that reads nothing that ages': [
    {
      derived: [{ feature: 'derived.it', type: 'number', value: 'history.late * 2' }],
      rules: [...rules, ruleOf({ id: 'it', when: 'age_days(derived.it) > 30', action: 'manual_review' })],
    },
    /derived\.it reads nothing that ages; remove age_days/,
  ],
  'a tier that does not exist': [
    { after_score: [ruleOf({ id: 'it', when: 'history.late > 1 && tier.name in ["A", "Z"]', action: 'decline' })] },
    /^\/after_score\/0\/when: column 40: tier\.name is never this; write one of A\+, A, /,
  ],
  'a segment that does not exist': [
    { after_score: [ruleOf({ id: 'it', when: '"thin" == segment.name', action: 'decline' })] },
    /segment\.name is never this; write one of ""/,
  ],
  'a segment with the name of no segment': [
    { segments: [{ name: 'none', when: LATE, verdicts: { cutoff: 600 } }] },
    /'none' stands for no segment in tests; choose another name/,
  ],
}

describe('a policy is refused', () => {
  for (const [why, [edit, message]] of Object.entries(REFUSED))
    it(`for ${why}`, () => {
      const problems = problemsOf(edit).filter((problem) => !problem.includes('warning:'))
      assert.match(problems.join('\n'), new RegExp(message, 'm'))
    })
})

describe('a cutoff above base and references is worth a warning', () => {
  const sum = scorecard.characteristics.reduce((all, { reference }) => all + reference, scorecard.base)
  const warned = (edit: PolicyEdit) => problemsOf(edit).map((problem) => problem.split(': ')[0])

  it('for the document', () => {
    const withCutoff = (cutoff: number) => warned(({ verdicts }) => ({ verdicts: { ...verdicts, cutoff } }))
    assert.deepEqual([withCutoff(sum), withCutoff(sum + 1)], [[], ['/verdicts/cutoff']])
  })

  it('for a segment with a cutoff or a scorecard of its own', () => {
    const ofSegment = (segment: Partial<PolicySegment>) =>
      warned({ segments: [{ name: 'thin', when: LATE, ...segment }] })
    assert.deepEqual(ofSegment({ verdicts: { cutoff: sum } }), [])
    assert.deepEqual(ofSegment({ verdicts: { cutoff: sum + 1 } }), ['/segments/0'])
    assert.deepEqual(ofSegment({ scorecard: { ...scorecard, base: 0 } }), ['/segments/0'])
  })
})

it('a policy that lends and does not count what is on offer, in each of its currencies, is warned of it', () => {
  const without = (...names: string[]) => inputs.filter(({ feature }) => !names.includes(feature))
  // The terms of the sandbox policy read them, so the inputs alone are looked at.
  const warned = (edit: PolicyEdit) =>
    problemsOf(edit).filter((problem) => /warning: '(offers|history)\.open_/.test(problem)).length
  assert.equal(warned({}), 0)
  assert.equal(warned({ inputs: without('offers.open_amount') }), 1)
  assert.equal(warned({ inputs: without('history.outstanding', 'offers.open_amount') }), 1, 'also if it reads neither')
  for (const name of ['offers.open_in_other_currency', 'history.open_in_other_currency']) {
    assert.equal(warned({ inputs: without(name) }), 1, name)
    const { currencies } = limit
    assert.equal(warned({ inputs: without(name), limit: { ...limit, currencies: currencies.slice(0, 1) } }), 0)
  }
  const access = { product: 'default', kind: 'access' as const }
  assert.equal(warned({ inputs: without('offers.open_amount'), products: [access] }), 0)
})

describe('a policy is accepted', () => {
  it('with the segment that the documentation shows', () => {
    const problems = problemsOf({ segments: [documentedSegment()] })
    assert.deepEqual(
      problems.filter((problem) => !problem.includes('warning:')),
      [],
    )
  })

  it('with the age of a derived feature that reads something that ages', () => {
    const edit: PolicyEdit = {
      inputs: [...inputs, snapshotInput('a')],
      derived: [{ feature: 'derived.it', type: 'number', value: 'snapshot.a * history.late' }],
      rules: [...rules, ruleOf({ id: 'it', when: 'age_days(derived.it) > 30', action: 'manual_review' })],
    }
    assert.deepEqual(problemsOf(edit), [])
  })

  it('with tiers of segments in the rules of the document', () => {
    const edit: PolicyEdit = {
      segments: [{ name: 'thin', when: LATE, tiers: [{ tier: 'Starter', cap: 1, balance_multiple: 1 }] }],
      after_score: [
        ruleOf({ id: 'it', when: 'tier.name == "Starter" && segment.name in ["thin", ""]', action: 'manual_review' }),
      ],
    }
    assert.deepEqual(problemsOf(edit), [])
  })
})
