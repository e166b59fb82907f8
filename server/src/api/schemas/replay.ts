import { Checkpoint } from '../../core/audit/checkpoint-schema.ts'
import { MISSING_BECAUSE } from '../../core/facts/facts.ts'
import { Nullable, ObjectName, OneOf, Open, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { IMPACTS, VERDICTS } from '../../core/vocabularies.ts'
import { AuditEntry, LogName } from './audit-trail.ts'
import { Outcome, Review, UnderwritingDecision } from './decision.ts'

const AnyObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description })
const AnyValue = Type.Unsafe<unknown>({ description: 'Any JSON value; null if this side has no value at the path.' })

const Value = Type.Unsafe<number | string | boolean | null>({
  type: ['number', 'string', 'boolean', 'null'],
  description: 'The value; null if it is missing.',
})
const Missing = OneOf(Object.keys(MISSING_BECAUSE) as (keyof typeof MISSING_BECAUSE)[], {
  description: `Why there is no value. ${Object.entries(MISSING_BECAUSE)
    .map(([cause, meaning]) => `\`${cause}\`: ${meaning}`)
    .join(' ')}`,
})
const AgeDays = Type.Number({ description: 'The age of the value in days, if it can grow old.', examples: [14] })
const Feature = Type.String({ description: 'The name of the feature.', examples: ['cashflow.days_observed'] })
const Ppm = (description: string) => Type.Integer({ description: `${description} In millionths.`, examples: [920900] })
const Points = (description: string) => Type.Number({ description, examples: [42] })
const SettledBy = Type.String({
  description: 'The step that settled the verdict; docs/deciding.md explains each.',
  examples: ['review_rule'],
})
const BetterVerdict = OneOf(VERDICTS, { description: 'The verdict on it.' })

const Score = Open(
  {
    base: Points('The points that every applicant starts with.'),
    rule_points: Type.Optional(Points('What rules add to the score; absent if the policy has no such rules.')),
    total: Points('The score: `base`, the points of every line of the scorecard, and those of rules.'),
    cutoff: Points('The score below which nothing is approved.'),
    bad_ppm: Nullable(
      Ppm(
        'The probability of a bad outcome: by the score, or the external one that the policy names; null if that is missing, and for access without credit.',
      ),
    ),
    probability_source: Type.Optional(
      Nullable(
        OneOf(['external', 'table'], {
          description:
            'Where `bad_ppm` is from: the feature that the policy names as `external_probability`, or its table, which counts if the feature is missing; null if there is neither. Absent if the policy names no such feature.',
        }),
      ),
    ),
  },
  { description: 'The score of the requested amount.' },
)

const Completeness = Open(
  {
    ppm: Ppm('`known_weight` as a share of `total_weight`.'),
    known_weight: Type.Number({ description: 'The weight of the inputs that have a value.' }),
    total_weight: Type.Number({ description: 'The weight of all inputs that apply to the request.' }),
    missing: Type.Array(Type.String(), { description: 'The features without a value that apply to the request.' }),
  },
  { description: 'How much of what the policy reads is known.' },
)

const Confidence = Open(
  {
    ppm: Ppm('How sure it is that the score is on its side of the cutoff.'),
    decline_ppm: Ppm('How sure it is that the score is below the cutoff, whatever the missing values are.'),
    distance: Type.Number({ description: 'The score minus the cutoff.' }),
    variance: Type.Number({ description: 'The variance of the score, with what is missing or old.' }),
  },
  { description: 'How sure the score is; null for access without credit.' },
)

const Product = Open(
  {
    requested: Nullable(Type.String({ description: 'The product of the request.' })),
    applied: Type.String({ description: 'The product of the policy whose terms were used.', examples: ['default'] }),
    is_fallback: Type.Boolean({
      description: 'Whether the policy does not list the requested product, so that the terms of `applied` were used.',
    }),
    term_months: Nullable(Type.Integer({ description: 'The number of monthly instalments.', examples: [12] })),
    annual_rate: Nullable(
      Type.Number({
        description: 'The annual interest rate, of the tier if the product has a price for it; 0.12 is twelve percent.',
        examples: [0.12],
      }),
    ),
    annuity_factor: Nullable(Type.Number({ description: 'The credit that one unit of monthly instalment repays.' })),
    fee_rate: Nullable(
      Type.Number({ description: 'The fee as a share of the amount; 0.02 is two percent.', examples: [0] }),
    ),
    fee_amount: Nullable(Type.Number({ description: 'The fixed fee, in the currency of the request.', examples: [0] })),
    instalment: Nullable(
      Type.Number({ description: 'The monthly instalment of what is approved, or else of what was requested.' }),
    ),
  },
  {
    description:
      'The terms that the instalment and the limit were computed with; all of them are null for access without credit.',
  },
)

const RuleTrace = Open(
  {
    rule: Type.String({ description: 'The id of the rule or of the decision table.', examples: ['short_history'] }),
    row: Type.Optional(Type.String({ description: 'Of a decision table: the row that holds the values.' })),
    action: Type.String({
      description: 'What the rule does if it holds; what the row does, or `none`.',
      examples: ['manual_review'],
    }),
    holds: Nullable(Type.Boolean({ description: 'Whether it holds; null if that depends on a missing feature.' })),
    missing: Type.Optional(
      Type.Array(Type.String(), { description: 'The missing features that would have decided it.' }),
    ),
    points: Type.Optional(Points('What it adds to the score, if it holds and adds points.')),
    code: Type.String({ description: 'The code of its reason.', examples: ['short_history'] }),
    label: Type.String({ description: 'Its reason in words.' }),
    explanation: Type.String({ description: 'Why the policy has this rule.' }),
    when: Type.String({ description: 'Its condition, in CEL.', examples: ['cashflow.days_observed < 75'] }),
    values: Type.Array(
      Open({
        feature: Feature,
        value: Value,
        age_days: Type.Optional(AgeDays),
        missing: Type.Optional(Missing),
      }),
      { description: 'The values that its condition reads.' },
    ),
    thresholds: Type.Array(
      Open({
        feature: Feature,
        operator: OneOf(['<', '<=', '>', '>='], { description: 'The comparison, with the feature on its left.' }),
        threshold: Type.Number({ description: 'The number that the feature is compared with.', examples: [75] }),
        value: Type.Number({ description: 'The value of the feature.', examples: [71] }),
        distance: Type.Number({ description: 'How far the value is from the threshold.', examples: [4] }),
      }),
      { description: 'The numbers that decide it alone: if one of them crossed its threshold, the rule would turn.' },
    ),
  },
  { title: 'RuleTrace', description: 'What one rule found.' },
)

const ScorecardLine = Open(
  {
    characteristic: Type.String({ description: 'The id of the characteristic.', examples: ['lowest_balance'] }),
    label: Type.String({
      description: 'What it measures, by the policy; by the catalogue of features if the policy does not say.',
    }),
    feature: Feature,
    group: Type.String({ description: 'The group of characteristics that measure the same thing.' }),
    value: Value,
    age_days: Type.Optional(AgeDays),
    missing: Type.Optional(Missing),
    bin: Type.String({ description: 'The range of values that it falls into.', examples: ['3 or more'] }),
    points: Points('What it adds to the score.'),
    reference: Points('The points of applicants just above the cutoff.'),
    shortfall: Points('`reference` minus `points`; below zero it is a strength.'),
  },
  { title: 'ScorecardLine', description: 'The points of one characteristic.' },
)

const Limit = Open(
  {
    currency: Type.String({ description: 'The currency of the request.', examples: ['EUR'] }),
    amount: Nullable(
      Type.Number({ description: 'The largest amount that is approved; 0 if none is, null if that is not known.' }),
    ),
    binding: Nullable(
      Type.String({
        description:
          'What keeps the limit from being higher: a term, a rule or `table/row` that caps it, `minimum` or `maximum` of the product, `requested`, `risk` or `rule`.',
        examples: ['income'],
      }),
    ),
    step: Nullable(Type.Number({ description: 'Limits are multiples of this; null for an unknown currency.' })),
    missing: Type.Array(Type.String(), { description: 'The features without which a term has no value.' }),
    terms: Type.Array(
      Open({
        term: Type.String({ description: 'A term of the policy, or `requested`.', examples: ['income'] }),
        amount: Type.Number({ description: 'The highest amount that it allows.' }),
      }),
      { description: 'The upper bounds of the limit.' },
    ),
  },
  { description: 'The limit, its terms, and which of them binds.' },
)

const BetterAmount = Open(
  {
    amount: Type.Number({ description: 'The amount, in major units.', examples: [1500] }),
    currency: Type.String({ description: 'The currency of the request.', examples: ['EUR'] }),
    verdict: BetterVerdict,
    settled_by: SettledBy,
  },
  {
    description:
      'The largest smaller amount, a multiple of the limit’s step, whose verdict is better; null if there is none.',
  },
)

const AmountFigures = (description: string) =>
  Open(
    {
      amount: Type.Number({ description: 'The amount, in major units.', examples: [1500] }),
      instalment: Type.Number({ description: 'Its monthly instalment, at the price of its tier.' }),
      annual_rate: Type.Number({ description: 'Its annual interest rate; 0.12 is twelve percent.', examples: [0.12] }),
      tier: Type.String({ description: 'Its risk tier.', examples: ['B'] }),
      score: Points('Its score.'),
      bad_ppm: Nullable(Ppm('Its probability of a bad outcome.')),
      confidence: Confidence,
      request: AnyObject('What is measured from the amount, as in `evidence.request`.'),
      scorecard: Type.Array(ScorecardLine, {
        description: 'The lines of the scorecard that are measured from the amount.',
      }),
    },
    { description },
  )

const CounterOffer = Open(
  {
    currency: Type.String({ description: 'The currency of the request.', examples: ['EUR'] }),
    asked: AmountFigures('The figures of the requested amount, which `evidence.score` and its neighbours have too.'),
    offered: AmountFigures('The figures of the amount that is offered.'),
  },
  { description: 'The figures of a counter-offer beside those of the request; null for any other decision.' },
)

/** The exposure that a decision was given. Its members may be added to, and its hash covers all of them. */
export const GraphEvidence = Type.Object(
  {
    negative_exposure: Type.Optional(Type.Number({ description: 'How strongly bad outcomes of others reach it.' })),
    negative_exposure_without_payments: Type.Optional(
      Type.Number({ description: 'The same, without paths over payments.' }),
    ),
    positive_support: Type.Optional(Type.Number({ description: 'How strongly good outcomes of others reach it.' })),
    evidence_count: Type.Optional(Type.Integer({ description: 'How many entities with outcomes reach it.' })),
    as_of: Type.Optional(Timestamp('When it was computed; absent if it never was.')),
    paths: Type.Optional(
      Type.Array(
        Type.Object(
          {
            entity_id: Type.String({ description: 'The entity with the bad outcomes.' }),
            edges: Type.Array(Type.String(), { description: 'The types of the links that lead to it.' }),
            strength: Type.Number({ description: 'How much of an outcome the path carries, 0 to 1.' }),
            share: Type.Number({ description: 'Its share in the sum of all contributions.' }),
            uses_payments: Type.Boolean({ description: 'Whether a link of the path is a payment link.' }),
          },
          { additionalProperties: true },
        ),
        { description: 'The paths that contribute most to the negative exposure, at most three.' },
      ),
    ),
  },
  {
    additionalProperties: true,
    description:
      'The entity’s exposure in the trust graph and the paths that cause it, as recorded with the decision; without members if the entity’s links could not be looked at.',
  },
)

const Source = Open(
  {
    provides: Type.String({
      description: 'What it provided: `transactions`, `identity_links` or `feature_snapshots`.',
      examples: ['transactions'],
    }),
    kind: Type.String({ description: 'What the source is.', examples: ['bank'] }),
    name: Type.Optional(Type.String({ description: 'Its name.', examples: ['Stadtbank'] })),
    address: Type.Optional(Type.String({ description: 'Its postal address.' })),
    phone: Type.Optional(Type.String({ description: 'Its telephone number.' })),
    first_at: Timestamp('When it first provided such data about the entity.'),
  },
  { title: 'EvidenceSource', description: 'A source of the data that was on file when the decision was made.' },
)

const Evidence = Open(
  {
    feature_snapshot: Nullable(AnyObject('Every fact that the decision was given, as it was recorded.')),
    merged: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'The entities that were merged when the decision was made, sorted by id: it was made from the facts of all of them. Absent if the entity was not merged.',
        examples: [['ent_01JZ7Q0V4T5KXW9M3N8R6B2C1D', 'ent_01JZ7Q0V4T5KXW9M3N8R6B2C1E']],
      }),
    ),
    policy_version: Nullable(Type.String({ description: 'The version of the policy.' })),
    policy_checksum: Nullable(Type.String({ description: 'The checksum of the policy as it is stored now.' })),
    policy: Nullable(AnyObject('The policy document.')),
    model_version: Nullable(Type.String({ description: 'The version of the scorecard.' })),
    engine_version: Nullable(Type.String({ description: 'The version of the engine that replayed it.' })),
    settled_by: Nullable(SettledBy),
    score: Nullable(Score),
    completeness: Nullable(Completeness),
    confidence: Nullable(Confidence),
    segment: Nullable(
      Type.String({ description: 'The segment of the policy that the applicant is in; null if it is in none.' }),
    ),
    product: Nullable(Product),
    request: Nullable(AnyObject('The features that were measured from the requested amount.')),
    missing_features: Type.Array(Open({ feature: Feature, missing: Missing }), {
      description: 'The inputs of the policy without a value, and why each has none.',
    }),
    derived: Type.Array(
      Open({ feature: Feature, value: Value, age_days: Type.Optional(AgeDays), missing: Type.Optional(Missing) }),
      { description: 'The features that the policy computes, with their values.' },
    ),
    rule_trace: Type.Array(RuleTrace, {
      description:
        'What each rule of the policy found, in their order: before the score, then after it; then each decision table.',
    }),
    scorecard: Type.Array(ScorecardLine, {
      description: 'The points of each characteristic.',
    }),
    limit: Nullable(Limit),
    better_amount: Nullable(BetterAmount),
    counter_offer: Nullable(CounterOffer),
    reasons: Type.Array(
      Open({
        code: Type.String({ description: 'The code of the reason.' }),
        label: Type.String({ description: 'The reason in words.' }),
        impact: OneOf(IMPACTS, { description: 'Whether it counts for or against the applicant.' }),
        node: Type.String({
          description: 'The part of the evidence that it comes from.',
          examples: ['rule_trace/short_history'],
        }),
      }),
      { description: 'The reasons of the decision, each with the part of the evidence that it comes from.' },
    ),
    graph: Nullable(GraphEvidence),
    sources: Type.Array(Source, {
      description:
        'Where the data came from that was on file when the decision was made, as `provided_by` of the requests said. A notice to the applicant names them.',
    }),
  },
  {
    description:
      'What the decision was made from. `feature_snapshot`, `policy` and `graph` are what was recorded; everything else is computed again from them. Members are null, and lists empty, if the recorded parts can no longer be read.',
  },
)

export const DecisionReplay = Open(
  {
    object: ObjectName('decision_replay'),
    decision_id: Type.String({ description: 'The decision that was replayed.' }),
    matches: Type.Boolean({ description: 'Whether the replay found no differences.' }),
    differences: Type.Array(
      Open({
        path: Type.String({ description: 'Where they differ, as a JSON pointer.' }),
        recorded: AnyValue,
        replayed: AnyValue,
      }),
      { description: 'Where the recorded decision and the replayed one differ.' },
    ),
    erased: Type.Optional(
      Open(
        {
          approved_at: Timestamp('When the second operator approved the erasure.'),
          evidence: OneOf(['kept', 'without_texts', 'gone'], {
            description:
              'What is left of the evidence: all of it, all but texts that callers sent, which `[erased]` stands for, or only the hashes on the log.',
          }),
        },
        {
          description:
            'There if the entity of the decision was erased, or texts of one that it was merged with at the time.',
        },
      ),
    ),
    decision: Nullable(UnderwritingDecision),
    replayed: Nullable(AnyObject('The decision that the replay computed; null if its evidence can no longer be read.')),
    evidence: Evidence,
    reviews: Type.Array(Review, {
      description:
        'The reviews that were recorded since the decision, oldest first; the newest 100 if there are more. No part of the decision.',
    }),
    outcomes: Type.Array(Outcome, {
      description:
        'The outcomes that were recorded since the decision, oldest first; the newest 100 if there are more. No part of the decision.',
    }),
    audit: Open(
      {
        entry_id: Nullable(Type.String({ description: 'The id of the decision’s audit entry.' })),
        entry: Nullable(AuditEntry),
        log: LogName,
        leaf_index: Nullable(Type.Integer({ description: 'The position of the entry in the log.' })),
        inclusion_proof: Nullable(
          Type.Array(Type.String(), { description: 'The hashes that lead from the entry to `checkpoint` (RFC 9162).' }),
        ),
        checkpoint: Nullable(Checkpoint),
      },
      { description: 'The proof that the decision is on the signed log.' },
    ),
    replayed_at: Timestamp('When it was replayed.'),
  },
  { title: 'DecisionReplay', description: 'A decision evaluated again, with its evidence and its proof.' },
)
