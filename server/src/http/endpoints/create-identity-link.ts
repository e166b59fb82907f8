import { applyIdentityLink, type IdentityLinkFact } from '../../core/facts/entity-state.ts'
import { affectedByLink } from '../../core/graph/affected-entities.ts'
import { type Assertion, standingOf } from '../../core/graph/claim.ts'
import { dayOf } from '../../core/graph/decay.ts'
import { FAN_OUT } from '../../core/graph/link.ts'
import { hasLetterOrDigit } from '../../core/plain-spelling.ts'
import type { EventData } from '../../core/webhooks/event-types.ts'
import { identifierProblem, maskIdentifier } from '../../security/identifiers.ts'
import type { NewRow, RowOf } from '../../store/schema/tables.ts'
import { recordSha256 } from '../../store/write-path/record-hash.ts'
import {
  adverseAmong,
  linkChange,
  type ResolvedLink,
  relationshipLink,
  sharedIdentifierLink,
} from '../../underwriting/graph-links.ts'
import { fail, failValidation, type Violation } from '../api-error.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { nextEntity } from '../next-entity.ts'
import { record } from '../record.ts'
import { EntityPath } from '../schemas/fields.ts'
import { CreateIdentityLinkRequest, IdentityLink } from '../schemas/identity-link.ts'
import { timeOfChange } from '../time-of-change.ts'
import { utcTime } from '../utc-time.ts'

