import type { Static, TObject, TSchema } from 'typebox'
import { Checkpoint } from '../audit/checkpoint-schema.ts'
import { MISMATCHES } from '../outcome-mismatch.ts'
import { Id, Nullable, OneOf, Sha256 } from '../schema/fields.ts'
import { Type } from '../schema/type.ts'
import { IDENTIFIER_TYPES, VERDICTS, VERIFICATION_STATUSES } from '../vocabularies.ts'

const entity_id = Id('ent', 'The entity it is about.')
const decision_id = Id('dec', 'The decision it is about.')
const decision = {
  decision_id,
  reference: Type.Optional(
    Type.String({
      description: 'The name that the caller gave the request for the decision, if it was sent with one.',
      examples: ['application-8841'],
    }),
  ),
}
const Verdict = (description: string) => OneOf(VERDICTS, { description })
const Count = (description: string) => Type.Integer({ minimum: 0, description })
const policy = {
  policy_version: Type.String({ description: 'The version of the policy.', examples: ['sandbox-policy-v1'] }),
  policy_checksum: Sha256('SHA-256 of the policy.'),
}
const recordHash = (record: string) => ({
  record_sha256: Sha256(`SHA-256 of the stored ${record}, all its columns, as canonical JSON.`),
})
const consent = {
  entity_id,
  consent_id: Id('con', 'The consent.'),
  purpose: Type.String({ description: 'What the consent is for.', examples: ['credit_underwriting'] }),
  data_categories: Type.Array(Type.String(), {
    description: 'The kinds of data it covers.',
    examples: [['identity', 'transactions']],
  }),
  ...recordHash('consent'),
}

/** What an event announces, and the schema of its data: ids, verdicts and versions, never personal data. */
interface EventDescription {
  summary: string
  data: Record<string, TSchema>
}

