import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sandboxPolicy, sandboxPolicySource } from '../../../tests/sandbox-policy.ts'
import { describeProblem } from './check/policy-problem.ts'
import { parsePolicy } from './parse-policy.ts'

const source = sandboxPolicySource()

/** The problems of the sandbox policy after one edit, each with the source text at its position. */
function problemsAfter(before: string, after: string): { text: string; at: string }[] {
  assert.ok(source.includes(before), before)
  const edited = source.replace(before, after)
  const result = parsePolicy(edited)
  assert.ok('problems' in result, 'the edit should have been noticed')
  return result.problems.map((problem) => {
    const { line = 0, column = 0 } = problem
    return { text: describeProblem(problem), at: edited.split('\n')[line - 1]?.slice(column - 1) ?? '' }
  })
}

describe('parsing a policy', () => {
  it('gives the same checksum whatever the layout and the comments', () => {
    const { document, checksum } = sandboxPolicy()
    const asJson = parsePolicy(JSON.stringify(document))
    assert.ok('policy' in asJson)
    assert.equal(asJson.policy.checksum, checksum)
    assert.match(checksum, /^[0-9a-f]{64}$/)
  })

  it('gives another checksum for another number', () => {
    const edited = parsePolicy(source.replace('cap: 150000', 'cap: 150001'))
    assert.ok('policy' in edited)
    assert.notEqual(edited.policy.checksum, sandboxPolicy().checksum)
  })

  it('names the line and column of broken YAML', () => {
    const [problem] = problemsAfter('cutoff: 550', 'cutoff: [550')
    assert.match(problem?.text ?? '', /^\d+:\d+ /)
  })

  it('refuses a file of more than 256 KiB', () => {
    const ofLength = (length: number) => parsePolicy(`${source}#`.padEnd(length, '#'))
    assert.ok('policy' in ofLength(262_144))
    const result = ofLength(262_145)
    assert.ok('problems' in result)
    assert.deepEqual(result.problems, [{ path: [], message: 'a policy has at most 262144 characters' }])
  })

  it('lists the first hundred problems, of the syntax, of the schema or of what the policy says', () => {
    const countAfter = (before: string, after: (index: number) => string) =>
      problemsAfter(before, `${Array.from({ length: 102 }, (_, index) => after(index)).join('')}${before}`).length
    const counts = [
      countAfter('verdicts:\n', () => 'twice: 1\n'),
      countAfter('verdicts:\n', (index) => `unknown${index}: 1\n`),
      countAfter(
        '  - { feature: history.late,',
        (index) => `  - { feature: cashflow.no${index}, type: number, weight: 0 }\n`,
      ),
    ]
    assert.deepEqual(counts, [100, 100, 100])
  })

  it('refuses an unknown field at the field', () => {
    const [problem] = problemsAfter('  negative_max: 4', '  negative_maximum: 4\n  negative_max: 4')
    assert.match(problem?.text ?? '', /there is no field 'negative_maximum' here/)
    assert.match(problem?.at ?? '', /^4/)
  })

  it('refuses a missing field at the object that lacks it', () => {
    const [problem] = problemsAfter('  cutoff: 550\n', '')
    assert.match(problem?.text ?? '', /a policy with a scorecard needs verdicts with cutoff/)
  })

  it('refuses a missing section at the first line that is no comment', () => {
    const result = parsePolicy('# a policy\nrules: []\n')
    assert.ok('problems' in result)
    const lacking = result.problems.filter(({ message }) => message.includes('must have required properties'))
    assert.deepEqual(
      lacking.map(({ line, column }) => [line, column]),
      [[2, 1]],
    )
  })

  it('refuses an empty file at its beginning', () => {
    const result = parsePolicy('')
    assert.ok('problems' in result)
    assert.deepEqual(
      result.problems.map(({ line, column }) => [line, column]),
      [[1, 1]],
    )
  })

  it('points at the nearest part that it finds, if a name reads as a number', () => {
    const [problem] = problemsAfter('verdicts:\n', 'verdicts:\n  "7": 1\n')
    assert.match(problem?.text ?? '', /there is no field '7' here/)
    assert.match(problem?.at ?? '', /^"7": 1/)
  })

  it('points at the wrong name inside a rule', () => {
    const [problem] = problemsAfter(
      'when: graph.negative_exposure >= 0.1 && graph',
      'when: graph.negative_exposure >= 0.1 && grap',
    )
    assert.match(
      problem?.text ?? '',
      /rule 'linked_exposure', column 35: grap\.negative_exposure is not among the inputs/,
    )
    assert.match(problem?.at ?? '', /^grap\.negative_exposure/)
  })

  it('points at the wrong name inside a quoted rule', () => {
    const [problem] = problemsAfter('"!has(graph.negative_exposure)"', '"!has(graph.exposure)"')
    assert.match(problem?.at ?? '', /^graph\.exposure\)/)
  })

  it('points at the wrong name inside a rule folded over several lines', () => {
    const [problem] = problemsAfter(
      'when: history.abuse > 0',
      'when: >-\n      history.abuse > 0\n      || history.abused > 0',
    )
    assert.match(problem?.at ?? '', /^history\.abused > 0/)
  })

  it('type-checks rules against the catalogue', () => {
    const [problem] = problemsAfter('when: history.abuse > 0', 'when: history.abuse == "yes"')
    assert.match(problem?.text ?? '', /rule 'abuse_on_record', column 1: no such overload: double == string/)
  })

  it('points at a fact of a test that is misspelled or has another type', () => {
    const edits: [before: string, after: string, message: RegExp, at: RegExp][] = [
      [
        'history.repaid: 9',
        'history.repayed: 9',
        /facts\/history\.repayed: there is no feature 'history\.repayed' in the catalogue$/,
        /^9/,
      ],
      ['request.currency: EUR', 'request.currency: 978', /request\.currency is a string/, /^978/],
      [
        'cashflow.overdrawn_days_365: 0',
        'cashflow.overdrawn_days_365: "0"',
        /cashflow\.overdrawn_days_365 is a number/,
        /^"0"/,
      ],
      [
        'request.currency: EUR',
        'request.currency: EUR\n      request.instalment: 90',
        /request\.instalment is computed when deciding; set request\.amount instead/,
        /^90/,
      ],
      [
        'request.currency: EUR',
        'request.currency: EUR\n      snapshot.segment: premium',
        /snapshot\.segment is not among the inputs of this policy/,
        /^premium/,
      ],
    ]
    for (const [before, after, message, at] of edits) {
      const [problem] = problemsAfter(before, after)
      assert.match(problem?.text ?? '', message)
      assert.match(problem?.at ?? '', at)
    }
  })

  it('refuses a lone surrogate, which has no UTF-8 bytes for a checksum', () => {
    const [value] = problemsAfter(
      'label: Fewer than 180 days of account transactions',
      'label: "Short \\ud800 history"',
    )
    assert.match(value?.text ?? '', /contains a lone surrogate/)
    assert.match(value?.at ?? '', /^"Short/)
    const [key] = problemsAfter('request.currency: EUR', 'request.currency: EUR\n      "snapshot.\\udc00": 1')
    assert.match(key?.text ?? '', /contains a lone surrogate/)
  })

  it('refuses aliases, which can expand to gigabytes', () => {
    const [problem] = problemsAfter('  positive_max: 4', '  positive_max: &four 4\n  extra: *four')
    assert.match(problem?.text ?? '', /cannot use aliases/)
    assert.match(problem?.at ?? '', /^\*four/)
  })
})

