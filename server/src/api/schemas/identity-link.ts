import type { Static } from 'typebox'
import { Id, ObjectName, OneOf, Open, Strict, Text, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { IDENTIFIER_TYPES, RELATIONSHIPS, VERIFICATION_STATUSES } from '../../core/vocabularies.ts'
import { DataSource, DataSourceRequest } from './fields.ts'

const verification = {
  status: OneOf(VERIFICATION_STATUSES, { description: 'The result; `unverified` means that nothing was checked.' }),
  method: Type.Optional(Text(100, 'How it was checked, for example `document` or `micro_deposit`.')),
  provider: Type.Optional(Text(100, 'The provider of the check.')),
  reference: Type.Optional(Text(255, 'The provider’s reference for the check.')),
  verified_at: Type.Optional(Timestamp('When it was checked.')),
}
const VERIFICATION = 'How the identifier or the relationship was checked.'
const IDENTIFIER = 'Something that identifies the entity.'
const IdentifierKind = OneOf(IDENTIFIER_TYPES, { description: 'The kind of identifier.' })

const relationshipFields = {
  related_entity_id: Type.Optional(Id('ent', 'The entity that the relationship leads to.')),
  relationship: Type.Optional(OneOf(RELATIONSHIPS, { description: 'What this entity is to the related one.' })),
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
      Strict(
        {
          type: IdentifierKind,
          value: Text(
            255,
            'The identifier itself. It is stored as a keyed hash and never returned. Placeholders such as `N/A` or `000000` are refused, and so are impossible values: an e-mail address without a domain, a phone number with fewer than 5 or more than 15 digits, an IBAN whose length or check digits are wrong.',
          ),
          issuer: Type.Optional(Text(100, 'The issuer, for example a country or a bank.')),
        },
        { description: IDENTIFIER },
      ),
    ),
    ...relationshipFields,
    verification: Strict(verification, { title: 'VerificationRequest', description: VERIFICATION }),
    provided_by: Type.Optional(DataSourceRequest),
  },
  {
    title: 'CreateIdentityLinkRequest',
    description: 'Give exactly one of `identifier` and `related_entity_id`.',
  },
)
export type CreateIdentityLinkRequest = Static<typeof CreateIdentityLinkRequest>

export const IdentityLink = Open(
  {
    id: Id('idl', 'The id of the link.'),
    object: ObjectName('identity_link'),
    entity_id: Id('ent', 'The entity it belongs to.'),
    identifier: Type.Optional(
      Open(
        {
          type: IdentifierKind,
          value: Type.String({
            description:
              'The masked value: at most the last four characters, and of an e-mail address also the beginning and the end of its domain.',
            examples: ['****6789'],
          }),
          issuer: Type.Optional(Type.String({ description: 'The issuer.' })),
        },
        { description: IDENTIFIER },
      ),
    ),
    ...relationshipFields,
    verification: Open(verification, { title: 'Verification', description: VERIFICATION }),
    provided_by: Type.Optional(DataSource),
    created_at: Timestamp('When it was recorded.'),
  },
  { title: 'IdentityLink', description: 'An identifier of an entity, or its relationship to another.' },
)
export type IdentityLink = Static<typeof IdentityLink>
