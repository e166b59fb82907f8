import type { Static } from 'typebox'
import { AMOUNT_MAX } from '../../core/money.ts'
import {
  Currency,
  Id,
  Money,
  NOT_BLANK,
  ObjectName,
  OneOf,
  Open,
  Strict,
  Text,
  Timestamp,
} from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { IMPACTS, OUTCOME_TYPES, REVIEW_VERDICTS, VERDICTS } from '../../core/vocabularies.ts'
import { EnvironmentName } from './fields.ts'

const Reference = (description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9._:/-]{1,128}$',
    format: 'reference',
    description: `${description} 1 to 128 letters, digits and \`. _ : / -\`.`,
    examples: ['application-8841'],
  })

export const UnderwriteRequest = Strict(
  {
    entity_id: Id('ent', 'The entity to decide about.'),
    product: Text(
      100,
      'The product or program. The policy says of each product whether it is credit or access. A product that it does not list is taken as its product `default`, or gets 422 `unknown_product` if the policy refuses such products.',
    ),
    requested_amount: Type.Optional(
      Money(
        { exclusiveMinimum: 0, maximum: AMOUNT_MAX },
        'The requested amount in major units, together with `currency`. Credit needs both: 422 `amount_required`. Access has neither: 422 `amount_not_allowed`.',
      ),
    ),
    currency: Type.Optional(Currency),
    term_months: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 600,
        description:
          'The number of monthly instalments that the applicant chose, where the policy lets them choose for this product: 422 `term_not_allowed` otherwise. Without it, the term of the product counts.',
        examples: [24],
      }),
    ),
    reference: Type.Optional(
      Reference(
        'Your own name for this request, such as the number of an application: it comes back with the decision and its events. A later request for credit about the same entity with the same one takes the place of an open offer. Not personal data: events carry it in plain text.',
      ),
    ),
  },
  {
    title: 'UnderwriteRequest',
    description: 'Whom to decide about, and what was asked for.',
  },
)

const ReasonCode = Open(
  {
    code: Type.String({
      description: 'A stable code, for programs. A new policy may have new codes.',
      examples: ['short_history'],
    }),
    label: Type.String({
      description: 'The reason in words, for people.',
      examples: ['Fewer than 75 days of transactions'],
    }),
    impact: OneOf(IMPACTS, { description: 'Whether it counts for or against the applicant.' }),
  },
  { title: 'Reason', description: 'A reason for the verdict.' },
)

const Condition = Open(
  {
    code: Type.String({ description: 'A stable code, for programs.', examples: ['reduced_amount'] }),
    label: Type.String({
      description: 'The condition in words, for people.',
      examples: ['Accept a lower amount than was asked for'],
    }),
  },
  { title: 'Condition', description: 'What has to be done before an approval holds.' },
)

export const UnderwritingDecision = Open(
  {
    id: Id('dec', 'The id of the decision.'),
    object: ObjectName('underwriting_decision'),
    environment: EnvironmentName,
    verdict: OneOf(VERDICTS, { description: 'What the policy decided.' }),
    recommended_limit: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'The credit limit in major units, if credit is approved.',
        examples: [5000],
      }),
    ),
    repayment_probability: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'How likely the credit is repaid, by the policy’s table of scores or the external figure that it names. Absent for access without credit, and where nothing is known.',
        examples: [0.9712],
      }),
    ),
    risk_tier: Type.Optional(
      Type.String({
        description:
          'The tier of the policy; from A+ to E in the sandbox policy. For access without credit it comes from identity, history and trust, and not from bank data.',
        examples: ['B+'],
      }),
    ),
    confidence: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'How sure it is, given what is missing or old, that the score lies on its side of the cutoff. Absent for access without credit, which no score decides.',
        examples: [0.9104],
      }),
    ),
    reason_codes: Type.Array(ReasonCode, { description: 'The principal reasons.' }),
    conditions: Type.Optional(
      Type.Array(Condition, { minItems: 1, description: 'The conditions of `approve_with_conditions`.' }),
    ),
    model_version: Type.String({ description: 'The version of the scorecard.', examples: ['sandbox-policy-v1'] }),
    policy_version: Type.String({ description: 'The version of the policy.', examples: ['sandbox-policy-v1'] }),
    policy_checksum: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the policy’s canonical JSON.' }),
    reference: Type.Optional(Reference('Your own name for the request, if it was sent with one.')),
    request_id: Type.String({
      description: 'The request that asked for it.',
      examples: ['req_06fk3v8tz9y7q2m4n6p8r0s1t3'],
    }),
    created_at: Timestamp('When it was decided.'),
  },
  { title: 'UnderwritingDecision', description: 'A verdict with its reasons. It never changes.' },
)