/** The catalogue of events that webhooks announce. Types are only ever added; a type's data only gains fields. */
export const EVENTS = {
  'entity.created': { summary: 'An entity was created', data: { entity_id } },
  'entity.updated': {
    summary: 'Fields of an entity changed',
    data: {
      entity_id,
      changed: Type.Array(Type.String(), { description: 'The names of the fields.', examples: [['country']] }),
    },
  },
  'entity.merged': {
    summary: 'Two operators merged entities, or told one of them apart again',
    data: {
      entity_id: Id('ent', 'The entity that joined the others, or was told apart from them.'),
      state: OneOf(['merged', 'separated'], { description: 'Whether it is read with the others now.' }),
      members: Type.Array(Id('ent', 'An entity.'), {
        minItems: 1,
        description:
          'The entities that are read as one now, `entity_id` among them. Of a separation, the others: they stay merged if they are more than one.',
      }),
    },
  },
  'entity.erased': {
    summary: 'Two operators erased an entity: from now on its id is unknown, and its external id is free',
    data: { entity_id: Id('ent', 'The entity that was erased.') },
  },
  'identity_link.created': {
    summary: 'An identity link was added to an entity',
    data: {
      entity_id,
      identity_link_id: Id('idl', 'The identity link.'),
      identifier_type: Type.Optional(OneOf(IDENTIFIER_TYPES, { description: 'The type of an identifier.' })),
      related_entity_id: Type.Optional(Id('ent', 'The entity at the other end of a relationship.')),
      relationship: Type.Optional(Type.String({ description: 'The type of a relationship.', examples: ['owner'] })),
      verification_status: OneOf(VERIFICATION_STATUSES, { description: 'The result of verification.' }),
      ...recordHash('identity link'),
    },
  },
  'consent.granted': { summary: 'A consent was granted', data: consent },
  'consent.revoked': { summary: 'A consent was revoked', data: consent },
  'transactions.ingested': {
    summary: 'A batch of transactions was ingested',
    data: {
      entity_id,
      batch_id: Id('txb', 'The batch.'),
      received: Count('How many transactions were sent.'),
      accepted: Count('How many were new.'),
      duplicates: Count('How many were known already, as they are.'),
      conflicts: Type.Optional(Count('How many were known with other content and changed nothing; absent if none.')),
      balances: Type.Optional(Count('How many statement balances were new; absent if none.')),
      accounts_changed: Type.Optional(
        Count('How many accounts became known, or are of another kind or have other holders now; absent if none.'),
      ),
    },
  },
  'transactions.corrected': {
    summary: 'Recorded transactions were corrected or voided by a batch',
    data: {
      entity_id,
      batch_id: Id('txb', 'The batch.'),
      corrected: Count('How many have other content now.'),
      voided: Count('How many count no more.'),
      ...recordHash('record of what they were'),
    },
  },
  'feature_snapshot.created': {
    summary: 'A feature snapshot was recorded',
    data: {
      entity_id,
      feature_snapshot_id: Id('fsn', 'The snapshot.'),
      ...recordHash('snapshot'),
    },
  },
  'decision.created': {
    summary: 'A decision was made',
    data: {
      entity_id,
      ...decision,
      product: Type.String({ description: 'The product that was asked for.', examples: ['credit_line'] }),
      verdict: Verdict('The verdict of the policy.'),
      ...policy,
      decision_sha256: Sha256('SHA-256 of the decision’s canonical JSON.'),
      facts_sha256: Sha256('SHA-256 of the facts it was made on, as canonical JSON.'),
      trace_sha256: Sha256('SHA-256 of everything that led to it, as canonical JSON.'),
      graph_sha256: Sha256('SHA-256 of the paths behind its exposure, as canonical JSON.'),
    },
  },
  'decision.reviewed': {
    summary: 'A person reviewed a decision',
    data: {
      entity_id,
      ...decision,
      review_id: Id('rev', 'The review.'),
      verdict: Verdict('The verdict of the reviewer.'),
      overrides: Type.Boolean({
        description: 'Whether it overrides the decision: never where the decision was `manual_review`.',
      }),
      ...recordHash('review'),
    },
  },
  'case.signature_due': {
    summary: 'A person approved more than they may alone: a second person has to sign the case',
    data: {
      entity_id,
      case_id: Id('cas', 'The case of the review queue.'),
      signature_id: Id('sig', 'The first signature.'),
      ...recordHash('signature'),
    },
  },
  'decision.outcome_recorded': {
    summary: 'An outcome of a decision was recorded',
    data: {
      entity_id,
      ...decision,
      outcome_id: Id('out', 'The outcome.'),
      outcome_type: Type.String({ description: 'What happened.', examples: ['repaid'] }),
      overridden: Type.Optional(
        Type.Array(OneOf(MISMATCHES, { description: 'One thing that did not fit.' }), {
          minItems: 1,
          description: 'What does not fit the decision, if the outcome was recorded all the same (`override`).',
        }),
      ),
      ...recordHash('outcome'),
    },
  },
  'decision.outcome_retracted': {
    summary: 'Two operators took an outcome back: it does not count any more',
    data: {
      entity_id,
      ...decision,
      outcome_id: Id('out', 'The outcome.'),
      outcome_type: Type.String({ description: 'What had been reported.', examples: ['default'] }),
      ...recordHash('retraction'),
    },
  },
  'decision.reevaluation_due': {
    summary: 'New facts would turn the verdict of an entity’s latest decision',
    data: {
      entity_id,
      ...decision,
      decided_verdict: Verdict('The verdict of the decision.'),
      previous_verdict: Verdict('The verdict that was announced last.'),
      current_verdict: Verdict('The verdict that the facts give now.'),
      ...policy,
    },
  },
  'policy.activated': {
    summary: 'A policy came into force',
    data: {
      policy_id: Id('pol', 'The policy.'),
      ...policy,
      previous_policy_version: Nullable(
        Type.String({ description: 'The version that it replaced; null if there was none.' }),
      ),
    },
  },
  'audit.checkpoint': {
    summary: 'The audit log grew, and its new head was signed',
    data: Checkpoint.properties,
  },
  'webhook.test': {
    summary: 'A test was requested, with `POST /v1/webhook-test` or by an operator',
    data: { request_id: Type.String({ description: 'The request that asked for it.' }) },
  },
} as const satisfies Record<string, EventDescription>

/** The type of an event. */
export type EventType = keyof typeof EVENTS

/** Every type of event, in the order of the catalogue. */
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[]

/**
 * The data of an event as it is recorded. `reference` is the caller's text, which an entry could not take back: it is added
 * when the event is sent.
 */
export type EventData<T extends EventType> = Omit<Static<TObject<(typeof EVENTS)[T]['data']>>, 'reference'>
