import type { Static } from 'typebox'
import { Id, Nullable, OneOf, Strict, Timestamp } from './fields.ts'
import { Type } from './type.ts'

const Sha256 = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description })

export const Checkpoint = Strict(
  {
    tree_size: Type.Integer({ minimum: 0, description: 'How many leaves the tree has.' }),
    root_hash: Sha256('Root of the RFC 9162 tree over them.'),
    signed_at: Timestamp('When the head was signed.'),
    key_id: Type.String({ description: 'Which key signed it.' }),
    signature: Type.String({ description: 'Ed25519, in hexadecimal.' }),
  },
  { title: 'Checkpoint', description: 'A signed head of the organization’s audit log.' },
)
export type Checkpoint = Static<typeof Checkpoint>

export const AuditEntry = Strict(
  {
    id: Id('aud', 'The id of the entry.'),
    object: Type.Literal('audit_entry'),
    seq: Type.Integer({ minimum: 1, description: 'Its place on this trail: 1, 2, 3 …' }),
    type: Type.String({ description: 'What happened.', examples: ['entity.created'] }),
    occurred_at: Timestamp('When it happened.'),
    actor: Strict({ type: OneOf(['api_key', 'operator', 'system']), id: Type.String() }),
    request_id: Nullable(Type.String()),
    subject: Strict({ type: Type.String(), id: Type.String() }),
    data: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    leaf_hash: Sha256('Hash of its leaf in the audit log.'),
    leaf_index: Nullable(
      Type.Integer({
        minimum: 0,
        description: 'Its place in the audit log; null until it is sealed, within a second.',
      }),
    ),
  },
  { title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

export const AuditTrail = Strict(
  {
    object: Type.Literal('list'),
    data: Type.Array(AuditEntry),
    has_more: Type.Boolean(),
    next_cursor: Nullable(Type.String()),
    checkpoint: Nullable(Checkpoint),
  },
  { title: 'AuditTrail' },
)