describe('a policy is refused', () => {
  const cases: [why: string, before: string, after: string, message: RegExp][] = [
    [
      'an input the catalogue lacks',
      'feature: history.late, type',
      'feature: history.lateness, type',
      /no feature 'history.lateness'/,
    ],
    [
      'an input of another type',
      'feature: history.late, type: number',
      'feature: history.late, type: string',
      /is a number/,
    ],
    [
      'no reason for a missing input that is scored',
      'weight: 3, missing: identity_not_verified, withheld',
      'weight: 3, withheld',
      /identity\.verified_strong can be missing and is scored; name the reason to show then, as 'missing'/,
    ],
    [
      'a missing reason that is not defined',
      'missing: graph_withheld',
      'missing: graph_withhold',
      /not among the missing_reasons/,
    ],
    [
      'a characteristic without an input',
      'feature: history.late\n',
      'feature: history.repaids\n',
      /not among the inputs/,
    ],
    [
      'bins that overlap',
      '{ below: 0.4, points: 14 }',
      '{ below: 0.01, points: 14 }',
      /each higher than the one before/,
    ],
    [
      'bins that do not hold all values',
      '        - { points: 90 }\n',
      '        - { below: 9, points: 90 }\n',
      /hold all other values/,
    ],
    ['scores out of order', '{ score: 440,', '{ score: 410,', /scores must ascend/],
    ['tiers out of order', 'tier: A, from: 615', 'tier: A, from: 640', /each lower than the one before/],
    [
      'a decline by payments',
      'when: history.abuse > 0',
      'when: history.abuse > 0 || graph.negative_exposure > 0.9',
      /rule 'abuse_on_record': graph\.negative_exposure includes payments/,
    ],
    [
      'a score by payments',
      'feature: history.late\n',
      'feature: graph.negative_exposure\n',
      /may not count towards a decline/,
    ],
    [
      'a reason for withheld data that is not defined',
      'withheld: identity_withheld',
      'withheld: identity_hidden',
      /'identity_hidden' is not among the missing_reasons/,
    ],
    ['a rule that covers no group', 'covers: overdrafts', 'covers: overdraft', /no group 'overdraft'/],
    [
      'an age limit on a feature that does not age',
      'feature: history.late, type: number',
      'feature: history.late, max_age_days: 9, type: number',
      /history\.late does not age/,
    ],
    [
      'an age limit on a measured feature',
      'feature: request.lowest_balance_to_instalment\n    type',
      'feature: request.lowest_balance_to_instalment\n    max_age_days: 9\n    type',
      /as old as the cash flow/,
    ],
    [
      'a limit term that depends on the amount',
      'amount: tier.cap * currency.per_reference\n',
      'amount: request.lowest_balance_to_instalment\n',
      /limit term 'tier', column 1: request\.lowest_balance_to_instalment depends on the requested amount/,
    ],
    [
      'a limit term that includes payments',
      'amount: tier.cap * currency.per_reference\n',
      'amount: tier.cap * graph.negative_exposure\n',
      /graph\.negative_exposure includes payments/,
    ],
    [
      'a limit term that is no number',
      'amount: tier.cap * currency.per_reference\n',
      'amount: tier.cap > currency.per_reference\n',
      /limit term 'tier', column 1: must be a number, but is true or false/,
    ],
    [
      'an unknown name in a limit term',
      'amount: tier.cap * currency.per_reference\n',
      'amount: tier.multiple * currency.per_reference\n',
      /limit term 'tier', column 1: there is no tier\.multiple; write one of tier\.cap, tier\.balance_multiple, tier\.name/,
    ],
    [
      'a limit term that is both an amount and an instalment',
      '      amount: tier.cap * currency.per_reference\n',
      '      amount: tier.cap * currency.per_reference\n      instalment: cashflow.reserve\n',
      /limit term 'tier' needs either an 'instalment' or an 'amount'/,
    ],
    ['two limit terms of one name', 'term: own_credit', 'term: debt', /'debt' is there twice/],
    [
      'a decline that questions the data',
      '    when: history.abuse > 0\n',
      '    when: history.abuse > 0\n    questions_data: true\n',
      /rule 'abuse_on_record' does not ask for a review; remove 'questions_data'/,
    ],
    ['no default product', 'product: default,', 'product: standard,', /named 'default'/],
    ['two rules of one name', 'id: payments_returned', 'id: account_overdrawn', /there twice/],
    [
      'a condition rule without a condition',
      "    condition:\n      code: consent_missing\n      label: Record the applicant's consent to credit underwriting\n",
      '',
      /say which/,
    ],
  ]
  for (const [why, before, after, message] of cases) {
    it(`for ${why}`, () => {
      assert.match(
        problemsAfter(before, after)
          .map(({ text }) => text)
          .join('\n'),
        message,
      )
    })
  }
})
