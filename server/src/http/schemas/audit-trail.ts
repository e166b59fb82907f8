import type { Static } from 'typebox'
import { ACTOR_TYPES } from '../../core/audit/audit-entry.ts'
import { Checkpoint } from '../../core/audit/checkpoint-schema.ts'
import { Id, Nullable, OneOf, Sha256, Strict, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { ENVIRONMENTS } from '../../core/vocabularies.ts'

export const AuditEntry = Strict(
  {
    id: Id('aud', 'The id of the entry.'),
    object: Type.Literal('audit_entry'),
    seq: Type.Integer({ minimum: 1, description: 'The position of the entry on this trail: 1, 2, 3 …' }),
    trail_id: Type.String({
      description: 'The trail of the entry: the id of the entity. Part of what `leaf_hash` covers.',
    }),
    type: Type.String({ description: 'What happened.', examples: ['entity.created'] }),
    occurred_at: Timestamp('When it happened.'),
    actor: Strict({ type: OneOf(ACTOR_TYPES), id: Type.String() }),
    request_id: Nullable(Type.String()),
    subject: Strict({ type: Type.String(), id: Type.String() }),
    data: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    leaf_hash: Sha256('The hash of the entry’s leaf in the audit log.'),
    leaf_index: Nullable(
      Type.Integer({
        minimum: 0,
        description: 'The position of the entry in the audit log; null until it is sealed, within five seconds.',
      }),
    ),
  },
  { title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

/** The name of a log. */
export const LogName = Strict(
  { environment: OneOf(ENVIRONMENTS), organization_id: Id('org', 'The organization whose log it is.') },
  { description: 'Names the log. Both are part of what the signature of `checkpoint` covers.' },
)

export const AuditTrail = Strict(
  {
    object: Type.Literal('list'),
    data: Type.Array(AuditEntry),
    has_more: Type.Boolean(),
    next_cursor: Nullable(Type.String()),
    log: LogName,
    checkpoint: Nullable(Checkpoint),
  },
  { title: 'AuditTrail' },
)
