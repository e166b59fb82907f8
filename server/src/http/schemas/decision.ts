import type { Static } from 'typebox'
import { Checkpoint } from '../../core/audit/checkpoint-schema.ts'
import { AMOUNT_MAX } from '../../core/money.ts'
import { Currency, Id, Money, NOT_BLANK, Nullable, OneOf, Strict, Text, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { ENVIRONMENTS, IMPACTS, OUTCOME_TYPES, REVIEW_VERDICTS, VERDICTS } from '../../core/vocabularies.ts'
import { AuditEntry, LogName } from './audit-trail.ts'

export const UnderwriteRequest = Strict(
  {
    entity_id: Id('ent', 'The entity to decide about.'),
    product: Text(100, 'The product or program. The default terms of the policy apply to a product it does not list.'),
    requested_amount: Type.Optional(
      Money(
        { exclusiveMinimum: 0, maximum: AMOUNT_MAX },
        'The requested amount in major units, together with `currency`. Omit both for an access decision.',
      ),
    ),
    currency: Type.Optional(Currency),
  },
  {
    title: 'UnderwriteRequest',
    examples: [
      {
        entity_id: 'ent_06fk3v8tz9y7q2m4n6p8r0s1t3',
        product: 'business_credit_line',
        requested_amount: 5000,
        currency: 'EUR',
      },
    ],
  },
)

const ReasonCode = Strict(
  {
    code: Type.String({
      description: 'A stable code, for programs. A new policy may have new codes.',
      examples: ['short_history'],
    }),
    label: Type.String({
      description: 'The reason in words, for people.',
      examples: ['Fewer than three full months of transactions'],
    }),
    impact: OneOf(IMPACTS),
  },
  { title: 'Reason' },
)

const Condition = Strict(
  {
    code: Type.String({ examples: ['reduced_amount'] }),
    label: Type.String({ examples: ['Accept a lower amount than was asked for'] }),
  },
  { title: 'Condition' },
)

export const UnderwritingDecision = Strict(
  {
    id: Id('dec', 'The id of the decision.'),
    object: Type.Literal('underwriting_decision'),
    environment: OneOf(ENVIRONMENTS),
    verdict: OneOf(VERDICTS),
    recommended_limit: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'The credit limit in major units, if credit is approved.',
        examples: [5000],
      }),
    ),
    repayment_probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1, examples: [0.9712] })),
    risk_tier: Type.Optional(
      Type.String({ description: 'A letter with an optional sign, from A+ to E.', examples: ['B+'] }),
    ),
    confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1, examples: [0.9104] })),
    reason_codes: Type.Array(ReasonCode, { description: 'The principal reasons.' }),
    conditions: Type.Optional(Type.Array(Condition, { minItems: 1 })),
    model_version: Type.String({ examples: ['sandbox-policy-v1'] }),
    policy_version: Type.String({ examples: ['sandbox-policy-v1'] }),
    policy_checksum: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    request_id: Type.String({ examples: ['req_06fk3v8tz9y7q2m4n6p8r0s1t3'] }),
    created_at: Timestamp('When it was decided.'),
  },
  { title: 'UnderwritingDecision' },
)

/** The path parameter of every endpoint under a decision. */
export const DecisionPath = Type.Object({ decision_id: Type.String({ description: 'The id of a decision.' }) })

const AnyObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description })
const AnyValue = Type.Unsafe<unknown>({ description: 'Any JSON value; null if this side has no value at the path.' })

