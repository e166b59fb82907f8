import { openCreditsOf } from '../../admin/show-entity.ts'
import { findFeature } from '../../core/facts/feature-catalogue.ts'
import { neutralTrust } from '../../core/graph/describe-trust.ts'
import { objectIn, parseStored } from '../../core/stored-json.ts'
import { VERDICTS } from '../../core/vocabularies.ts'
import type { EntityToDecide } from '../../store/environment/entities.ts'
import type { DecisionOfEntity } from '../../store/environment/entity-pages.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import type { RowOf } from '../../store/schema/tables.ts'
import { type EntityReading, factsOf, stateOf } from '../../underwriting/facts-of.ts'
import { readingOf } from '../../underwriting/read-entity.ts'
import { sourceOf } from '../decision-view/describe-features.ts'
import { type GrantedReview, newestReviews } from '../decision-view/describe-review.ts'
import { requestedOf } from '../figures/newest-decisions.ts'
import { describeAccounts } from './describe-accounts.ts'
import { describeCashflow } from './describe-cashflow.ts'
import { describeOffers } from './describe-offers.ts'
import { entityName } from './entity-name.ts'
import { readTrust } from './read-trust.ts'

const DECISIONS_LISTED = 20

/**
 * Reads everything about an entity that its page shows besides the graph and the audit trail. Null stands for what was altered
 * in the database so that it cannot be read.
 */
export async function describeEntityPage(
  store: EnvironmentStore,
  entity: EntityToDecide,
  { organizationId, now }: { organizationId: string; now: string },
) {
  const { id } = entity
  const [links, consents, decisions, history, caseId, accounts, sources] = await Promise.all([
    store.entities.identityLinks(organizationId, id),
    store.entities.consents(organizationId, id),
    store.entities.newestDecisions(organizationId, id, DECISIONS_LISTED),
    store.entities.trustHistory(organizationId, id),
    store.entities.openCase(organizationId, id),
    store.transactions.accounts(organizationId, id),
    store.transactions.sources(organizationId, [id], now),
  ])
  const related = links.flatMap(({ related_entity_id }) => related_entity_id ?? [])
  const [names, reviews, reading] = await Promise.all([
    store.entities.names(organizationId, related),
    newestReviews(store, organizationId, decisions),
    readingOf(store, organizationId, entity),
  ])
  const state = stateOf(entity)
  const trust = entity.trust === null ? neutralTrust(entity.created_at) : readTrust(entity.trust)
  return {
    id,
    external_id: entity.external_id,
    name: entityName({ ...entity, name: entity.display_name }, id),
    type: entity.type,
    country: entity.country,
    metadata: objectIn(entity.metadata) ?? null,
    created_at: entity.created_at,
    updated_at: entity.updated_at,
    open_case: caseId,
    trust: trust && { ...trust, history },
    identifiers: newestOfEach(
      links.filter(({ identifier_hash }) => identifier_hash !== null),
      (link) => link.identifier_hash!,
    ).map(describeIdentifier),
    relationships: newestOfEach(
      links.filter(({ related_entity_id }) => related_entity_id !== null),
      ({ related_entity_id, relationship }) => `${related_entity_id} ${relationship}`,
    ).map((link) => describeRelationship(link, names)),
    consents: newestOfEach(consents, ({ purpose }) => purpose).map((consent) => describeConsent(consent, now)),
    decisions: decisions.map((row) => describeDecision(row, reviews)),
    cashflow: describeCashflow(state.cashflow),
    // Of all that it is merged with, as a decision counts them.
    open_credits: openCreditsOf(reading.state.history),
    open_offers: describeOffers(reading.offers, now),
    accounts: describeAccounts(state.cashflow, accounts),
    sources: sources.map(({ provides, kind, name, first_at }) => ({ provides, kind, name, first_at })),
    features: describeFeatures(reading, now),
  }
}

/** The newest report of each claim; rows come newest first. */
function newestOfEach<R>(rows: readonly R[], keyOf: (row: R) => string): R[] {
  const newest = new Map<string, R>()
  for (const row of rows) if (!newest.has(keyOf(row))) newest.set(keyOf(row), row)
  return [...newest.values()]
}

function describeIdentifier(link: RowOf<'identity_links'>) {
  return {
    id: link.id,
    type: link.identifier_type!,
    masked: link.identifier_masked!,
    issuer: link.identifier_issuer,
    status: link.verification_status,
    at: link.verified_at ?? link.created_at,
  }
}

function describeRelationship(
  link: RowOf<'identity_links'>,
  names: ReadonlyMap<string, { name: string | null; external_id: string }>,
) {
  const other = names.get(link.related_entity_id!)
  return {
    id: link.id,
    relationship: link.relationship!,
    entity_id: link.related_entity_id!,
    entity_name: entityName(other, link.related_entity_id!),
    share: link.ownership_share,
    status: link.verification_status,
    at: link.verified_at ?? link.created_at,
  }
}

function describeConsent(consent: RowOf<'consents'>, now: string) {
  const { id, purpose, status, data_categories, granted_at, expires_at, revoked_at } = consent
  const isExpired = expires_at !== null && expires_at <= now
  return {
    id,
    purpose,
    categories: textsIn(data_categories),
    granted_at,
    expires_at,
    revoked_at,
    state: status === 'revoked' ? 'revoked' : isExpired ? 'expired' : 'granted',
  }
}

/** The list of texts that a column holds; null if it is anything else. */
function textsIn(column: string): string[] | null {
  const value = parseStored(column)
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null
}

function describeDecision(decision: DecisionOfEntity, reviews: ReadonlyMap<string, GrantedReview>) {
  const { id, verdict, product, recommended_limit, created_at, review_id } = decision
  return {
    id,
    verdict: VERDICTS.find((known) => known === verdict) ?? null,
    product,
    requested: requestedOf(decision),
    limit: recommended_limit,
    review: reviews.get(review_id ?? '') ?? null,
    decided_at: created_at,
  }
}

/** The features of the entity as a decision would see them now, without a request. */
function describeFeatures(reading: EntityReading, now: string) {
  const { features } = factsOf(reading, { product: 'default' }, { now })
  return Object.entries(features)
    .filter(([name]) => !name.startsWith('request.'))
    .map(([name, fact]) => ({
      name,
      label: findFeature(name)?.label ?? name,
      unit: findFeature(name)?.unit ?? null,
      source: sourceOf(name),
      value: 'value' in fact ? fact.value : null,
      age_days: 'value' in fact ? (fact.age_days ?? null) : null,
      missing: 'missing' in fact ? fact.missing : null,
    }))
}
