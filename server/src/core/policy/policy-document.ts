import { type Static, type TProperties, Type } from 'typebox'
import { FEATURE_TYPES, IMPACTS, LIMIT_BOUNDS, type LimitBound, VERDICTS } from '../vocabularies.ts'

const Closed = <Properties extends TProperties>(properties: Properties, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description && { description }) })

const Code = Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$', description: 'A machine-readable code.' })
const Label = Type.String({ minLength: 1, maxLength: 200, description: 'A text for people.' })
const FeatureRef = Type.String({
  pattern: '^[a-z]+\\.[a-z][a-z0-9_.]{0,63}$',
  description: 'A feature of the catalogue, or `snapshot.` and the name that the caller gave it.',
})
const Points = Type.Integer({ minimum: -1000, maximum: 1000 })
const Ppm = Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'A share in millionths.' })
const Share = Type.Number({ minimum: 0, maximum: 1 })

const Explanation = Closed({ code: Code, label: Label })

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
  },
  'A feature that the policy may use, and the code of the reason to give when it is missing: `withheld` if consent was revoked or expired, `other_currency` if there is data only in another currency, `missing` otherwise.',
)

const Rule = Closed(
  {
    id: Code,
    when: Type.String({ minLength: 1, maxLength: 1000, description: 'A condition in CEL over the inputs.' }),
    // biome-ignore lint/suspicious/noThenProperty: a rule is never awaited, and `when … then` reads naturally
    then: Type.Enum(['decline', 'manual_review', 'condition']),
    reason: Closed({ code: Code, label: Label, impact: Type.Enum([...IMPACTS]) }),
    condition: Type.Optional(Explanation),
    covers: Type.Optional(Code),
    explanation: Label,
  },
  'What to do when a condition holds, whatever the score is; `covers` names the group of the scorecard whose shortfall is then not given as another reason.',
)

const Bin = Closed(
  {
    below: Type.Optional(Type.Number({ description: 'Holds values below this that are in no earlier bin.' })),
    equals: Type.Optional(Type.Union([Type.String(), Type.Boolean()])),
    points: Points,
  },
  'A range of values, or one value, and its points; without `below` and `equals` it holds all other values.',
)

const Characteristic = Closed(
  {
    id: Code,
    feature: FeatureRef,
    group: Code,
    reference: Type.Integer({ description: 'Mean points of applicants just above the cutoff.' }),
    spread: Type.Integer({
      minimum: 0,
      maximum: 1000,
      description: 'Standard deviation of its points in the population.',
    }),
    bins: Type.Array(Bin, { minItems: 1, maxItems: 20 }),
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
  characteristics: Type.Array(Characteristic, { minItems: 1, maxItems: 50 }),
  probability: Type.Array(Closed({ score: Points, bad_ppm: Ppm }), {
    minItems: 2,
    description: 'Probability of a bad outcome by score, ascending; interpolated linearly.',
  }),
  normal: Type.Array(Closed({ z: Type.Number({ minimum: 0 }), ppm: Ppm }), {
    minItems: 2,
    description: 'The normal distribution function from zero up; interpolated linearly in z².',
  }),
})

const Tier = Closed({
  tier: Type.String({ pattern: '^[A-E][+-]?$' }),
  from: Type.Optional(Points),
  balance_multiple: Type.Number({ minimum: 0, description: 'The limit may be this many times the average balance.' }),
  cap: Type.Number({ minimum: 0, description: 'The highest limit, in the reference currency.' }),
})

const BoundExplanations = Object.fromEntries(LIMIT_BOUNDS.map((bound) => [bound, Explanation])) as Record<
  LimitBound,
  typeof Explanation
>

const Limit = Closed({
  income_haircut: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'The share of the variation of income that is deducted from income.',
  }),
  spending_share: Type.Number({ minimum: 0, maximum: 1, description: 'Share of spending that cannot be cut.' }),
  cushion: Type.Number({
    minimum: 1,
    description: 'What remains after spending and debt service must be this many times the instalment.',
  }),
  debt_to_income_max: Share,
  loss_given_default: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
  expected_loss_max: Type.Number({ exclusiveMinimum: 0, description: 'Per credit, in the reference currency.' }),
  currencies: Type.Array(
    Closed({
      currency: Type.String({ pattern: '^[A-Z]{3}$' }),
      per_reference: Type.Number({ exclusiveMinimum: 0, description: 'Units that buy one of the reference currency.' }),
      step: Type.Number({ exclusiveMinimum: 0, description: 'Limits are rounded down to a multiple of this.' }),
    }),
    { minItems: 1 },
  ),
  reasons: Closed({ ...BoundExplanations, unknown: Explanation }),
  reduced_amount: Closed({ code: Code, label: Label }, '`{limit}` and `{currency}` in the label are filled in.'),
})

const Product = Closed({
  product: Code,
  term_months: Type.Integer({ minimum: 1, maximum: 600 }),
  annual_rate: Type.Number({ minimum: 0, maximum: 10, description: '0.12 is twelve percent.' }),
})

const PolicyTest = Closed({
  name: Type.String({ minLength: 1 }),
  age_days: Type.Optional(Type.Integer({ minimum: 0, description: 'How old the features that age are.' })),
  facts: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()]), {
    description: 'The features that are known; all others are missing.',
  }),
  expect: Closed({
    verdict: Type.Optional(Type.Enum([...VERDICTS])),
    tier: Type.Optional(Type.String()),
    limit: Type.Optional(Type.Number()),
    score: Type.Optional(Type.Integer()),
    reasons_include: Type.Optional(Type.Array(Code)),
    conditions_include: Type.Optional(Type.Array(Code)),
  }),
})

/** The schema of a policy: everything that a verdict depends on besides the facts. */
export const PolicyDocument = Closed({
  version: Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$' }),
  model_version: Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$' }),
  description: Type.String(),
  missing_reasons: Type.Array(Explanation),
  inputs: Type.Array(Input, { minItems: 1, maxItems: 200 }),
  rules: Type.Array(Rule, { maxItems: 200 }),
  scorecard: Scorecard,
  tiers: Type.Array(Tier, {
    minItems: 1,
    description: 'Best first; the last one, without `from`, takes all other scores.',
  }),
  verdicts: Closed({
    cutoff: Type.Integer({ description: 'A score below this is a decline.' }),
    confidence_min_ppm: Ppm,
    completeness_min_ppm: Ppm,
  }),
  reasons: Closed({
    negative_max: Type.Integer({ minimum: 1, maximum: 20 }),
    positive_max: Type.Integer({ minimum: 0, maximum: 20 }),
  }),
  limit: Limit,
  products: Type.Array(Product, { minItems: 1, description: 'One of them is `default`, for every other product.' }),
  tests: Type.Array(PolicyTest),
})

/** A policy as its authors wrote it. */
export type PolicyDocument = Static<typeof PolicyDocument>
/** A rule as its author wrote it. */
export type PolicyRule = PolicyDocument['rules'][number]
/** A characteristic as its author wrote it. */
export type PolicyCharacteristic = PolicyDocument['scorecard']['characteristics'][number]
/** The terms of a product as their author wrote them. */
export type PolicyProduct = PolicyDocument['products'][number]
/** An input as its author wrote it. */
export type PolicyInput = PolicyDocument['inputs'][number]

/** The JSON Schema that editors and other tools can check a policy against. */
export function policyJsonSchema(): Record<string, unknown> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Verdigraph policy',
    ...JSON.parse(JSON.stringify(PolicyDocument)),
  }
}
