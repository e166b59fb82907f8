import { applyIdentityLink, type IdentityLinkFact } from '../../core/facts/entity-state.ts'
import { affectedByLink } from '../../core/graph/affected-entities.ts'
import { dayOf } from '../../core/graph/decay.ts'
import { maskIdentifier } from '../../security/identifiers.ts'
import type { Change } from '../../store/change.ts'
import type { EnvironmentStore } from '../../store/environment-store.ts'
import type { RowOf } from '../../store/tables.ts'
import { type LinkBetween, linkRows, sharedVerification } from '../../underwriting/graph-links.ts'
import { fail, failValidation, type Violation } from '../api-error.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { nextEntity } from '../next-entity.ts'
import { record } from '../record.ts'
import { EntityPath } from '../schemas/fields.ts'
import { CreateIdentityLinkRequest, IdentityLink } from '../schemas/identity-link.ts'
import { utcTime } from '../utc-time.ts'

/** Records evidence of who an entity is, or an edge to another entity. */
export const createIdentityLink = defineEndpoint({
  operationId: 'createIdentityLink',
  summary: 'Link identity',
  description:
    'Give exactly one of `identifier` (evidence of who this is) and `related_entity_id` (an edge to another entity). Two entities with the same identifier become linked.',
  tag: 'Entities',
  method: 'POST',
  path: '/v1/entities/{entity_id}/identity-links',
  scope: 'identity_links:write',
  takesTurnsOn: ({ params }) => params.entity_id,
  params: EntityPath,
  body: CreateIdentityLinkRequest,
  succeeds: { 201: IdentityLink },
  fails: ['entity_not_found', 'validation_failed'],

  async handle(context) {
    const { params, body, caller, store, now } = context
    const organizationId = caller.organizationId
    const entity = await store.entity({ organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')

    const violations = checkLink(body, entity.id, now)
    if (violations.length > 0) return failValidation(violations)
    if (body.related_entity_id && !(await store.entity({ organizationId, id: body.related_entity_id }))) {
      return fail('entity_not_found', { param: '/related_entity_id' })
    }

    const link = describeLink(context, entity.id)
    const hash = body.identifier ? context.hashIdentifier({ organizationId, ...body.identifier }) : null
    const neighbours = await neighboursOf(context, entity.id, hash)
    const near = [entity.id, ...neighbours.map(({ to }) => to)]
    const adverse = await adverseAmong(store, organizationId, near)
    const change = record(context, {
      ...(body.verification.status === 'failed' && {
        removedLinks: neighbours.flatMap((neighbour) => linkKeys(organizationId, entity.id, neighbour)),
      }),
      links: neighbours.flatMap((neighbour) =>
        linkRows({ ...neighbour, organizationId, from: entity.id, adverse, now }),
      ),
      consequences: await causesOf(context, link.id, near),
      changedEntities: [nextEntity(entity, now, (state) => applyIdentityLink(state, identityFact(link, hash)))],
      rows: { identity_links: [linkRow(organizationId, link, hash)] },
      happenings: [
        {
          type: 'identity_link.created',
          subject: { type: 'identity_link', id: link.id },
          trailId: entity.id,
          data: eventData(link),
        },
      ],
    })
    const follow = neighbours.length > 0 && { entityId: entity.id, near, mark: link.id }
    return { status: 201, body: link, change, ...(follow && { follow }) }
  },
})

type LinkContext = RequestContext<unknown, unknown, CreateIdentityLinkRequest>
type Neighbour = Pick<LinkBetween, 'to' | 'type' | 'verification' | 'share'>

/** Whom this link ties the entity to: the related entity, or those who have the same identifier. */
async function neighboursOf(
  { body, caller, store }: LinkContext,
  entityId: string,
  hash: string | null,
): Promise<Neighbour[]> {
  const { identifier, related_entity_id: to, relationship, ownership_share: share, verification } = body
  if (to && relationship)
    return [{ to, type: relationship, verification: verification.status, ...(share !== undefined && { share }) }]
  if (!identifier || !hash) return []
  const holders = await store.identifierHolders(caller.organizationId, hash, entityId)
  return holders.map((holder) => ({
    to: holder.entityId,
    type: identifier.type,
    verification: sharedVerification(verification.status, holder.verified),
  }))
}

/** Both ends of a link that a failed verification takes back. */
function linkKeys(org_id: string, entityId: string, { to, type }: Neighbour): NonNullable<Change['removedLinks']> {
  return [
    { org_id, entity_id: entityId, neighbour_id: to, type },
    { org_id, entity_id: to, neighbour_id: entityId, type },
  ]
}

async function adverseAmong(
  store: EnvironmentStore,
  organizationId: string,
  entityIds: readonly string[],
): Promise<Set<string>> {
  const evidence = await store.evidence(organizationId, entityIds)
  return new Set([...evidence].filter(([, { isAdverse }]) => isAdverse).map(([entityId]) => entityId))
}

/** A link bears on both its ends, and on those for whom an end is on the way. */
async function causesOf(
  { caller, store, now }: LinkContext,
  mark: string,
  ends: readonly string[],
): Promise<RowOf<'consequences'>[]> {
  if (ends.length === 1) return []
  const links = await store.followedLinks(caller.organizationId, ends, dayOf(now))
  const affected = affectedByLink({ ends, before: links, after: links })
  return [...affected].map((entityId) => ({
    org_id: caller.organizationId,
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
    ...(identifier && { identifier: { ...identifier, value: maskIdentifier(identifier.value) } }),
    ...edge,
    verification: {
      ...verification,
      ...(verification.verified_at && { verified_at: utcTime(verification.verified_at) }),
    },
    created_at: now,
  }
}

function linkRow(organizationId: string, link: IdentityLink, hash: string | null): RowOf<'identity_links'> {
  const { identifier, verification } = link
  return {
    org_id: organizationId,
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
    ...(identifier && hash && { identifier: { type: identifier.type, hash } }),
    verification: { status, ...(verifiedAt && { verifiedAt }) },
    createdAt: created_at,
  }
}

function checkLink(body: CreateIdentityLinkRequest, entityId: string, now: string): Violation[] {
  const violations: Violation[] = []
  const refuse = (param: string, message: string) => violations.push({ param, message })
  const edge = body.related_entity_id !== undefined
  if (edge === (body.identifier !== undefined)) refuse('', 'Give exactly one of identifier and related_entity_id.')
  if (edge && !body.relationship) refuse('/relationship', 'relationship is needed with related_entity_id.')
  if (!edge && body.relationship) refuse('/relationship', 'relationship goes with related_entity_id.')
  if (body.related_entity_id === entityId) refuse('/related_entity_id', 'An entity cannot be linked to itself.')
  if (body.ownership_share !== undefined && body.relationship !== 'owner')
    refuse('/ownership_share', 'ownership_share goes with relationship "owner".')
  const verifiedAt = body.verification.verified_at
  if (verifiedAt && utcTime(verifiedAt) > now) refuse('/verification/verified_at', 'verified_at is in the future.')
  return violations
}

function eventData(link: IdentityLink): Record<string, unknown> {
  return {
    entity_id: link.entity_id,
    identity_link_id: link.id,
    ...(link.identifier && { identifier_type: link.identifier.type }),
    ...(link.related_entity_id && { related_entity_id: link.related_entity_id, relationship: link.relationship }),
    verification_status: link.verification.status,
  }
}
