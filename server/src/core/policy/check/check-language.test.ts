import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  editedDocument,
  type PolicyEdit,
  problemsOf,
  ruleOf,
  snapshotInput,
  withTerms,
} from '../../../../tests/edited-policy.ts'
import { compilePolicy } from '../compile/compile-policy.ts'
import type { PolicySegment } from '../policy-document.ts'

const inputs = editedDocument({}).inputs
const REQUEST_HASH = { feature: 'request.hash', type: 'number', weight: 0 } as const
const REQUEST_AMOUNT = { feature: 'request.amount', type: 'number', weight: 0 } as const

function derived(value: string, type: 'number' | 'string' | 'boolean' = 'number') {
  return { feature: 'derived.it', type, value } as const
}

/** Edits of the sandbox policy, and what `policy check` says first. */
const REFUSED: Record<string, [edit: PolicyEdit, message: RegExp]> = {
  'a derived feature of another type': [
    { derived: [derived('history.late > 1')] },
    /^\/derived\/0\/value: derived\.it, column 1: must be a number, but is true or false$/,
  ],
  'a derived feature that reads itself': [
    { derived: [derived('derived.it + 1')] },
    /derived\.it, column 1: derived\.it is not defined before this; add it under derived, above its use/,
  ],
  'a derived feature that reads a later one': [
    { derived: [derived('derived.later'), { feature: 'derived.later', type: 'number', value: 'history.late' }] },
    /derived\.later is not defined before this/,
  ],
  'a derived feature that reads the age of a later one': [
    {
      derived: [
        derived('age_days(derived.later)'),
        { feature: 'derived.later', type: 'number', value: 'history.late' },
      ],
    },
    /derived\.later is not defined before this/,
  ],
  'a derived feature with an undefined reason': [
    { derived: [{ ...derived('history.late'), missing: 'nowhere' }] },
    /'nowhere' is not among the missing_reasons; add it there with a label/,
  ],
  'a derived feature that smuggles payments into a decline': [
    {
      derived: [derived('graph.negative_exposure * 2')],
      rules: [ruleOf({ id: 'it', when: 'derived.it > 1', action: 'decline' })],
    },
    /rule 'it': graph\.negative_exposure includes payments/,
  ],
  'a derived feature that smuggles the amount into the limit': [
    ({ limit }) => ({
      inputs: [...inputs, REQUEST_AMOUNT],
      derived: [derived('request.amount * 2')],
      limit: { ...limit, terms: [{ ...limit.terms[4]!, amount: 'derived.it' }] },
    }),
    /derived\.it depends on the requested amount/,
  ],
  'the score in a rule before it': [
    { rules: [ruleOf({ id: 'it', when: 'score.total < 500', action: 'decline' })] },
    /rule 'it', column 1: score\.total is not known yet; use it under after_score, or in a limit term/,
  ],
  'the limit in a limit term': [
    ({ limit }) => ({ limit: { ...limit, terms: [{ ...limit.terms[4]!, amount: 'limit.amount' }] } }),
    /limit\.amount is not known yet; use it under after_score$/,
  ],
  'points after the score': [
    { after_score: [ruleOf({ id: 'it', when: 'score.total < 500', action: 'points', points: 5 })] },
    /rule 'it' adds points, which comes too late here; move it to rules/,
  ],
  'points that are not said': [
    { rules: [ruleOf({ id: 'it', when: 'history.late > 1', action: 'points' })] },
    /rule 'it' adds points; say how many, as 'points'/,
  ],
  'points with the wrong impact': [
    {
      rules: [
        ruleOf({
          id: 'it',
          when: 'history.late > 1',
          action: 'points',
          points: -5,
          reason: { code: 'it', label: 'It', impact: 'positive' },
        }),
      ],
    },
    /rule 'it' adds -5 points, so the impact of its reason is negative/,
  ],
  'a cap that is not said': [
    { rules: [ruleOf({ id: 'it', when: 'history.late > 1', action: 'cap' })] },
    /rule 'it' caps the limit; say at which amount, as 'cap'/,
  ],
  'a cap that depends on the amount': [
    {
      inputs: [...inputs, REQUEST_AMOUNT],
      rules: [ruleOf({ id: 'it', when: 'history.late > 1', action: 'cap', cap: 'request.amount / 2.0' })],
    },
    /cap of rule 'it', column 1: request\.amount depends on the requested amount/,
  ],
  'a cap with the name of a term': [
    { rules: [ruleOf({ id: 'debt', when: 'history.late > 1', action: 'cap', cap: '100' })] },
    /a limit term is named 'debt' too; give the rule another id/,
  ],
  'one id before and after the score': [
    { after_score: [ruleOf({ id: 'payments_returned', when: 'score.total < 500', action: 'decline' })] },
    /'payments_returned' is there twice; rename one/,
  ],
  'a decline by chance': [
    {
      inputs: [...inputs, REQUEST_HASH],
      rules: [ruleOf({ id: 'it', when: 'request.hash < 500', action: 'decline' })],
    },
    /rule 'it': request\.hash may not count against an applicant, which would have no reason that is true/,
  ],
  'a cap by chance, by way of a derived feature': [
    {
      inputs: [...inputs, REQUEST_HASH],
      derived: [derived('request.hash / 100.0')],
      rules: [ruleOf({ id: 'it', when: 'derived.it < 5', action: 'cap', cap: '100' })],
    },
    /request\.hash may not count against an applicant/,
  ],
  'a cap with a name that limits use': [
    { rules: [ruleOf({ id: 'risk', when: 'history.late > 1', action: 'cap', cap: '100' })] },
    /'risk' stands for something else in a limit; give the rule another id/,
  ],
  'a cause that does not exist': [
    { rules: [ruleOf({ id: 'it', when: 'missing_because(history.late) == "expired"', action: 'manual_review' })] },
    /no value is missing because of this; write "" for a known value, or one of no_data, /,
  ],
  'the age of what does not age': [
    { rules: [ruleOf({ id: 'it', when: 'age_days(history.late) > 30', action: 'manual_review' })] },
    /history\.late does not age; remove age_days/,
  ],
  'a pattern that is not written out': [
    {
      rules: [
        ruleOf({ id: 'it', when: 'matches(consent.identity_data, consent.identity_data)', action: 'manual_review' }),
      ],
    },
    /matches takes a text and a pattern in quotes/,
  ],
  'a wrong pattern': [
    { rules: [ruleOf({ id: 'it', when: 'consent.identity_data.matches("(a")', action: 'manual_review' })] },
    /a '\(' is not closed/,
  ],
  'a pattern that every amount would run': [
    { after_score: [ruleOf({ id: 'it', when: 'consent.identity_data.matches("a")', action: 'manual_review' })] },
    /rules after the score run for each amount; put matches into a derived feature/,
  ],
  'more patterns than a decision should run': [
    {
      derived: Array.from({ length: 21 }, (_, index) => ({
        feature: `derived.d${index}`,
        type: 'boolean' as const,
        value: 'matches(consent.identity_data, "a")',
      })),
    },
    /^\/derived\/20\/value: a policy calls matches at most 20 times/,
  ],
  'a function of text given a number': [
    { rules: [ruleOf({ id: 'it', when: 'size(history.late) > 1', action: 'manual_review' })] },
    /found no matching overload/,
  ],
  'one operand where two are needed': [
    { rules: [ruleOf({ id: 'it', when: 'min(history.late) > 1', action: 'manual_review' })] },
    /min takes 2 to 8 operands/,
  ],
  'a segment by the amount': [
    {
      inputs: [...inputs, REQUEST_AMOUNT],
      segments: [{ name: 'large', when: 'request.amount > 1000', verdicts: { cutoff: 600 } }],
    },
    /segment 'large', column 1: request\.amount depends on the requested amount, so it cannot choose a segment; use request\.product/,
  ],
  'a segment that changes nothing': [
    { segments: [{ name: 'same', when: 'history.late > 1' }] },
    /segment 'same' changes nothing; give it one of scorecard, verdicts, tiers, limit, products/,
  ],
  'a segment whose scorecard reads what is no input': [
    ({ scorecard }) => ({
      segments: [
        {
          name: 'other',
          when: 'history.late > 1',
          scorecard: {
            ...scorecard,
            characteristics: [{ ...scorecard.characteristics[0]!, feature: 'snapshot.unknown' }],
          },
        },
      ],
    }),
    /^\/segments\/0\/scorecard\/characteristics\/0\/feature: snapshot\.unknown is not among the inputs/,
  ],
  'a segment with other products': [
    ({ products }) => ({ segments: [{ name: 'other', when: 'history.late > 1', products: products.slice(0, 1) }] }),
    /^\/segments\/0\/products: product 'personal_loan' of the document is not listed; add it/,
  ],
  'a segment with a product of its own': [
    ({ products }) => ({
      segments: [
        { name: 'other', when: 'history.late > 1', products: [...products, { ...products[0]!, product: 'gold' }] },
      ],
    }),
    /^\/segments\/0\/products: product 'gold' is not in the document; add it to products there/,
  ],
  'a wrong limit term of a segment': [
    ({ limit }) => ({
      segments: [
        {
          name: 'other',
          when: 'history.late > 1',
          limit: { terms: [{ ...limit.terms[4]!, amount: 'tier.multiple' }] },
        },
      ],
    }),
    /^\/segments\/0\/limit\/terms\/0\/amount: .*there is no tier\.multiple/,
  ],
  'a segment in which credit is access': [
    ({ products }) => ({
      segments: [
        {
          name: 'other',
          when: 'history.late > 1',
          products: products.map(({ product }) => ({ product, kind: 'access' })),
        },
      ],
    }),
    /^\/segments\/0\/products\/0: product 'default' is credit in the document; write 'kind: credit' here too/,
  ],
  'a segment where a product has other terms to choose from': [
    ({ products }) => ({
      products: withTerms(products, { term_months: 24, term_choices: [12] }),
      segments: [
        {
          name: 'other',
          when: 'history.late > 1',
          products: withTerms(products, { term_months: 24, term_choices: [36] }),
        },
      ],
    }),
    /^\/segments\/0\/products\/0: product 'default' lets the applicant choose among 12, 24 months in the document/,
  ],
  'a segment alone where a product has terms to choose from': [
    ({ products }) => ({
      segments: [{ name: 'other', when: 'history.late > 1', products: withTerms(products, { term_choices: [6] }) }],
    }),
    /^\/segments\/0\/products\/0: product 'default' has no term_choices in the document; add them there/,
  ],
  'no reason for a currency that it does not lend in': [
    ({ limit: { unlisted_currency: _, ...limit } }) => ({ limit }),
    /^\/limit: add the reason for a request in a currency that is not listed, as limit\.unlisted_currency/,
  ],
  'access with terms of credit': [
    ({ products }) => ({
      products: [...products, { product: 'entry', kind: 'access', term_months: 12, maximum: 900 }],
    }),
    /^\/products\/5\/term_months: 'entry' is access and has no amount; remove 'term_months', or write 'kind: credit'/,
  ],
  'credit without its terms': [
    ({ products }) => ({ products: [...products, { product: 'loan' }] }),
    /^\/products\/5: 'loan' is credit and has no term_months and no annual_rate; add it, or write 'kind: access'/,
  ],
  'an annual rate of 700 %': [
    ({ products }) => ({ products: [{ ...products[0]!, annual_rate: 7 }] }),
    /^\/products\/0\/annual_rate: an annual rate of 7 is 700 %; write 0\.07 for 7 %$/,
  ],
  'a price of a tier that does not exist': [
    ({ products }) => ({ products: [{ ...products[0]!, rates: [{ tier: 'AAA', annual_rate: 0.1 }] }] }),
    /there is no tier 'AAA'; write one of A\+, A, /,
  ],
  'a better tier that costs more': [
    ({ products }) => ({
      products: [
        {
          ...products[0]!,
          rates: [
            { tier: 'B', annual_rate: 0.1 },
            { tier: 'A', annual_rate: 0.2 },
          ],
        },
      ],
    }),
    /tier 'A-' costs less than a better tier, 'A'; lower the rate of the better one/,
  ],
  'a maximum without a reason': [
    ({ products }) => ({ products: [{ ...products[0]!, maximum: 5000 }] }),
    /add the reason to give then, as limit\.over_maximum/,
  ],
  'a number that a tier lacks': [
    ({ tiers }) => ({ tiers: tiers.map(({ cap: _, ...tier }) => tier) }),
    /limit term 'tier', column 1: tier 'A\+' has no 'cap'; add it to every tier/,
  ],
  'neither a table nor an external probability': [
    ({ scorecard: { probability: _, ...scorecard } }) => ({ scorecard }),
    /add a 'probability' table, or name an 'external_probability'/,
  ],
  'an external probability that is no number': [
    ({ scorecard }) => ({ scorecard: { ...scorecard, external_probability: 'consent.identity_data' } }),
    /consent\.identity_data is a string; name a number from 0 to 1/,
  ],
  'a text in two bins': [
    ({ scorecard }) => ({
      scorecard: {
        ...scorecard,
        characteristics: [
          {
            ...scorecard.characteristics[0]!,
            feature: 'consent.identity_data',
            bins: [{ in: ['a', 'b'], points: 1 }, { equals: 'b', points: 2 }, { points: 3 }],
          },
        ],
      },
      missing_reasons: [],
    }),
    /'b' is in two bins; remove it from one/,
  ],
  'one code with two labels': [
    {
      rules: [
        ruleOf({
          id: 'it',
          when: 'history.late > 1',
          action: 'decline',
          reason: { code: 'paid_late', label: 'Late', impact: 'negative' },
        }),
      ],
    },
    /the code 'paid_late' has another label at \/rules\/0\/reason; give it the same label, or another code/,
  ],
}

