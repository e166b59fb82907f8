import { ageInDays } from './age-in-days.ts'
import { cashflowFacts } from './cashflow-facts.ts'
import { conductFacts } from './conduct-facts.ts'
import { consentFacts, withheldBecause } from './consent-facts.ts'
import type { EntityState, GraphState } from './entity-state.ts'
import { type Fact, type FactSet, type Facts, known, type MissingBecause, missing } from './facts.ts'
import { featureNames } from './feature-catalogue.ts'
import { historyFacts } from './history-facts.ts'
import { identityFacts } from './identity-facts.ts'
import type { SnapshotState } from './snapshot-state.ts'

/** What is asked for: a product, and for credit an amount in a currency. */
export interface FactsRequest {
  product: string
  requestedAmount?: number
  currency?: string
}

/** What is known about the entity itself. */
export interface FactsEntity {
  type?: string | null
  country?: string | null
}

/** Turns the state of an entity and a request into the facts of one decision. */
export function deriveFacts({
  state,
  entity,
  request,
  now,
}: {
  state: EntityState
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
  return {
    format: 1,
    features: {
      ...orMissing('identity.', withheld.identity ?? identityFacts(state.identity, now) ?? 'no_data'),
      ...consentFacts(state.consents, now),
      ...orMissing(
        'cashflow.',
        withheld.transactions ?? cashflowFacts(state.cashflow, { currency: request.currency, now }),
      ),
      ...(withheld.transactions ? {} : conductFacts(state.cashflow, now)),
      ...orMissing('graph.', withheld.graph ?? graphFacts(state.graph)),
      ...historyFacts(state.history, request.currency),
      ...entityFacts(entity),
      ...requestFacts(request),
      ...snapshotFacts(state.snapshot, { withheld: withheld.features, now }),
    },
  }
}

function orMissing(prefix: string, facts: FactSet | MissingBecause): FactSet {
  if (typeof facts !== 'string') return facts
  return Object.fromEntries(featureNames(prefix).map((name) => [name, missing(facts)]))
}

function graphFacts(graph: GraphState): FactSet {
  return {
    'graph.negative_exposure': known(graph.negativeExposure),
    'graph.negative_exposure_without_payments': known(graph.negativeExposureWithoutPayments),
    'graph.positive_support': known(graph.positiveSupport),
    'graph.evidence_count': known(graph.evidenceCount),
  }
}

function entityFacts({ type, country }: FactsEntity): FactSet {
  return { 'entity.type': knownOr(type, 'no_data'), 'entity.country': knownOr(country, 'no_data') }
}

function requestFacts({ product, requestedAmount, currency }: FactsRequest): FactSet {
  return {
    'request.product': known(product),
    'request.amount': knownOr(requestedAmount, 'not_requested'),
    'request.currency': knownOr(currency, 'not_requested'),
  }
}

function snapshotFacts(
  snapshot: SnapshotState,
  { withheld, now }: { withheld: MissingBecause | undefined; now: string },
): FactSet {
  const facts = Object.entries(snapshot).map(([name, { value, asOf }]): [string, Fact] => {
    if (withheld) return [`snapshot.${name}`, missing(withheld)]
    return [`snapshot.${name}`, value === null ? missing('no_data') : known(value, ageInDays(asOf, now))]
  })
  return Object.fromEntries(facts)
}

function knownOr(value: string | number | null | undefined, because: MissingBecause): Fact {
  return value === null || value === undefined ? missing(because) : known(value)
}
