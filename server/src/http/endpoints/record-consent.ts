import { applyConsent } from '../../core/facts/entity-state.ts'
import { DATA_CATEGORIES } from '../../core/vocabularies.ts'
import type { NewRow } from '../../store/schema/tables.ts'
import { recordSha256 } from '../../store/write-path/record-hash.ts'
import { fail, failValidation, type Violation } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { nextEntity } from '../next-entity.ts'
import { record } from '../record.ts'
import { Consent, RecordConsentRequest } from '../schemas/consent.ts'
import { EntityPath } from '../schemas/fields.ts'
import { timeOfChange } from '../time-of-change.ts'
import { utcTime } from '../utc-time.ts'

/** Records that an entity gave or revoked its consent. */
export const recordConsent = defineEndpoint({
  operationId: 'recordConsent',
  summary: 'Record consent',
  description:
    'Consents are append-only: to revoke one, record another with `status: "revoked"`. Data whose consent is revoked or has expired counts as missing in decisions.',
  tag: 'Entities',
  method: 'POST',
  path: '/v1/entities/{entity_id}/consents',
  scope: 'consents:write',
  serializedBy: ({ params }) => [params.entity_id],
  params: EntityPath,
  body: RecordConsentRequest,
  succeeds: { 201: Consent },
  fails: ['entity_not_found', 'validation_failed'],

  async handle(request) {
    const { params, body, caller, store } = request
    const entity = await store.entity({ organizationId: caller.organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    const now = timeOfChange(entity, request.now)
    const context = { ...request, now }

    const consent = describeConsent()
    const violations = checkConsent(consent, now)
    if (violations.length > 0) return failValidation(violations)

    const row = consentRow(consent)
    const change = record(context, {
      changedEntities: [
        nextEntity(entity, now, (state) =>
          applyConsent(state, {
            purpose: consent.purpose,
            status: consent.status,
            dataCategories: consent.data_categories,
            grantedAt: consent.granted_at,
            ...(consent.expires_at && { expiresAt: consent.expires_at }),
            ...(consent.revoked_at && { revokedAt: consent.revoked_at }),
          }),
        ),
      ],
      rows: { consents: [row] },
      domainEvents: [
        {
          type: `consent.${consent.status}`,
          subject: { type: 'consent', id: consent.id },
          trailId: entity.id,
          data: {
            entity_id: entity.id,
            consent_id: consent.id,
            purpose: consent.purpose,
            data_categories: consent.data_categories,
            record_sha256: recordSha256<'consents'>(caller.organizationId, row),
          },
        },
      ],
    })
    return { status: 201, body: consent, change }

    function describeConsent(): Consent {
      const status = body.status ?? 'granted'
      const revokedAt = body.revoked_at ?? (status === 'revoked' ? now : undefined)
      return {
        id: context.newId('con'),
        object: 'consent',
        entity_id: entity!.id,
        purpose: body.purpose,
        status,
        data_categories: body.data_categories ?? [...DATA_CATEGORIES],
        // A revocation need not say when consent was given; that was at the latest when it was revoked.
        granted_at: utcTime(body.granted_at ?? revokedAt ?? now),
        ...(body.expires_at && { expires_at: utcTime(body.expires_at) }),
        ...(revokedAt && { revoked_at: utcTime(revokedAt) }),
        ...(body.evidence && { evidence: body.evidence }),
        created_at: now,
      }
    }
  },
})

function checkConsent(consent: Consent, now: string): Violation[] {
  const violations: Violation[] = []
  const refuse = (param: string, message: string) => violations.push({ param, message })
  if (consent.status === 'granted' && consent.revoked_at)
    refuse('/revoked_at', 'revoked_at is only allowed with status "revoked".')
  if (consent.granted_at > now) refuse('/granted_at', 'granted_at is in the future.')
  if (consent.revoked_at && consent.revoked_at > now) refuse('/revoked_at', 'revoked_at is in the future.')
  if (consent.revoked_at && consent.revoked_at < consent.granted_at)
    refuse('/revoked_at', 'revoked_at is earlier than granted_at.')
  if (consent.expires_at && consent.expires_at <= consent.granted_at)
    refuse('/expires_at', 'expires_at must be later than granted_at.')
  return violations
}

function consentRow(consent: Consent): NewRow<'consents'> {
  return {
    id: consent.id,
    entity_id: consent.entity_id,
    purpose: consent.purpose,
    status: consent.status,
    data_categories: JSON.stringify(consent.data_categories),
    granted_at: consent.granted_at,
    expires_at: consent.expires_at ?? null,
    revoked_at: consent.revoked_at ?? null,
    evidence_method: consent.evidence?.method ?? null,
    evidence_reference: consent.evidence?.reference ?? null,
    evidence_document_sha256: consent.evidence?.document_sha256 ?? null,
    created_at: consent.created_at,
  }
}
