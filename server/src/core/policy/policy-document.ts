import { type Static, Type } from 'typebox'
import { EXPIRE_DAYS_DEFAULT, EXPIRE_DAYS_MAX } from '../facts/open-offers.ts'
import { FEATURE_TYPES, IMPACTS } from '../vocabularies.ts'
import { Closed, Code, Explanation, Expression, Label, TierName } from './document-fields.ts'
import { FEATURE_SUBJECTS, JURISDICTIONS, PERSONAL_BASES } from './feature-subjects.ts'
import { Meaning } from './meaning-document.ts'
import { CalibrationPoints, Portfolio } from './portfolio-settings.ts'
import { Products } from './product-document.ts'
import { DecisionTable } from './table-document.ts'
import { PolicyTest } from './test-document.ts'

const FeatureRef = Type.String({
  pattern: '^[a-z]+\\.[a-z][a-z0-9_.]{0,63}$',
  description: 'A feature of the catalogue, or `snapshot.` and the name that the caller gave it.',
})
const Points = Type.Integer({ minimum: -1000, maximum: 1000 })
const Ppm = Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'A share in millionths.' })

const Input = Closed(
  {
    feature: FeatureRef,
    type: Type.Enum([...FEATURE_TYPES]),
    weight: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'How much it adds to completeness when it is known.',
    }),
    half_life_days: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Replaces the half-life of the catalogue.' }),
    ),
    max_age_days: Type.Optional(Type.Integer({ minimum: 1, description: 'An older value counts as missing.' })),
    missing: Type.Optional(Code),
    withheld: Type.Optional(Code),
    other_currency: Type.Optional(Code),
    describes: Type.Optional(
      Type.Enum([...FEATURE_SUBJECTS], { description: 'For a feature that callers send: what it describes.' }),
    ),
  },
  'A feature that the policy may use, and the code of the reason to give when it is missing: `withheld` if consent was revoked or expired, `other_currency` if there is data only in another currency, `missing` otherwise.',
)

const Monitored = Closed({
  feature: Type.String({
    pattern: '^snapshot\\.[a-z][a-z0-9_.]{0,63}$',
    description: '`snapshot.` and the name that the caller gave it.',
  }),
  describes: Type.Enum([...PERSONAL_BASES]),
})

const Derived = Closed(
  {
    feature: Type.String({ pattern: '^derived\\.[a-z][a-z0-9_]{0,63}$', description: '`derived.` and a name.' }),
    type: Type.Enum([...FEATURE_TYPES]),
    value: Expression('An expression in CEL over the inputs and the derived features above.'),
    half_life_days: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Replaces the shortest half-life of what it is computed from.' }),
    ),
    missing: Type.Optional(Code),
  },
  'A feature that the policy computes. It is missing, for the same cause, if a value that it needs is; it is as old as the oldest of them.',
)

const Rule = Closed(
  {
    id: Code,
    when: Expression('A condition in CEL over the inputs and the derived features.'),
    // biome-ignore lint/suspicious/noThenProperty: a rule is never awaited, and `when … then` reads naturally
    then: Type.Enum(['decline', 'manual_review', 'condition', 'cap', 'points']),
    cap: Type.Optional(
      Expression('For `cap`: a number in CEL, the highest amount in the currency of the request, as in a limit term.'),
    ),
    points: Type.Optional(
      Type.Integer({ minimum: -1000, maximum: 1000, description: 'For `points`: what the rule adds to the score.' }),
    ),
    reason: Closed({ code: Code, label: Label, impact: Type.Enum([...IMPACTS]) }),
    condition: Type.Optional(Explanation),
    covers: Type.Optional(Code),
    questions_data: Type.Optional(
      Type.Boolean({
        description:
          'For a review rule: the data itself is in doubt, so the case is reviewed even if the score is low.',
      }),
    ),
    explanation: Label,
  },
  'What to do when a condition holds: decline, ask for a review, set a condition, bound the limit, or add points to the score. `covers` names the group of the scorecard whose shortfall is then not given as another reason.',
)

const Bin = Closed(
  {
    below: Type.Optional(Type.Number({ description: 'Holds values below this that are in no earlier bin.' })),
    equals: Type.Optional(Type.Union([Type.String(), Type.Boolean()])),
    in: Type.Optional(
      Type.Array(Type.String(), { minItems: 1, maxItems: 300, description: 'Holds each of these texts.' }),
    ),
    points: Points,
  },
  'A range of values, one value or a set of texts, and its points; without `below`, `equals` and `in` it holds all other values.',
)

const Characteristic = Closed(
  {
    id: Code,
    label: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'What it measures, in words; shown by a replay.' }),
    ),
    feature: FeatureRef,
    group: Code,
    reference: Type.Integer({ description: 'Mean points of applicants just above the cutoff.' }),
    spread: Type.Integer({
      minimum: 0,
      maximum: 1000,
      description: 'Standard deviation of its points in the population.',
    }),
    bins: Type.Array(Bin, { minItems: 1, maxItems: 200 }),
    missing: Points,
    shortfall: Explanation,
    strength: Explanation,
  },
  'One characteristic of the scorecard.',
)