describe('a policy is refused', () => {
  for (const [why, [edit, message]] of Object.entries(REFUSED)) {
    it(`for ${why}`, () => {
      const result = compilePolicy(editedDocument(edit))
      assert.ok('problems' in result, 'the edit should have been noticed')
      assert.match(
        problemsOf(edit)
          .filter((problem) => !problem.includes('warning:'))
          .join('\n'),
        new RegExp(message, 'm'),
      )
    })
  }
})

describe('a label that Regulation B calls insufficient is refused', () => {
  for (const label of [
    'Insufficient credit score',
    'Internal policy',
    'Failed to achieve a qualifying score',
    'Does not meet our standards',
    'Score too low',
    'Applicant fails to meet minimum criteria',
  ])
    it(label, () => {
      const rule = ruleOf({
        id: 'it',
        when: 'history.late > 1',
        action: 'decline',
        reason: { code: 'it', label, impact: 'negative' },
      })
      const said = problemsOf(({ rules }) => ({ rules: [...rules, rule] })).join('\n')
      assert.match(said, /is no specific reason \(12 CFR 1002\.9\(b\)\(2\)\); name what is wrong/)
    })
})

describe('checking a policy', () => {
  it('warns of a cutoff above the references, and says what follows', () => {
    const result = compilePolicy(editedDocument(({ verdicts }) => ({ verdicts: { ...verdicts, cutoff: 560 } })))
    assert.ok('policy' in result)
    assert.deepEqual(
      result.warnings.map(({ path }) => path),
      [['verdicts', 'cutoff']],
    )
    assert.match(
      result.warnings[0]?.message ?? '',
      /add up to 557, below the cutoff of 560: a score in between is declined/,
    )
  })

  it('warns of segments whose own cutoff or scorecard puts the cutoff above the references', () => {
    const warned = (segment: Omit<PolicySegment, 'name' | 'when'>) => {
      const result = compilePolicy(
        editedDocument({ segments: [{ name: 'thin', when: 'history.late > 1', ...segment }] }),
      )
      assert.ok('policy' in result)
      return result.warnings.map(({ path }) => path.join('/'))
    }
    const { scorecard } = editedDocument({})
    assert.deepEqual(warned({ verdicts: { cutoff: 557 } }), [])
    assert.deepEqual(warned({ verdicts: { cutoff: 558 } }), ['segments/0'])
    assert.deepEqual(warned({ scorecard }), [])
    assert.deepEqual(warned({ scorecard: { ...scorecard, base: scorecard.base - 8 } }), ['segments/0'])
    assert.deepEqual(warned({ verdicts: { confidence_min_ppm: 1 } }), [])
  })

  it('never leads in a circle: an input that only a rule reads needs no reason for its absence', () => {
    const edit: PolicyEdit = ({ rules }) => ({
      inputs: [...inputs, snapshotInput('bureau.score')],
      rules: [...rules, ruleOf({ id: 'it', when: 'snapshot.bureau.score < 500', action: 'decline' })],
    })
    assert.deepEqual(problemsOf(edit), [])
  })

  it('warns of a reason that no decision gives, and does not refuse it', () => {
    const said = problemsOf(({ missing_reasons }) => ({
      missing_reasons: [...missing_reasons, { code: 'never_given', label: 'Never given' }],
    }))
    assert.match(said.join('\n'), /warning: .* ever gives 'never_given'; remove it, or score a feature/)
  })

  it('asks for no reason for what is missing only if nothing was requested, and warns that none is given', () => {
    const scoringTheAmount = (missing: { missing?: string }) =>
      problemsOf(({ scorecard, missing_reasons }) => ({
        missing_reasons: [...missing_reasons, ...Object.values(missing).map((code) => ({ code, label: 'No amount' }))],
        inputs: [...inputs, { ...REQUEST_AMOUNT, ...missing }],
        scorecard: {
          ...scorecard,
          characteristics: [
            ...scorecard.characteristics,
            { ...scorecard.characteristics[0]!, id: 'amount', feature: 'request.amount' },
          ],
        },
      }))
    assert.deepEqual(scoringTheAmount({}), [])
    assert.match(scoringTheAmount({ missing: 'no_amount' }).join('\n'), /warning: .* ever gives 'no_amount'/)
  })

  it('takes more than twenty bins', () => {
    const said = problemsOf(({ scorecard }) => {
      const [first, ...others] = scorecard.characteristics
      const bins = [...Array.from({ length: 60 }, (_, index) => ({ below: index, points: 0 })), { points: 62 }]
      return { scorecard: { ...scorecard, characteristics: [{ ...first!, bins }, ...others] } }
    })
    assert.deepEqual(said, [])
  })
})
