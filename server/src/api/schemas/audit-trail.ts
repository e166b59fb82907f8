import type { Static } from 'typebox'
import { ACTOR_TYPES } from '../../core/audit/audit-entry.ts'
import { Checkpoint } from '../../core/audit/checkpoint-schema.ts'
import { Id, Nullable, ObjectName, OneOf, Open, Sha256, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { EnvironmentName } from './fields.ts'

export const AuditEntry = Open(
  {
    id: Id('aud', 'The id of the entry.'),
    object: ObjectName('audit_entry'),
    seq: Type.Integer({ minimum: 1, description: 'The position of the entry on this trail: 1, 2, 3 …' }),
    trail_id: Type.String({
      description: 'The trail of the entry: the id of the entity. Part of what `leaf_hash` covers.',
    }),
    type: Type.String({ description: 'What happened.', examples: ['entity.created'] }),
    occurred_at: Timestamp('When it happened.'),
    actor: Open(
      { type: OneOf(ACTOR_TYPES, { description: 'The kind of actor.' }), id: Type.String({ description: 'Its id.' }) },
      { description: 'The key, the operator or the part of the service that acted.' },
    ),
    request_id: Nullable(Type.String({ description: 'The request that caused it; null if no request did.' })),
    subject: Open(
      { type: Type.String({ description: 'The type of the record.' }), id: Type.String({ description: 'Its id.' }) },
      { description: 'The record that the entry is about.' },
    ),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Ids, verdicts, versions and hashes; never personal data.',
    }),
    leaf_hash: Sha256('The hash of the entry’s leaf in the audit log.'),
    leaf_index: Nullable(
      Type.Integer({
        minimum: 0,
        description: 'The position of the entry in the audit log; null until it is sealed, within five seconds.',
      }),
    ),
  },
  { title: 'AuditEntry', description: 'Something that happened to an entity, as it stands on the audit log.' },
)
export type AuditEntry = Static<typeof AuditEntry>

/** The name of a log. */
export const LogName = Open(
  { environment: EnvironmentName, organization_id: Id('org', 'The organization whose log it is.') },
  { description: 'Names the log. Both are part of what the signature of `checkpoint` covers.' },
)

export const AuditTrail = Open(
  {
    object: ObjectName('list'),
    data: Type.Array(AuditEntry, { description: 'The entries of this page, newest first.' }),
    has_more: Type.Boolean({ description: 'Whether there is another page.' }),
    next_cursor: Nullable(Type.String({ description: 'The `cursor` of the next page; null on the last one.' })),
    log: LogName,
    checkpoint: Nullable(Checkpoint),
  },
  { title: 'AuditTrail', description: 'A page of an entity’s audit trail, with the newest signed head of the log.' },
)
