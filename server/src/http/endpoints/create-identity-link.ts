import { applyIdentityLink, type IdentityLinkFact } from '../../core/facts/entity-state.ts'
import { affectedByLink } from '../../core/graph/affected-entities.ts'
import { type Statement, standingOf } from '../../core/graph/claim.ts'
import { dayOf } from '../../core/graph/decay.ts'
import { FAN_OUT } from '../../core/graph/link.ts'
import { maskIdentifier } from '../../security/identifiers.ts'
import type { RowOf } from '../../store/schema/tables.ts'
import { adverseAmong, sharedTie, statedTie, type Tie, tieChange } from '../../underwriting/graph-links.ts'
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
  takesTurnsOn: ({ params, body: { identifier, related_entity_id: other } }) => [
    // By its name the turn on an identifier, which many may state, comes before those on entities, which it would hold up.
    ...(identifier ? [`claim ${identifier.type} ${identifier.value}`] : []),
    params.entity_id,
    ...(other ? [other] : []),
  ],
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
    const claims = await nextClaims(context, entity.id, hash)
    const ties = hash ? await sharedTies(context, entity.id, hash) : await statedTies(context, entity.id)
    const near = [entity.id, ...ties.slice(0, 2 * FAN_OUT).map(({ to }) => to)]
    const adverse = await adverseAmong(store, organizationId, ties.length > 0 ? near : [])
    const change = record(context, {
      ...tieChange(ties, { organizationId, from: entity.id, adverse, today: dayOf(now) }),
      claims,
      consequences: await causesOf(context, { mark: link.id, near, adverse, ties }),
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
    const follow = ties.length > 0 && { entityId: entity.id, near, mark: link.id }
    return { status: 201, body: link, change, ...(follow && { follow }) }
  },
})

type LinkContext = RequestContext<unknown, unknown, CreateIdentityLinkRequest>

/** What this link says, as it counts beside all that was said before. */
function statementOf({ body, now }: LinkContext): Statement {
  const { verification, ownership_share: share } = body
  const at = verification.verified_at ? utcTime(verification.verified_at) : now
  return { status: verification.status, at, ...(share !== undefined && { share }) }
}

/** What this link speaks of: whoever else speaks of it meanwhile has to be heard first. */
async function nextClaims(
  { body, caller, store }: LinkContext,
  entityId: string,
  hash: string | null,
): Promise<RowOf<'graph_claims'>[]> {
  const { identifier, related_entity_id: to, relationship } = body
  if (hash) return store.nextIdentifierClaims(caller.organizationId, hash, { entityId, type: identifier!.type })
  return store.nextRelationshipClaims(caller.organizationId, { from: entityId, to: to!, relationship: relationship! })
}

/** The tie to a related entity, by all that either end has said of it. */
async function statedTies(context: LinkContext, entityId: string): Promise<Tie[]> {
  const { body, caller, store } = context
  const { related_entity_id: to, relationship } = body
  if (!to || !relationship) return []
  const { own, theirs } = await store.statementsBetween(caller.organizationId, { from: entityId, to, relationship })
  return [statedTie(to, relationship, { own: [...own, statementOf(context)], theirs })]
}

/** The ties to those who have the same identifier, by all that they have in common with the entity of that type. */
async function sharedTies(context: LinkContext, entityId: string, hash: string): Promise<Tie[]> {
  const { body, caller, store } = context
  const { organizationId } = caller
  const { type } = body.identifier!
  const holders = await store.identifierHolders(organizationId, hash, entityId)
  const own = [...(holders.find((holder) => holder.entityId === entityId)?.statements ?? []), statementOf(context)]
  // What a failed check takes back may have been made with others than those who would be linked today.
  const others =
    standingOf(own)?.verification === 'failed'
      ? await store.linkedHolders(organizationId, hash, { entityId, type })
      : holders.filter((holder) => holder.entityId !== entityId)
  const besides = await store.sharedIdentifiers(
    organizationId,
    { entityId, type, exceptHash: hash },
    others.map((holder) => holder.entityId),
  )
  return others.map(({ entityId: to, statements: theirs }) =>
    sharedTie(to, type, [{ own, theirs }, ...besides.filter((shared) => shared.entityId === to)]),
  )
}

/** A link bears on both its ends, and on those for whom an end is on the way. */
async function causesOf(
  { caller, store, now }: LinkContext,
  { mark, near, adverse, ties }: { mark: string; near: readonly string[]; adverse: Set<string>; ties: readonly Tie[] },
): Promise<RowOf<'consequences'>[]> {
  if (ties.length === 0) return []
  const links = await store.followedLinks(caller.organizationId, near, dayOf(now))
  const affected = affectedByLink({ ends: near, before: links, after: links, adverse })
  for (const { to } of ties) affected.add(to)
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
