import {
  type DatedReview,
  expireDaysIn,
  type OfferOutcome,
  OPEN_OFFERS_MAX,
  type OpenOffer,
  offerOf,
  openAt,
} from '../core/facts/open-offers.ts'
import { changesOffer, endsCredit } from '../core/facts/outcome-course.ts'
import { outcomeFact, type RecordedOutcome } from '../core/facts/recorded-outcome.ts'
import type { OutcomeType } from '../core/vocabularies.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { storedOffers, storeOffers } from '../store/environment/stored-offers.ts'
import type { NewRow, RowOf } from '../store/schema/tables.ts'
import type { OfferReplaced } from '../store/write-path/record.ts'

/** An entity with the row of its open offers, and the step that merged it. */
type OfferedEntity = Pick<EntityRow, 'id' | 'offers' | 'offers_version' | 'merge_id'>

/** The open offers of an entity as its row lists them; expired ones may be among them. */
export function offersOf({ id, offers }: Pick<OfferedEntity, 'id' | 'offers'>): OpenOffer[] {
  const listed = offers === null ? [] : storedOffers(offers)
  if (!listed) throw new Error(`the open offers of the entity ${id} were altered so that they cannot be read`)
  return listed
}

/** The next version of the row. */
export function nextOffers(
  { id, offers_version }: Pick<OfferedEntity, 'id' | 'offers_version'>,
  offers: readonly OpenOffer[],
): NewRow<'open_offers'> {
  return { entity_id: id, version: (offers_version ?? 0) + 1, offers: storeOffers(offers) }
}

/** The open offers of an entity and those that it is merged with, as a new request finds them. */
export interface FoundOffers {
  /** Those that count as exposure. */
  counted: OpenOffer[]
  /** Those that the request replaces. */
  replaced: { entityId: string; decisionId: string }[]
  /** Whether an entity has as many as it can have. */
  isFull: boolean
}

/** Finds the offers that count at an instant for a request: open ones, without those that it replaces. */
export function findOffers(
  members: readonly OfferedEntity[],
  { reference, now }: { reference: string | undefined; now: string },
): FoundOffers {
  const isReplaced = (offer: OpenOffer) => reference !== undefined && offer.reference === reference
  const open = members.map((member) => ({ entityId: member.id, offers: openAt(offersOf(member), now) }))
  const kept = open.map(({ offers }) => offers.filter((offer) => !isReplaced(offer)))
  return {
    counted: kept.flat(),
    replaced: open.flatMap(({ entityId, offers }) =>
      offers.filter(isReplaced).map(({ decisionId }) => ({ entityId, decisionId })),
    ),
    isFull: kept.some(({ length }) => length >= OPEN_OFFERS_MAX),
  }
}

/** A decision that is about to be written, and what it offers if it grants credit. */
interface OfferingDecision {
  entityId: string
  decisionId: string
  offer: OpenOffer | undefined
}

/** What a change writes about open offers: rows of entities, and entries about offers that a later request has replaced. */
export interface OfferWrites {
  changedOffers: NewRow<'open_offers'>[]
  replacedOffers: OfferReplaced[]
}

/**
 * The rows that a decision writes. One that grants credit claims the row of every entity that it was made on, so that of two at
 * the same time one is decided again. Any other writes only the rows from which it takes an offer that it replaces.
 */
export function offersAfterDecision(
  members: readonly OfferedEntity[],
  { counted, replaced }: FoundOffers,
  { entityId, decisionId, offer }: OfferingDecision,
): OfferWrites {
  const left = new Set(counted.map((each) => each.decisionId))
  const claimed = offer ? members : members.filter(({ id }) => replaced.some((each) => each.entityId === id))
  return {
    changedOffers: claimed.map((member) => {
      const kept = offersOf(member).filter((each) => left.has(each.decisionId))
      return nextOffers(member, offer && member.id === entityId ? [...kept, offer] : kept)
    }),
    replacedOffers: replaced.map((each) => replacement(each, decisionId)),
  }
}

function replacement(replaced: { entityId: string; decisionId: string }, by: string): OfferReplaced {
  const { entityId, decisionId } = replaced
  return {
    type: 'decision.offer_replaced',
    trailId: entityId,
    subject: { type: 'decision', id: decisionId },
    data: { entity_id: entityId, decision_id: decisionId, replaced_by: by },
  }
}

/**
 * The row after an outcome of a decision; undefined if that changes nothing. An outcome that takes up or ends the offer claims the row
 * even if the offer is not listed: a review at the same time may be about to list it.
 */
export async function offersAfterOutcome(
  { store, organizationId, now }: StandingTools,
  entity: OfferedEntity,
  { decision, report, earlier }: ReportedOffer,
): Promise<NewRow<'open_offers'> | undefined> {
  const { id, currency, policy_version } = decision
  if (currency === null || !changesOffer(report.type) || earlier.some(({ type }) => endsCredit(type))) return undefined
  const open = openAt(offersOf(entity), now)
  const others = open.filter(({ decisionId }) => decisionId !== id)
  // An offer that is not listed has expired, or was replaced: what is left of it is none.
  if (others.length === open.length) return nextOffers(entity, others)
  // INVARIANT: read after the entity, so that this change loses by the version if another review is written meanwhile.
  const review = await store.reviews.newest(organizationId, id)
  const policy = await store.policies.byVersion(organizationId, policy_version)
  const expireDays = expireDaysIn(policy?.document)
  const left = offerOf(decision, review, { expireDays, outcomes: [...earlier, report] })
  return nextOffers(entity, left ? [...others, left] : others)
}

