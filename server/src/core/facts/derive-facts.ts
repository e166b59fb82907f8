import { sha256 } from '../canonical-json.ts'
import { cashflowFacts } from './cashflow/cashflow-facts.ts'
import { consentFacts, withheldBecause } from './consent-facts.ts'
import type { EntityState } from './entity-state.ts'
import { ageInDays, type Fact, type FactSet, type Facts, known, type MissingBecause, missing } from './facts.ts'
import { featureNames } from './feature-catalogue.ts'
import { historyFacts } from './history-facts.ts'
import { identityFacts } from './identity-facts.ts'
import { type OpenOffer, offerFacts } from './open-offers.ts'
import type { SnapshotState } from './snapshot-state.ts'
import type { RequestTimes } from './velocity-facts.ts'

/** The request: a product, and for credit an amount in a currency. */
export interface FactsRequest {
  product: string
  requestedAmount?: number
  currency?: string
  /** The term that the applicant chose. */
  termMonths?: number
  /** When it was made, if that was not now, and when the entity's newest requests before it were; none where it says nothing. */
  times?: RequestTimes
}

/** What is known about the entity itself. */
export interface FactsEntity {
  /** Its id, of which `request.hash` is made; tests and studies may leave it out. */
  id?: string
  type?: string | null
  country?: string | null
  /** How many entities have the device that it shares with most; absent if none of its devices is known. */
  deviceHolders?: number
}

/**
 * Turns the state of an entity and a request into the facts of one decision.
 *
 * The features are created in the order of their names, because `orderedJson` records them without sorting.
 */
export function deriveFacts({
  state,
  offers = [],
  entity,
  request,
  now,
}: {
  state: EntityState
  /** Earlier approvals that may still be taken up; expired ones are not counted. */
  offers?: readonly OpenOffer[]
  entity: FactsEntity
  request: FactsRequest
  now: string
}): Facts {
  const withheld = {
    identity: withheldBecause(state.consents, 'identity', now),
    transactions: withheldBecause(state.consents, 'transactions', now),
    features: withheldBecause(state.consents, 'features', now),
    graph: withheldBecause(state.consents, 'graph', now),
  }
  const { currency } = request
  return {
    features: {
      ...orMissing('cashflow', cashflowOrWhy(state, { withheld: withheld.transactions, request, now })),
      ...consentFacts(state.consents, now),
      ...entityFacts(entity),
      ...orMissing('graph', withheld.graph ?? graphFacts(state.graph, entity)),
      ...historyFacts(state.history, { currency, now, requests: request.times ?? { at: now, earlier: [] } }),
      ...orMissing('identity', withheld.identity ?? identityFacts(state.identity, now) ?? 'no_data'),
      ...offerFacts(offers, { currency, now }),
      ...requestFacts(request, { entityId: entity.id ?? '', now }),
      ...snapshotFacts(state.snapshot, { withheld: withheld.features, now }),
    },
    format: 1,
  }
}

/** Access without credit is not a question of money, so bank data is not looked at. */
function cashflowOrWhy(
  { cashflow }: EntityState,
  { withheld, request, now }: { withheld: MissingBecause | undefined; request: FactsRequest; now: string },
): FactSet | MissingBecause {
  const { requestedAmount, currency } = request
  if (requestedAmount === undefined || currency === undefined) return 'not_requested'
  return withheld ?? cashflowFacts(cashflow, { currency, now })
}

const WITHHOLDABLE = {
  cashflow: featureNames('cashflow.').sort(),
  graph: featureNames('graph.').sort(),
  identity: featureNames('identity.').sort(),
}

function orMissing(part: keyof typeof WITHHOLDABLE, facts: FactSet | MissingBecause): FactSet {
  if (typeof facts !== 'string') return facts
  return Object.fromEntries(WITHHOLDABLE[part].map((name) => [name, missing(facts)]))
}

function graphFacts(graph: EntityState['graph'], { deviceHolders }: FactsEntity): FactSet {
  return {
    'graph.device_holders': knownOr(deviceHolders, 'no_data'),
    'graph.evidence_count': known(graph.evidenceCount),
    'graph.negative_exposure': known(graph.negativeExposure),
    'graph.negative_exposure_without_payments': known(graph.negativeExposureWithoutPayments),
    'graph.positive_support': known(graph.positiveSupport),
  }
}

function entityFacts({ type, country }: FactsEntity): FactSet {
  return { 'entity.country': knownOr(country, 'no_data'), 'entity.type': knownOr(type, 'no_data') }
}

function requestFacts(
  { product, requestedAmount, currency, termMonths }: FactsRequest,
  { entityId, now }: { entityId: string; now: string },
): FactSet {
  return {
    'request.amount': knownOr(requestedAmount, 'not_requested'),
    'request.currency': knownOr(currency, 'not_requested'),
    'request.date': known(now.slice(0, 'YYYY-MM-DD'.length)),
    'request.hash': known(requestHash(entityId, product)),
    'request.product': known(product),
    'request.term_months': knownOr(termMonths, 'not_requested'),
  }
}

/** Four digits: samples of a hundredth of a percent, and pilots that do not overlap. */
const HASHES = 10_000

/** The first 32 bits of SHA-256 over entity and product, modulo 10,000: the same for every request of one kind. */
function requestHash(entityId: string, product: string): number {
  return Number.parseInt(sha256(`${entityId} ${product}`).slice(0, 8), 16) % HASHES
}

function snapshotFacts(
  snapshot: SnapshotState,
  { withheld, now }: { withheld: MissingBecause | undefined; now: string },
): FactSet {
  const facts: FactSet = {}
  for (const name of Object.keys(snapshot).sort()) {
    const { value, asOf } = snapshot[name]!
    if (withheld) facts[`snapshot.${name}`] = missing(withheld)
    else facts[`snapshot.${name}`] = value === null ? missing('no_data') : known(value, ageInDays(asOf, now))
  }
  return facts
}

function knownOr(value: string | number | null | undefined, because: MissingBecause): Fact {
  return value === null || value === undefined ? missing(because) : known(value)
}