/** Records an assertion that an entity has an identifier, or a relationship to another entity. */
export const createIdentityLink = defineEndpoint({
  operationId: 'createIdentityLink',
  summary: 'Link identity',
  description:
    'Give exactly one of `identifier` (something that identifies this entity) and `related_entity_id` (an entity it has a relationship to). Two entities with the same identifier become linked.',
  tag: 'Entities',
  method: 'POST',
  path: '/v1/entities/{entity_id}/identity-links',
  scope: 'identity_links:write',
  serializedBy: ({ params, body: { identifier, related_entity_id: other } }) => [
    // Keys are locked in sorted order. `claim …` sorts before `ent_…`, so a request that waits for a contended identifier
    // does not hold the lock of an entity meanwhile.
    ...(identifier ? [`claim ${identifier.type} ${identifier.value}`] : []),
    params.entity_id,
    ...(other ? [other] : []),
  ],
  params: EntityPath,
  body: CreateIdentityLinkRequest,
  succeeds: { 201: IdentityLink },
  fails: ['entity_not_found', 'validation_failed'],

  async handle(request) {
    const { params, body, caller, store } = request
    const organizationId = caller.organizationId
    const entity = await store.entity({ organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    const now = timeOfChange(entity, request.now)
    const context = { ...request, now }

    const violations = checkLink(body, entity.id, now)
    if (violations.length > 0) return failValidation(violations)
    if (body.related_entity_id && !(await store.entity({ organizationId, id: body.related_entity_id }))) {
      return fail('entity_not_found', { param: '/related_entity_id' })
    }

    const link = describeLink(context, entity.id)
    const hash = body.identifier ? context.hashIdentifier({ organizationId, ...body.identifier }) : null
    const claims = await nextClaims(context, entity.id, hash)
    const resolved = hash
      ? await sharedIdentifierLinks(context, entity.id, hash)
      : await relationshipLinks(context, entity.id)
    const near = [entity.id, ...resolved.slice(0, 2 * FAN_OUT).map(({ to }) => to)]
    const adverse = await adverseAmong(store, organizationId, resolved.length > 0 ? near : [])
    const row = linkRow(link, hash)
    const change = record(context, {
      ...linkChange(resolved, { from: entity.id, adverse, today: dayOf(now) }),
      claims,
      consequences: await causesOf(context, { mark: link.id, near, adverse, resolved }),
      changedEntities: [nextEntity(entity, now, (state) => applyIdentityLink(state, identityFact(link, hash)))],
      rows: { identity_links: [row] },
      domainEvents: [
        {
          type: 'identity_link.created',
          subject: { type: 'identity_link', id: link.id },
          trailId: entity.id,
          data: eventData(link, recordSha256<'identity_links'>(organizationId, row)),
        },
      ],
    })
    if (resolved.length === 0) return { status: 201, body: link, change }
    return { status: 201, body: link, change, refreshBeforeReply: { entityId: entity.id, near, mark: link.id } }
  },
})

type LinkContext = RequestContext<unknown, unknown, CreateIdentityLinkRequest>

/** The assertion that this request makes. */
function assertionOf({ body, now }: LinkContext): Assertion {
  const { verification, ownership_share: share } = body
  const at = verification.verified_at ? utcTime(verification.verified_at) : now
  return { status: verification.status, at, ...(share !== undefined && { share }) }
}

/** The claims behind this link with their next versions; a concurrent assertion about one of them makes this change lose. */
async function nextClaims(
  { body, caller, store }: LinkContext,
  entityId: string,
  hash: string | null,
): Promise<RowOf<'graph_claims'>[]> {
  const { identifier, related_entity_id: to, relationship } = body
  if (hash) return store.nextIdentifierClaims(caller.organizationId, hash, { entityId, type: identifier!.type })
  return store.nextRelationshipClaims(caller.organizationId, { from: entityId, to: to!, relationship: relationship! })
}

/** The link to a related entity, resolved from the assertions of both ends. */
async function relationshipLinks(context: LinkContext, entityId: string): Promise<ResolvedLink[]> {
  const { body, caller, store } = context
  const { related_entity_id: to, relationship } = body
  if (!to || !relationship) return []
  const { own, theirs } = await store.relationshipAssertions(caller.organizationId, {
    from: entityId,
    to,
    relationship,
  })
  return [relationshipLink(to, relationship, { own: [...own, assertionOf(context)], theirs })]
}

/** The links to other holders of the identifier, each resolved from all identifiers of that type which the two share. */
async function sharedIdentifierLinks(context: LinkContext, entityId: string, hash: string): Promise<ResolvedLink[]> {
  const { body, caller, store } = context
  const { organizationId } = caller
  const { type } = body.identifier!
  const holders = await store.identifierHolders(organizationId, hash, entityId)
  const own = [...(holders.find((holder) => holder.entityId === entityId)?.assertions ?? []), assertionOf(context)]
  // A failed check removes existing links, and those may lead to other holders than would be linked today.
  const others =
    standingOf(own)?.verification === 'failed'
      ? await store.linkedHolders(organizationId, hash, { entityId, type })
      : holders.filter((holder) => holder.entityId !== entityId)
  const besides = await store.sharedIdentifiers(
    organizationId,
    { entityId, type, exceptHash: hash },
    others.map((holder) => holder.entityId),
  )
  return others.map(({ entityId: to, assertions: theirs }) =>
    sharedIdentifierLink(to, type, [{ own, theirs }, ...besides.filter((shared) => shared.entityId === to)]),
  )
}

/** The exposures that the links may change: of both ends, and of entities that have a path through an end. */
async function causesOf(
  { caller, store, now }: LinkContext,
  {
    mark,
    near,
    adverse,
    resolved,
  }: { mark: string; near: readonly string[]; adverse: Set<string>; resolved: readonly ResolvedLink[] },
): Promise<NewRow<'consequences'>[]> {
  if (resolved.length === 0) return []
  const links = await store.followedLinks(caller.organizationId, near, dayOf(now))
  const affected = affectedByLink({ ends: near, before: links, after: links, adverse })
  for (const { to } of resolved) affected.add(to)
  return [...affected].map((entityId) => ({
    kind: 'exposure',
    entity_id: entityId,
    mark,
  }))
}

function describeLink({ body, newId, now }: LinkContext, entityId: string): IdentityLink {
  const { identifier, verification, ...edge } = body
  return {
    id: newId('idl'),
    object: 'identity_link',
    entity_id: entityId,
    ...(identifier && { identifier: { ...identifier, value: maskIdentifier(identifier.type, identifier.value) } }),
    ...edge,
    verification: {
      ...verification,
      ...(verification.verified_at && { verified_at: utcTime(verification.verified_at) }),
    },
    created_at: now,
  }
}

function linkRow(link: IdentityLink, hash: string | null): NewRow<'identity_links'> {
  const { identifier, verification } = link
  return {
    id: link.id,
    entity_id: link.entity_id,
    identifier_type: identifier?.type ?? null,
    identifier_hash: hash,
    identifier_masked: identifier?.value ?? null,
    identifier_issuer: identifier?.issuer ?? null,
    related_entity_id: link.related_entity_id ?? null,
    relationship: link.relationship ?? null,
    ownership_share: link.ownership_share ?? null,
    verification_status: verification.status,
    verification_method: verification.method ?? null,
    verification_provider: verification.provider ?? null,
    verification_reference: verification.reference ?? null,
    verified_at: verification.verified_at ?? null,
    created_at: link.created_at,
  }
}

function identityFact({ identifier, verification, created_at }: IdentityLink, hash: string | null): IdentityLinkFact {
  const { status, verified_at: verifiedAt } = verification
  return {
    ...(identifier &&
      hash && {
        identifier: { type: identifier.type, hash, ...(identifier.issuer && { issuer: identifier.issuer }) },
      }),
    verification: { status, ...(verifiedAt && { verifiedAt }) },
    createdAt: created_at,
  }
}

function checkLink(body: CreateIdentityLinkRequest, entityId: string, now: string): Violation[] {
  const violations: Violation[] = []
  const refuse = (param: string, message: string) => violations.push({ param, message })
  const edge = body.related_entity_id !== undefined
  if (edge === (body.identifier !== undefined)) refuse('', 'Give exactly one of identifier and related_entity_id.')
  if (edge && !body.relationship) refuse('/relationship', 'relationship is required with related_entity_id.')
  if (!edge && body.relationship) refuse('/relationship', 'relationship is only allowed with related_entity_id.')
  if (body.related_entity_id === entityId) refuse('/related_entity_id', 'An entity cannot be linked to itself.')
  if (body.ownership_share !== undefined && body.relationship !== 'owner')
    refuse('/ownership_share', 'ownership_share is only allowed with relationship "owner".')
  if (body.identifier) violations.push(...checkIdentifier(body.identifier))
  const verifiedAt = body.verification.verified_at
  if (verifiedAt && utcTime(verifiedAt) > now) refuse('/verification/verified_at', 'verified_at is in the future.')
  return violations
}

function checkIdentifier({ type, value, issuer }: NonNullable<CreateIdentityLinkRequest['identifier']>): Violation[] {
  const violations: Violation[] = []
  const problem = identifierProblem(type, value)
  if (problem) violations.push({ param: '/identifier/value', message: `value ${problem}, so it identifies nothing.` })
  if (issuer !== undefined && !hasLetterOrDigit(issuer))
    violations.push({ param: '/identifier/issuer', message: 'issuer has no letter and no digit.' })
  return violations
}

function eventData(link: IdentityLink, record_sha256: string): EventData<'identity_link.created'> {
  return {
    entity_id: link.entity_id,
    identity_link_id: link.id,
    ...(link.identifier && { identifier_type: link.identifier.type }),
    ...(link.related_entity_id && { related_entity_id: link.related_entity_id }),
    ...(link.relationship && { relationship: link.relationship }),
    verification_status: link.verification.status,
    record_sha256,
  }
}
