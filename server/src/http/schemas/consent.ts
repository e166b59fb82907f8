import type { Static } from 'typebox'
import { Id, OneOf, Strict, Text, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { CONSENT_PURPOSES, CONSENT_STATUSES, DATA_CATEGORIES } from '../../core/vocabularies.ts'

const Purpose = OneOf(CONSENT_PURPOSES)
const DataCategory = OneOf(DATA_CATEGORIES)
const Evidence = Strict(
  {
    method: Text(100, 'How consent was given, for example `signed_form` or `in_app`.'),
    reference: Type.Optional(Text(255, 'Where you keep the proof of consent.')),
    document_sha256: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the proof of consent.' }),
    ),
  },
  { title: 'ConsentEvidence' },
)

const fields = {
  purpose: Purpose,
  status: OneOf(CONSENT_STATUSES),
  data_categories: Type.Array(DataCategory, { minItems: 1, maxItems: 4, uniqueItems: true }),
  granted_at: Timestamp('When consent was given.'),
  expires_at: Type.Optional(Timestamp('When the consent expires.')),
  revoked_at: Type.Optional(Timestamp('When the consent was revoked.')),
  evidence: Type.Optional(Evidence),
}

export const RecordConsentRequest = Strict(
  {
    ...fields,
    status: Type.Optional(fields.status),
    data_categories: Type.Optional(fields.data_categories),
    granted_at: Type.Optional(fields.granted_at),
  },
  {
    title: 'RecordConsentRequest',
    description:
      'Defaults: `status` is granted, `data_categories` are all of them, `granted_at` is now. To revoke a consent, record another one with `status: "revoked"`.',
    examples: [
      {
        purpose: 'credit_underwriting',
        data_categories: [...DATA_CATEGORIES],
        evidence: { method: 'in_app' },
      },
    ],
  },
)

export const Consent = Strict(
  {
    id: Id('con', 'The id of the consent.'),
    object: Type.Literal('consent'),
    entity_id: Id('ent', 'The entity that gave or revoked its consent.'),
    ...fields,
    created_at: Timestamp('When it was recorded.'),
  },
  { title: 'Consent' },
)
export type Consent = Static<typeof Consent>