/** The path parameter of every endpoint under a decision. */
export const DecisionPath = Type.Object({ decision_id: Type.String({ description: 'The id of a decision.' }) })

/** The fields of a review; the objects in them are strict in a request and open in an answer. */
const reviewFields = (Nested: typeof Open) => ({
  verdict: OneOf(REVIEW_VERDICTS, { description: 'What the reviewer decided.' }),
  reviewer: Nested(
    {
      id: Text(255, 'Your own id of the reviewer; not the id of an operator of the console (`opr_…`).'),
      name: Type.Optional(Text(255, 'The name of the reviewer.')),
    },
    { description: 'Who reviewed it.' },
  ),
  reason: Type.String({
    minLength: 1,
    maxLength: 5000,
    pattern: NOT_BLANK,
    description: 'The reason for the verdict, in words; not blank.',
    examples: ['Payslips of three months seen.'],
  }),
  reason_codes: Type.Optional(
    Type.Array(Text(100, 'A reason code.'), { maxItems: 20, description: 'Codes of your own or of the policy.' }),
  ),
  conditions: Type.Optional(
    Type.Array(
      Nested({
        code: Text(100, 'A code, for programs.'),
        label: Text(500, 'The condition in words, for people.'),
      }),
      {
        minItems: 1,
        maxItems: 20,
        description: 'What the applicant has to do first; with `approve_with_conditions`, and only with it.',
      },
    ),
  ),
  recommended_limit: Type.Optional(
    Money(
      { exclusiveMinimum: 0, maximum: AMOUNT_MAX },
      'The limit that the reviewer recommends, in major units; only with an approval of credit.',
    ),
  ),
  currency: Type.Optional(Currency),
})

export const SubmitReviewRequest = Strict(reviewFields(Strict), {
  title: 'SubmitReviewRequest',
  description: 'The verdict of a person, with the reason.',
})

export const Review = Open(
  {
    id: Id('rev', 'The id of the review.'),
    object: ObjectName('review'),
    decision_id: Id('dec', 'The decision that was reviewed.'),
    entity_id: Id('ent', 'The entity of the decision.'),
    overrides: Type.Boolean({
      description: 'Whether the verdict differs from the decision’s; false if that was `manual_review`.',
    }),
    ...reviewFields(Open),
    created_at: Timestamp('When it was submitted.'),
  },
  { title: 'Review', description: 'A person’s review of a decision.' },
)
export type Review = Static<typeof Review>

const outcomeFields = {
  type: OneOf(OUTCOME_TYPES, { description: 'What happened. `repaid` needs a `funded` before it.' }),
  occurred_at: Timestamp('When it happened: not before the decision, nor in the future.'),
  days_past_due: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: 'How many days the oldest unpaid instalment is overdue.',
    }),
  ),
  amount: Type.Optional(
    Money({ minimum: 0, maximum: AMOUNT_MAX }, 'The amount in major units, together with `currency`.'),
  ),
  currency: Type.Optional(Currency),
  note: Type.Optional(Text(2000, 'Any text; required with `override`.')),
  override: Type.Optional(
    Type.Boolean({
      description:
        'Records the outcome although it does not fit its decision (`outcome_mismatch`). The audit entry says what did not fit. Of an outcome that fits, it is not stored.',
    }),
  ),
}

export const RecordOutcomeRequest = Strict(outcomeFields, {
  title: 'RecordOutcomeRequest',
  description: 'What really happened after the decision.',
})

export const Outcome = Open(
  {
    id: Id('out', 'The id of the outcome.'),
    object: ObjectName('outcome'),
    decision_id: Id('dec', 'The decision whose outcome it is.'),
    entity_id: Id('ent', 'The entity of the decision.'),
    ...outcomeFields,
    created_at: Timestamp('When it was recorded.'),
  },
  { title: 'Outcome', description: 'What happened after a decision, as it was recorded.' },
)
export type Outcome = Static<typeof Outcome>
