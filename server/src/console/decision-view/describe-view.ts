import { withheldBecause } from '../../core/facts/consent-facts.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { readEntity, readTogether } from '../../underwriting/read-entity.ts'
import type { RecordedReplay } from '../../underwriting/replay-recorded.ts'
import { type AccountDays, accountDays } from './account-days.ts'
import { type EvaluatedPath, type EvaluationView, viewEvaluation } from './view-evaluation.ts'

/** An entity as a view names it. */
export interface NamedEntity {
  id: string
  name: string | null
  external_id: string | null
  type: string | null
}

/** A path of the trust graph over which a bad outcome reaches the applicant, with the name of the entity at its end. */
export interface ShownPath extends Omit<EvaluatedPath, 'entity_id'> {
  entity: NamedEntity
}

/** Everything that the decision view shows of an evaluation, whether it was recorded or is a dry run. */
export interface DecisionView extends Omit<EvaluationView, 'graph' | 'merged'> {
  entity: NamedEntity
  /** The entities that were read as one, the applicant among them; empty if there was only one. */
  merged: NamedEntity[]
  product: string
  graph: { negative_exposure: number | null; paths: ShownPath[] }
  account: AccountDays | null
}

/** What a view is made from. */
export interface ViewSource {
  store: EnvironmentStore
  organizationId: string
  entityId: string
  product: string
  decidedAt: string
  now: string
}

/** Describes an evaluation for the decision view, with the names of the entities that it mentions. */
export function describeView(replay: RecordedReplay, source: ViewSource): Promise<DecisionView> {
  return completeView(viewEvaluation(replay), source)
}

/** Adds what is read to the view of an evaluation: the names of entities, and the account. */
export async function completeView(evaluation: EvaluationView, source: ViewSource): Promise<DecisionView> {
  const { store, organizationId, entityId, product } = source
  const { graph, requested, merged } = evaluation
  const ids = [entityId, ...merged, ...graph.paths.map(({ entity_id }) => entity_id)]
  const names = await store.entities.names(organizationId, [...new Set(ids)])
  const named = (id: string): NamedEntity => ({ id, name: null, external_id: null, type: null, ...names.get(id) })
  return {
    ...evaluation,
    entity: named(entityId),
    merged: merged.map(named),
    product,
    graph: { ...graph, paths: graph.paths.map(({ entity_id, ...path }) => ({ entity: named(entity_id), ...path })) },
    account: requested && (await accountOf(source, { currency: requested.currency, merged })),
  }
}

/**
 * The account of those that the decision was made from: who is merged now may be others. It is shown as long as consent lasts, of
 * them and of those that the applicant is merged with now.
 */
async function accountOf(
  { store, organizationId, entityId, decidedAt, now }: ViewSource,
  { currency, merged }: { currency: string; merged: readonly string[] },
): Promise<AccountDays | null> {
  const [current, state] = await Promise.all([
    readEntity(store, { organizationId, id: entityId }),
    readTogether(store, { organizationId, ids: merged.length > 0 ? merged : [entityId] }),
  ])
  if (!current || !state || withheldBecause(current.state.consents, 'transactions', now) !== undefined) return null
  return accountDays(state, { currency, decidedAt, now })
}