/** An outcome that is about to be written, with its decision. */
interface ReportedOffer {
  decision: RowOf<'decisions'>
  report: OfferOutcome
  /** The outcomes of the decision that count already. */
  earlier: readonly OfferOutcome[]
}

/** What the open offers of an entity are found with after a person has decided something. */
export interface StandingTools {
  store: EnvironmentStore
  organizationId: string
  now: string
}

/** A review that is about to be written, with its decision, which is about one of the merged entities. */
export interface ReviewedOffer {
  decision: RowOf<'decisions'>
  review: DatedReview & { id: string }
}

const NOTHING: OfferWrites = { changedOffers: [], replacedOffers: [] }

/**
 * The rows once these reviews are written, all of decisions about one entity; none if they are not about credit. An approval claims
 * the row of every entity that it is merged with, as a decision does. `too_many` if the entity would have more offers than it can have.
 *
 * INVARIANT: the members were read before, so that this change loses by a version if an offer is made or ended meanwhile.
 */
export async function offersAfterReviews(
  tools: StandingTools,
  members: readonly OfferedEntity[],
  reviews: readonly ReviewedOffer[],
): Promise<OfferWrites | 'too_many'> {
  const { store, organizationId } = tools
  const ofCredit = reviews.filter(({ decision }) => decision.currency !== null)
  const entity = members.find(({ id }) => id === ofCredit[0]?.decision.entity_id)
  if (!entity) return NOTHING
  const standing = await Promise.all(
    ofCredit.map(async ({ decision, review }) => {
      const [newest, outcomes] = await Promise.all([
        store.reviews.newest(organizationId, decision.id),
        store.outcomes.ofDecision(organizationId, decision.id),
      ])
      return {
        decision,
        // The clocks of nodes differ, and the review with the highest id stands.
        review: newest && newest.id > review.id ? newest : review,
        outcomes: outcomes.map((text) => outcomeFact(JSON.parse(text) as RecordedOutcome)),
      }
    }),
  )
  const { offers, replacedOffers } = await offersAsTheyStand(tools, entity, standing)
  const isOpened = offers.some(({ decisionId }) => standing.some(({ decision }) => decision.id === decisionId))
  if (isOpened && offers.length > OPEN_OFFERS_MAX) return 'too_many'
  const others = isOpened ? members.filter(({ id }) => id !== entity.id) : []
  return {
    changedOffers: [nextOffers(entity, offers), ...others.map((other) => nextOffers(other, offersOf(other)))],
    replacedOffers,
  }
}

/** The row once an outcome does not count any more, as far as that opens an offer again. */
export async function offersAfterRetraction(
  tools: StandingTools,
  entity: OfferedEntity,
  { decisionId, type, others }: { decisionId: string; type: OutcomeType; others: readonly OfferOutcome[] },
): Promise<OfferWrites> {
  const { store, organizationId } = tools
  if (!changesOffer(type) || others.some((other) => endsCredit(other.type))) return NOTHING
  const decision = await store.decisions.find({ organizationId, id: decisionId })
  if (!decision || decision.currency === null) return NOTHING
  const review = await store.reviews.newest(organizationId, decisionId)
  // Also beyond the bound: a report that was a mistake must not stand because of it.
  const standing = await offersAsTheyStand(tools, entity, [{ decision, review, outcomes: others }])
  return { changedOffers: [nextOffers(entity, standing.offers)], replacedOffers: standing.replacedOffers }
}

/** A decision about credit, with its newest review and the outcomes that count. */
interface StandingDecision {
  decision: RowOf<'decisions'>
  review: DatedReview | undefined
  outcomes: readonly OfferOutcome[]
}

/**
 * The open offers of an entity, with those of these decisions as they stand now. One that would open although a later request has its
 * reference was never replaced before, because it was no offer then: now it is, by an entry that `audit verify` reads.
 */
async function offersAsTheyStand(
  { store, organizationId, now }: StandingTools,
  entity: OfferedEntity,
  standing: readonly StandingDecision[],
): Promise<{ offers: OpenOffer[] } & Pick<OfferWrites, 'replacedOffers'>> {
  const ids = standing.map(({ decision }) => decision.id)
  const entityIds = await store.entityMerges.membersOf(organizationId, entity)
  const [replaced, successors] = await Promise.all([
    store.auditRecords.subjectsWithEntry(organizationId, ids, ['decision.offer_replaced']),
    store.openOffers.successorsOf(organizationId, { ids, entityIds }),
  ])
  const offers = await Promise.all(
    standing.map(async ({ decision, review, outcomes }) => {
      if (replaced.has(decision.id)) return []
      const policy = await store.policies.byVersion(organizationId, decision.policy_version)
      return offerOf(decision, review, { expireDays: expireDaysIn(policy?.document), outcomes }) ?? []
    }),
  )
  const open = openAt(offers.flat(), now)
  const known = openAt(offersOf(entity), now).filter(({ decisionId }) => !ids.includes(decisionId))
  return {
    offers: [...known, ...open.filter(({ decisionId }) => !successors.has(decisionId))],
    replacedOffers: open.flatMap(({ decisionId }) => {
      const by = successors.get(decisionId)
      return by === undefined ? [] : [replacement({ entityId: entity.id, decisionId }, by)]
    }),
  }
}