const Scorecard = Closed({
  base: Points,
  spread: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'Standard deviation of the model itself, in points.',
  }),
  characteristics: Type.Array(Characteristic, { maxItems: 50 }),
  probability: Type.Optional(
    Type.Array(Closed({ score: Points, bad_ppm: Ppm }), {
      minItems: 2,
      description: 'Probability of a bad outcome by score, ascending; interpolated linearly.',
    }),
  ),
  calibration_points: Type.Optional(CalibrationPoints),
  external_probability: Type.Optional(
    Type.String({
      pattern: '^[a-z]+\\.[a-z][a-z0-9_.]{0,63}$',
      description:
        'A feature that is the probability of repayment, 0 to 1. It replaces the table; if it is missing, the table counts, and without a table the limit is unknown.',
    }),
  ),
  normal: Type.Array(Closed({ z: Type.Number({ minimum: 0 }), ppm: Ppm }), {
    minItems: 2,
    description: 'The normal distribution function from zero up; interpolated linearly in z².',
  }),
})

const Tier = Closed({
  tier: TierName,
  from: Type.Optional(Points),
  balance_multiple: Type.Optional(
    Type.Number({
      minimum: 0,
      description: 'A number for the terms of the limit, such as a multiple of the average balance.',
    }),
  ),
  cap: Type.Optional(
    Type.Number({
      minimum: 0,
      description: 'A number for the terms of the limit: the highest one, in the reference currency.',
    }),
  ),
})

const LimitTerm = Closed(
  {
    term: Type.String({
      pattern: '^(?!(requested|risk|rule|unknown|minimum|maximum)$)[a-z][a-z0-9_]{0,63}$',
      description: 'The name of the term.',
    }),
    instalment: Type.Optional(Expression('A number in CEL: the highest monthly instalment.')),
    amount: Type.Optional(Expression('A number in CEL: the highest amount, in the currency of the request.')),
    reason: Explanation,
  },
  'An upper bound of the limit. Its expression may use the inputs and the derived features, `tier.name`, `tier.cap`, `tier.balance_multiple`, `score.total`, `score.probability`, `score.bad_probability`, `product.annuity_factor` (the amount that one unit of monthly instalment repays), `product.term_months`, `product.annual_rate`, `segment.name` and `currency.per_reference`.',
)

const LimitTerms = Type.Array(LimitTerm, {
  minItems: 1,
  maxItems: 50,
  description: 'The limit is at most the lowest of them.',
})

const Limit = Closed({
  terms: LimitTerms,
  currencies: Type.Array(
    Closed({
      currency: Type.String({ pattern: '^[A-Z]{3}$' }),
      per_reference: Type.Number({ exclusiveMinimum: 0, description: 'Units that buy one of the reference currency.' }),
      step: Type.Number({ exclusiveMinimum: 0, description: 'Limits are rounded down to a multiple of this.' }),
    }),
    { minItems: 1 },
  ),
  risk: Closed({ code: Code, label: Label }, 'The reason if the score allows only a smaller amount.'),
  unknown: Closed({ code: Code, label: Label }, 'The reason if facts for a term are missing.'),
  unlisted_currency: Type.Optional(
    Closed(
      { code: Code, label: Label },
      'The reason for a request in a currency that is not among `currencies`; a new policy needs it.',
    ),
  ),
  over_maximum: Type.Optional(
    Closed(
      { code: Code, label: Label },
      'The reason if the maximum of the product binds; required if one has a maximum.',
    ),
  ),
  under_minimum: Type.Optional(
    Closed({ code: Code, label: Label }, 'The reason if less is requested than the minimum of the product.'),
  ),
  reduced_amount: Closed({ code: Code, label: Label }, '`{limit}` and `{currency}` in the label are filled in.'),
})

const Tiers = Type.Array(Tier, {
  minItems: 1,
  description: 'Best first; the last one, without `from`, takes all other scores.',
})
const Cutoff = Type.Integer({ description: 'A score below this is a decline.' })

const OwnVerdicts = Closed({
  cutoff: Type.Optional(Cutoff),
  confidence_min_ppm: Type.Optional(Ppm),
  completeness_min_ppm: Type.Optional(Ppm),
})

const Segment = Closed(
  {
    name: Code,
    when: Expression('A condition in CEL over the inputs and the derived features that do not depend on the amount.'),
    scorecard: Type.Optional(Scorecard),
    verdicts: Type.Optional(OwnVerdicts),
    tiers: Type.Optional(Tiers),
    limit: Type.Optional(Closed({ terms: LimitTerms })),
    products: Type.Optional(Products),
    rules: Type.Optional(Type.Array(Rule, { minItems: 1, maxItems: 50 })),
    after_score: Type.Optional(Type.Array(Rule, { minItems: 1, maxItems: 50 })),
    tables: Type.Optional(Type.Array(DecisionTable, { minItems: 1, maxItems: 10 })),
  },
  'Applicants with a scorecard, cutoff, tiers, limit terms or prices of their own. The first segment whose condition holds counts; a part that it does not have is that of the document. Its rules and tables are asked after those of the document, which are asked too.',
)