export const DecisionReplay = Strict(
  {
    object: Type.Literal('decision_replay'),
    decision_id: Type.String(),
    matches: Type.Boolean({ description: 'Whether the replay found no differences.' }),
    differences: Type.Array(Strict({ path: Type.String(), recorded: AnyValue, replayed: AnyValue })),
    decision: Nullable(UnderwritingDecision),
    replayed: Nullable(AnyObject('The decision that the replay computed; null if its evidence can no longer be read.')),
    evidence: Strict({
      feature_snapshot: Nullable(AnyObject('Every fact that the decision was given.')),
      policy_version: Nullable(Type.String()),
      policy_checksum: Nullable(Type.String({ description: 'The checksum of the policy as it is stored now.' })),
      policy: Nullable(AnyObject('The policy document.')),
      model_version: Nullable(Type.String()),
      engine_version: Nullable(Type.String()),
      rule_trace: Type.Array(AnyObject('The trace of one rule.')),
      scorecard: Type.Array(AnyObject('One line of the scorecard.')),
      limit: Nullable(AnyObject('The limit, its terms, and which of them binds.')),
      graph: Nullable(AnyObject('The entity’s exposure and the paths that cause it.')),
    }),
    audit: Strict({
      entry_id: Nullable(Type.String()),
      entry: Nullable(AuditEntry),
      log: LogName,
      leaf_index: Nullable(Type.Integer()),
      inclusion_proof: Nullable(Type.Array(Type.String())),
      checkpoint: Nullable(Checkpoint),
    }),
    replayed_at: Timestamp('When it was replayed.'),
  },
  { title: 'DecisionReplay' },
)

const ReviewCondition = Strict({
  code: Text(100, 'A code, for programs.'),
  label: Text(500, 'The condition in words, for people.'),
})

const reviewFields = {
  verdict: OneOf(REVIEW_VERDICTS),
  reviewer: Strict({
    id: Text(255, 'Your own id of the reviewer.'),
    name: Type.Optional(Text(255, 'The name of the reviewer.')),
  }),
  reason: Type.String({
    minLength: 1,
    maxLength: 5000,
    pattern: NOT_BLANK,
    description: 'The reason for the verdict, in words; not blank.',
    examples: ['Payslips of three months seen.'],
  }),
  reason_codes: Type.Optional(Type.Array(Text(100, 'A reason code.'), { maxItems: 20 })),
  conditions: Type.Optional(Type.Array(ReviewCondition, { maxItems: 20 })),
  recommended_limit: Type.Optional(
    Money({ minimum: 0, maximum: AMOUNT_MAX }, 'The limit that the reviewer recommends, in major units.'),
  ),
}

export const SubmitReviewRequest = Strict(reviewFields, {
  title: 'SubmitReviewRequest',
  examples: [
    { verdict: 'approve', reviewer: { id: 'u-17', name: 'J. Doe' }, reason: 'Payslips of three months seen.' },
  ],
})

export const Review = Strict(
  {
    id: Id('rev', 'The id of the review.'),
    object: Type.Literal('review'),
    decision_id: Id('dec', 'The decision that was reviewed.'),
    entity_id: Id('ent', 'The entity of the decision.'),
    overrides: Type.Boolean({
      description: 'Whether the verdict differs from the decision’s; false if that was `manual_review`.',
    }),
    ...reviewFields,
    created_at: Timestamp('When it was submitted.'),
  },
  { title: 'Review' },
)
export type Review = Static<typeof Review>

const outcomeFields = {
  type: OneOf(OUTCOME_TYPES),
  occurred_at: Timestamp('When it happened; not in the future.'),
  days_past_due: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  amount: Type.Optional(
    Money({ minimum: 0, maximum: AMOUNT_MAX }, 'The amount in major units, together with `currency`.'),
  ),
  currency: Type.Optional(Currency),
  note: Type.Optional(Text(2000, 'Any text.')),
}

export const RecordOutcomeRequest = Strict(outcomeFields, {
  title: 'RecordOutcomeRequest',
  examples: [{ type: 'repaid', occurred_at: '2026-11-14T00:00:00Z', amount: 5000, currency: 'EUR' }],
})

export const Outcome = Strict(
  {
    id: Id('out', 'The id of the outcome.'),
    object: Type.Literal('outcome'),
    decision_id: Id('dec', 'The decision whose outcome it is.'),
    entity_id: Id('ent', 'The entity of the decision.'),
    ...outcomeFields,
    created_at: Timestamp('When it was recorded.'),
  },
  { title: 'Outcome' },
)
export type Outcome = Static<typeof Outcome>
