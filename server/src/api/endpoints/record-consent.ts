import { applyConsent, type EntityState } from '../../core/facts/entity-state.ts'
import { DATA_CATEGORIES } from '../../core/vocabularies.ts'
import type { Violation } from '../../http/violation.ts'
import type { NewRow } from '../../store/schema/tables.ts'
import { recordSha256 } from '../../store/write-path/record-hash.ts'
import { fail, failValidation } from '../api-error.ts'
import { defineEndpoint } from '../define-endpoint.ts'
import { nextEntity } from '../next-entity.ts'
import { record } from '../record.ts'
import { refuseFuture, reportedTime } from '../reported-time.ts'
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
    const entity = await store.entities.find({ organizationId: caller.organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    const now = timeOfChange(entity, request.now)
    const context = { ...request, now }

    const consent = describeConsent()
    const violations = [
      ...refuseFuture('/granted_at', body.granted_at, now),
      ...refuseFuture('/revoked_at', body.revoked_at, now),
      ...checkConsent(consent),
      ...(body.granted_at === undefined ? checkRevocation(consent, JSON.parse(entity.state) as EntityState) : []),
    ]
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
        granted_at: reportedTime(body.granted_at ?? revokedAt ?? now, now),
        ...(body.expires_at && { expires_at: utcTime(body.expires_at) }),
        ...(revokedAt && { revoked_at: reportedTime(revokedAt, now) }),
        ...(body.evidence && { evidence: body.evidence }),
        created_at: now,
      }
    }
  },
})

function checkConsent(consent: Consent): Violation[] {
  const violations: Violation[] = []
  const refuse = (param: string, message: string) => violations.push({ param, message })
  if (consent.status === 'granted' && consent.revoked_at)
    refuse('/revoked_at', 'revoked_at is only allowed with status "revoked".')
  if (consent.revoked_at && consent.revoked_at < consent.granted_at)
    refuse('/revoked_at', 'revoked_at is earlier than granted_at.')
  if (consent.expires_at && consent.expires_at <= consent.granted_at)
    refuse('/expires_at', 'expires_at must be later than granted_at.')
  return violations
}

/**
 * Refuses a revocation from before the grant that is on file: it would be recorded and revoke nothing. With a `granted_at`
 * it is accepted, because then it describes an earlier consent that ended.
 */
function checkRevocation({ purpose, revoked_at, data_categories }: Consent, { consents }: EntityState): Violation[] {
  const grants = data_categories.map((category) => consents[purpose]?.[category]?.grantedAt)
  const later = grants.find(
    (grantedAt) => revoked_at !== undefined && grantedAt !== undefined && grantedAt > revoked_at,
  )
  if (later === undefined) return []
  const message = `revoked_at is before the consent was granted, at ${later}, so it would revoke nothing. Send when it was revoked, or for an earlier consent also its granted_at.`
  return [{ param: '/revoked_at', message }]
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