/** The schema of a policy: everything that a verdict depends on besides the facts. */
export const PolicyDocument = Closed({
  version: Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$' }),
  model_version: Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$' }),
  description: Type.String(),
  missing_reasons: Type.Array(Explanation),
  inputs: Type.Array(Input, { minItems: 1, maxItems: 200 }),
  jurisdiction: Type.Optional(
    Type.Enum([...JURISDICTIONS], {
      description: 'Whose law says which bases are prohibited; without it the bases of all of them are.',
    }),
  ),
  monitored: Type.Optional(
    Type.Array(Monitored, {
      maxItems: 10,
      description: 'Attributes that no part of the policy may read; backtests count approvals by their values.',
    }),
  ),
  derived: Type.Optional(Type.Array(Derived, { maxItems: 100, description: 'Computed features, in their order.' })),
  segments: Type.Optional(Type.Array(Segment, { maxItems: 20 })),
  rules: Type.Array(Rule, { maxItems: 200 }),
  after_score: Type.Optional(
    Type.Array(Rule, {
      maxItems: 100,
      description:
        'Rules that may also read what a limit term may, and `limit.amount`: the highest amount within all terms.',
    }),
  ),
  tables: Type.Optional(
    Type.Array(DecisionTable, {
      maxItems: 20,
      description: 'Decision tables, evaluated after the rules after the score.',
    }),
  ),
  scorecard: Scorecard,
  tiers: Tiers,
  verdicts: Closed({
    cutoff: Cutoff,
    confidence_min_ppm: Ppm,
    completeness_min_ppm: Ppm,
  }),
  reasons: Closed({
    negative_max: Type.Integer({ minimum: 1, maximum: 20 }),
    positive_max: Type.Integer({ minimum: 0, maximum: 20 }),
    few_strengths: Type.Optional(
      Closed(
        { code: Code, label: Label },
        'The reason of a decline or a review that has no other: `{facts}` in the label lists the characteristics furthest from their best.',
      ),
    ),
    nothing_against: Type.Optional(
      Closed(
        { code: Code, label: Label },
        'The reason of an approval that has no other; a policy without a scorecard needs it.',
      ),
    ),
  }),
  meanings: Type.Optional(Type.Array(Meaning, { maxItems: 500, description: 'What the reasons say, by code.' })),
  limit: Limit,
  products: Products,
  unknown_products: Type.Optional(
    Type.Enum(['refuse', 'default'], {
      description:
        'Whether a request for a product that is not listed is refused, or gets the kind and the terms of `default`.',
    }),
  ),
  offers: Type.Optional(
    Closed(
      {
        expire_days: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: EXPIRE_DAYS_MAX,
            description: `How many days after the approval an offer expires that was not taken up; ${EXPIRE_DAYS_DEFAULT} without this line.`,
          }),
        ),
      },
      'How long an approval of credit is an open offer, which counts as exposure.',
    ),
  ),
  portfolio: Type.Optional(Portfolio),
  tests: Type.Array(PolicyTest),
})

/** The schema of a policy file, whose author may leave out what `completePolicy` writes out. */
export const WrittenPolicy = Closed({
  ...PolicyDocument.properties,
  scorecard: Type.Optional(Scorecard),
  verdicts: Type.Optional(OwnVerdicts),
})

/** A policy file. */
export type WrittenPolicy = Static<typeof WrittenPolicy>
/** A policy with all of its parts. */
export type PolicyDocument = Static<typeof PolicyDocument>
/** A rule as its author wrote it. */
export type PolicyRule = PolicyDocument['rules'][number]
/** A decision table as its author wrote it. */
export type PolicyTable = NonNullable<PolicyDocument['tables']>[number]
/** A row of a decision table. */
export type PolicyTableRow = PolicyTable['rows'][number]
/** A characteristic as its author wrote it. */
export type PolicyCharacteristic = PolicyDocument['scorecard']['characteristics'][number]
/** The terms of a product as their author wrote them. */
export type PolicyProduct = PolicyDocument['products'][number]
/** A segment as its author wrote it. */
export type PolicySegment = NonNullable<PolicyDocument['segments']>[number]
/** What a reason means, as its author wrote it. */
export type PolicyMeaning = NonNullable<PolicyDocument['meanings']>[number]
/** An input as its author wrote it. */
export type PolicyInput = PolicyDocument['inputs'][number]

/** The JSON Schema that editors and other tools can check a policy against. */
export function policyJsonSchema(): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Verdigraph policy',
    ...JSON.parse(JSON.stringify(WrittenPolicy)),
  }
}
