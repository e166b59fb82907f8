import {
  type DatedReview,
  expireDaysIn,
  OPEN_OFFERS_MAX,
  type OpenOffer,
  offerOf,
  openAt,
} from '../core/facts/open-offers.ts'
import { endsOffer } from '../core/facts/outcome-course.ts'
import type { RecordedOutcome } from '../core/facts/recorded-outcome.ts'
import type { OutcomeType } from '../core/vocabularies.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { NewRow, RowOf } from '../store/schema/tables.ts'
import type { OfferReplaced } from '../store/write-path/record.ts'

/** An entity with the row of its open offers. */
type OfferedEntity = Pick<EntityRow, 'id' | 'offers' | 'offers_version'>

/** The open offers of an entity as its row lists them; expired ones may be among them. */
export function offersOf({ offers }: Pick<OfferedEntity, 'offers'>): OpenOffer[] {
  return offers === null ? [] : (JSON.parse(offers) as OpenOffer[])
}

/** The next version of the row. */
export function nextOffers({ id, offers_version }: OfferedEntity, offers: readonly OpenOffer[]): NewRow<'open_offers'> {
  return { entity_id: id, version: (offers_version ?? 0) + 1, offers: JSON.stringify(offers) }
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

/**
 * The rows that a decision writes. One that grants credit claims the row of every entity that it was made on, so that of two at
 * the same time one is decided again. Any other writes only the rows from which it takes an offer that it replaces.
 */
export function offersAfterDecision(
  members: readonly OfferedEntity[],
  { counted, replaced }: FoundOffers,
  { entityId, decisionId, offer }: OfferingDecision,
): { changedOffers: NewRow<'open_offers'>[]; replacedOffers: OfferReplaced[] } {
  const left = new Set(counted.map((each) => each.decisionId))
  const claimed = offer ? members : members.filter(({ id }) => replaced.some((each) => each.entityId === id))
  return {
    changedOffers: claimed.map((member) => {
      const kept = offersOf(member).filter((each) => left.has(each.decisionId))
      return nextOffers(member, offer && member.id === entityId ? [...kept, offer] : kept)
    }),
    replacedOffers: replaced.map((each) => ({
      type: 'decision.offer_replaced',
      trailId: each.entityId,
      subject: { type: 'decision', id: each.decisionId },
      data: { entity_id: each.entityId, decision_id: each.decisionId, replaced_by: decisionId },
    })),
  }
}

/**
 * The row after an outcome of a decision; undefined if that changes nothing. The first outcome that ends the offer claims the row
 * even if the offer is not listed: a review at the same time may be about to list it.
 */
export function offersAfterOutcome(
  entity: OfferedEntity,
  decision: Pick<RowOf<'decisions'>, 'id' | 'currency'>,
  { type, earlier, now }: { type: OutcomeType; earlier: readonly { type: OutcomeType }[]; now: string },
): NewRow<'open_offers'> | undefined {
  if (decision.currency === null || !endsOffer(type) || earlier.some((other) => endsOffer(other.type))) return undefined
  return nextOffers(
    entity,
    openAt(offersOf(entity), now).filter(({ decisionId }) => decisionId !== decision.id),
  )
}

/** What the open offers of an entity are found with after a person has decided something. */
export interface StandingTools {
  store: EnvironmentStore
  organizationId: string
  now: string
}

/** A review that is about to be written, with its decision. */
export interface ReviewedOffer {
  decision: RowOf<'decisions'>
  review: DatedReview & { id: string }
}

/**
 * The row once these reviews are written, all of decisions about one entity; none if they are not about credit. `too_many` if the
 * entity would have more offers than it can have.
 */
export async function offersAfterReviews(
  tools: StandingTools,
  reviews: readonly ReviewedOffer[],
): Promise<NewRow<'open_offers'>[] | 'too_many'> {
  const { store, organizationId } = tools
  const ofCredit = reviews.filter(({ decision }) => decision.currency !== null)
  const [first] = ofCredit
  // INVARIANT: read before other reviews and outcomes, so that this change loses by the version if one is written meanwhile.
  const entity = first && (await store.entities.find({ organizationId, id: first.decision.entity_id }))
  if (!entity) return []
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
        outcomes: outcomes.map((text) => JSON.parse(text) as RecordedOutcome),
      }
    }),
  )
  const offers = await offersAsTheyStand(tools, entity, standing)
  const isOpened = offers.some(({ decisionId }) => standing.some(({ decision }) => decision.id === decisionId))
  return isOpened && offers.length > OPEN_OFFERS_MAX ? 'too_many' : [nextOffers(entity, offers)]
}

/** The row once an outcome does not count any more, as far as that opens an offer again. */
export async function offersAfterRetraction(
  tools: StandingTools,
  entity: OfferedEntity,
  { decisionId, type, others }: { decisionId: string; type: OutcomeType; others: readonly { type: OutcomeType }[] },
): Promise<NewRow<'open_offers'>[]> {
  const { store, organizationId } = tools
  if (!endsOffer(type) || others.some((other) => endsOffer(other.type))) return []
  const decision = await store.decisions.find({ organizationId, id: decisionId })
  if (!decision || decision.currency === null) return []
  const review = await store.reviews.newest(organizationId, decisionId)
  // Also beyond the bound: a report that was a mistake must not stand because of it.
  return [nextOffers(entity, await offersAsTheyStand(tools, entity, [{ decision, review, outcomes: others }]))]
}

/** A decision about credit, with its newest review and the outcomes that count. */
interface StandingDecision {
  decision: RowOf<'decisions'>
  review: DatedReview | undefined
  outcomes: readonly { type: OutcomeType }[]
}

/** The open offers of an entity, with those of these decisions as they stand now. */
async function offersAsTheyStand(
  { store, organizationId, now }: StandingTools,
  entity: OfferedEntity,
  standing: readonly StandingDecision[],
): Promise<OpenOffer[]> {
  const ids = standing.map(({ decision }) => decision.id)
  const replaced = await store.auditRecords.subjectsWithEntry(organizationId, ids, ['decision.offer_replaced'])
  const offers = await Promise.all(
    standing.map(async ({ decision, review, outcomes }) => {
      if (replaced.has(decision.id) || outcomes.some(({ type }) => endsOffer(type))) return []
      const policy = await store.policies.byVersion(organizationId, decision.policy_version)
      return offerOf(decision, review, { expireDays: expireDaysIn(policy?.document) }) ?? []
    }),
  )
  const known = openAt(offersOf(entity), now).filter(({ decisionId }) => !ids.includes(decisionId))
  return [...known, ...openAt(offers.flat(), now)]
}
