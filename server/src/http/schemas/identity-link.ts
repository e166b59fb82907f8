import type { Static } from 'typebox'
import { Id, OneOf, Strict, Text, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { IDENTIFIER_TYPES, RELATIONSHIPS, VERIFICATION_STATUSES } from '../../core/vocabularies.ts'

const Verification = Strict(
  {
    status: OneOf(VERIFICATION_STATUSES),
    method: Type.Optional(Text(100, 'How it was checked, for example `document` or `micro_deposit`.')),
    provider: Type.Optional(Text(100, 'The provider of the check.')),
    reference: Type.Optional(Text(255, 'The provider’s reference for the check.')),
    verified_at: Type.Optional(Timestamp('When it was checked.')),
  },
  { title: 'Verification' },
)

const relationshipFields = {
  related_entity_id: Type.Optional(Id('ent', 'The entity that the relationship leads to.')),
  relationship: Type.Optional(OneOf(RELATIONSHIPS)),
  ownership_share: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description: 'The share that is owned, above 0 and up to 1; only with the relationship `owner`.',
    }),
  ),
}

export const CreateIdentityLinkRequest = Strict(
  {
    identifier: Type.Optional(
      Strict({
        type: OneOf(IDENTIFIER_TYPES),
        value: Text(
          255,
          'The identifier itself. It is stored as a keyed hash and never returned. A phone number needs a digit, any other identifier a letter or a digit.',
        ),
        issuer: Type.Optional(Text(100, 'The issuer, for example a country or a bank.')),
      }),
    ),
    ...relationshipFields,
    verification: Verification,
  },
  {
    title: 'CreateIdentityLinkRequest',
    description: 'Give exactly one of `identifier` and `related_entity_id`.',
    examples: [
      {
        identifier: { type: 'tax_id', value: '00-0000000', issuer: 'US' },
        verification: { status: 'verified', method: 'registry' },
      },
    ],
  },
)
export type CreateIdentityLinkRequest = Static<typeof CreateIdentityLinkRequest>

export const IdentityLink = Strict(
  {
    id: Id('idl', 'The id of the link.'),
    object: Type.Literal('identity_link'),
    entity_id: Id('ent', 'The entity it belongs to.'),
    identifier: Type.Optional(
      Strict({
        type: OneOf(IDENTIFIER_TYPES),
        value: Type.String({
          description: 'The masked value, which shows at most the last four characters.',
          examples: ['****6789'],
        }),
        issuer: Type.Optional(Type.String()),
      }),
    ),
    ...relationshipFields,
    verification: Verification,
    created_at: Timestamp('When it was recorded.'),
  },
  { title: 'IdentityLink' },
)
export type IdentityLink = Static<typeof IdentityLink>
