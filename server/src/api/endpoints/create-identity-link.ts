import { applyIdentityLink, type IdentityLinkFact } from '../../core/facts/entity-state.ts'
import { affectedByLink } from '../../core/graph/affected-entities.ts'
import type { Assertion } from '../../core/graph/claim.ts'
import { dayOf } from '../../core/graph/decay.ts'
import { nodeOf } from '../../core/graph/merged-nodes.ts'
import { hasLetterOrDigit } from '../../core/plain-spelling.ts'
import type { EventData } from '../../core/webhooks/event-types.ts'
import type { Violation } from '../../http/violation.ts'
import { identifierFault, maskIdentifier, normalizeIdentifier } from '../../security/identifiers.ts'
import type { NewRow } from '../../store/schema/tables.ts'
import { recordSha256 } from '../../store/write-path/record-hash.ts'
import { linkChange, type ResolvedLink, relationshipLink } from '../../underwriting/graph-links.ts'
import { readNodes } from '../../underwriting/graph-nodes.ts'
import { countsAfter, identifierLinks, mayChangeLinks } from '../../underwriting/identifier-links.ts'
import { linksBetweenNodes, loadNodes } from '../../underwriting/load-neighbourhoods.ts'
import { fail, failValidation } from '../api-error.ts'
import { dataSourceRow, tooManySources } from '../data-source.ts'
import { defineEndpoint, type RequestContext } from '../define-endpoint.ts'
import { nextEntity } from '../next-entity.ts'
import { record } from '../record.ts'
import { refuseFuture, reportedTime } from '../reported-time.ts'
import { EntityPath } from '../schemas/fields.ts'
import { CreateIdentityLinkRequest, IdentityLink } from '../schemas/identity-link.ts'
import { timeOfChange } from '../time-of-change.ts'

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
    // does not hold the lock of an entity meanwhile. All spellings of an identifier are one claim, so they have one lock.
    ...(identifier ? [`claim ${identifier.type} ${normalizeIdentifier(identifier.type, identifier.value)}`] : []),
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
    const entity = await store.entities.find({ organizationId, id: params.entity_id })
    if (!entity) return fail('entity_not_found')
    const now = timeOfChange(entity, request.now)
    const context = { ...request, now }

    const violations = checkLink(body, entity.id, now)
    if (violations.length > 0) return failValidation(violations)
    if (body.related_entity_id && !(await store.entities.find({ organizationId, id: body.related_entity_id }))) {
      return fail('entity_not_found', { param: '/related_entity_id' })
    }

    const link = describeLink(context, entity.id)
    const hash = body.identifier ? context.hashIdentifier({ organizationId, ...body.identifier }) : null
    const { claims, resolved } = hash
      ? await assertIdentifier(context, entity.id, hash)
      : await assertRelationship(context, entity.id)
    const ends = resolved.length > 0 ? [...new Set([entity.id, ...resolved.map(({ to }) => to)])] : []
    const { adverse } = await readNodes(store, organizationId, ends)
    const source = dataSourceRow(body.provided_by, { entity_id: entity.id, provides: 'identity_links', now })
    const dataSources = source ? [source] : []
    const named = { sources: dataSources, param: '/provided_by' }
    const tooMany = await tooManySources(store, { organizationId, entityId: entity.id }, named)
    if (tooMany.length > 0) return failValidation(tooMany)
    const row = linkRow(link, { hash, providedBy: source?.id ?? null })
    const change = record(context, {
      ...linkChange(resolved, { adverse, today: dayOf(now) }),
      claims,
      consequences: await causesOf(context, { mark: link.id, ends, adverse }),
      changedEntities: [nextEntity(entity, now, (state) => applyIdentityLink(state, identityFact(link, hash)))],
      rows: { identity_links: [row] },
      dataSources,
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
    return { status: 201, body: link, change, refreshBeforeReply: { entityId: entity.id, near: ends, mark: link.id } }
  },
})

type LinkContext = RequestContext<unknown, unknown, CreateIdentityLinkRequest>

/** The assertion that this request makes. */
function assertionOf({ body, now }: LinkContext): Assertion {
  const { verification, ownership_share: share } = body
  const at = verification.verified_at ? reportedTime(verification.verified_at, now) : now
  return { status: verification.status, at, ...(share !== undefined && { share }) }
}

/** What an assertion writes to the graph. A concurrent assertion about one of the claims makes the change lose. */
interface Asserted {
  claims: NewRow<'graph_claims'>[]
  resolved: ResolvedLink[]
}

/** The link to a related entity, resolved from the assertions of both ends. */
async function assertRelationship(context: LinkContext, from: string): Promise<Asserted> {
  const { body, caller, store } = context
  const between = { from, to: body.related_entity_id!, relationship: body.relationship! }
  const claims = await store.graph.nextRelationshipClaims(caller.organizationId, between)
  const { own, theirs } = await store.graph.relationshipAssertions(caller.organizationId, between)
  const ends = { own: [...own, assertionOf(context)], theirs }
  return { claims, resolved: [relationshipLink({ ...between, type: between.relationship }, ends)] }
}

/** The links to other holders of the identifier. In a crowd there are none, so its size does not add to the cost. */
async function assertIdentifier(context: LinkContext, entityId: string, hash: string): Promise<Asserted> {
  const { body, caller, store } = context
  const { organizationId } = caller
  const before = await store.graph.identifierClaim(organizationId, hash, entityId)
  const assertion = assertionOf(context)
  const after = countsAfter(before, assertion)
  const others = mayChangeLinks(before, after) ? await store.graph.otherHolders(organizationId, hash, entityId) : []
  const entity = { entityId, assertions: [...before.own, assertion] }
  const { holders, verifiedHolders: verified_holders } = after
  return {
    claims: [{ claim: hash, version: before.version + 1, holders, verified_holders }],
    resolved: identifierLinks({ type: body.identifier!.type, hash }, { entity, others, before, after }),
  }
}

/** The exposures that the links may change: of both ends, and of entities that have a path through an end. */
async function causesOf(
  { caller, store, now }: LinkContext,
  { mark, ends, adverse }: { mark: string; ends: readonly string[]; adverse: ReadonlySet<string> },
): Promise<NewRow<'consequences'>[]> {
  const { organizationId } = caller
  const loaded = await loadNodes(store, { organizationId, entityIds: ends, today: dayOf(now) })
  const links = linksBetweenNodes(loaded)
  const nodes = [...new Set(ends.map((id) => nodeOf(id, loaded.merged)))]
  const affected = affectedByLink({ ends: nodes, before: links, after: links, adverse })
  return [...new Set([...ends, ...affected])].map((entityId) => ({ kind: 'exposure', entity_id: entityId, mark }))
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
      ...(verification.verified_at && { verified_at: reportedTime(verification.verified_at, now) }),
    },
    created_at: now,
  }
}

function linkRow(
  link: IdentityLink,
  { hash, providedBy }: { hash: string | null; providedBy: string | null },
): NewRow<'identity_links'> {
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
    provided_by: providedBy,
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
  violations.push(...refuseFuture('/verification/verified_at', body.verification.verified_at, now))
  return violations
}

function checkIdentifier({ type, value, issuer }: NonNullable<CreateIdentityLinkRequest['identifier']>): Violation[] {
  const violations: Violation[] = []
  const problem = identifierFault(type, value)
  if (problem) violations.push({ param: '/identifier/value', message: `value ${problem}.` })
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
