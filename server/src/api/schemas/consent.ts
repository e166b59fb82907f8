import type { Static } from 'typebox'
import { Id, ObjectName, OneOf, Open, Strict, Text, Timestamp } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { CONSENT_PURPOSES, CONSENT_STATUSES, DATA_CATEGORIES } from '../../core/vocabularies.ts'

const Purpose = OneOf(CONSENT_PURPOSES, { description: 'What the data may be used for.' })
const DataCategory = OneOf(DATA_CATEGORIES)
const evidence = {
  method: Text(100, 'How consent was given, for example `signed_form` or `in_app`.'),
  reference: Type.Optional(Text(255, 'Where you keep the proof of consent.')),
  document_sha256: Type.Optional(
    Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the proof of consent.' }),
  ),
}
const EVIDENCE = 'How you can prove the consent.'

const fields = {
  purpose: Purpose,
  status: OneOf(CONSENT_STATUSES, { description: 'Whether consent was given or taken back.' }),
  data_categories: Type.Array(DataCategory, {
    minItems: 1,
    maxItems: 4,
    uniqueItems: true,
    description: 'The kinds of data that it covers.',
  }),
  granted_at: Timestamp('When consent was given.'),
  expires_at: Type.Optional(Timestamp('When the consent expires.')),
  revoked_at: Type.Optional(Timestamp('When the consent was revoked.')),
}

export const RecordConsentRequest = Strict(
  {
    ...fields,
    status: Type.Optional(fields.status),
    data_categories: Type.Optional(fields.data_categories),
    granted_at: Type.Optional(fields.granted_at),
    evidence: Type.Optional(Strict(evidence, { title: 'ConsentEvidenceRequest', description: EVIDENCE })),
  },
  {
    title: 'RecordConsentRequest',
    description:
      'Defaults: `status` is granted, `data_categories` are all of them, `granted_at` is now. To revoke a consent, record another one with `status: "revoked"`.',
  },
)

export const Consent = Open(
  {
    id: Id('con', 'The id of the consent.'),
    object: ObjectName('consent'),
    entity_id: Id('ent', 'The entity that gave or revoked its consent.'),
    ...fields,
    evidence: Type.Optional(Open(evidence, { title: 'ConsentEvidence', description: EVIDENCE })),
    created_at: Timestamp('When it was recorded.'),
  },
  { title: 'Consent', description: 'That an entity gave or revoked its consent.' },
)
export type Consent = Static<typeof Consent>
