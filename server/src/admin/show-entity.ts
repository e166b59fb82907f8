import type { EntityState } from '../core/facts/entity-state.ts'
import { combineStates } from '../core/facts/merged/combine-states.ts'
import { type OfferedCredit, offeredByCurrency } from '../core/facts/open-offers.ts'
import { moneyNumber } from '../core/money.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { offersOf } from '../underwriting/entity-offers.ts'
import { stateOf } from '../underwriting/facts-of.ts'
import { membersOf } from '../underwriting/read-entity.ts'
import { type EnvironmentAct, permitted } from './act.ts'
import { notFound } from './problem.ts'

/** The credits of an entity in one currency that were paid out and have not ended. */
export interface ShownCredits {
  currency: string
  credits: number
  amount: number
}

/** An entity with what it owes and what it is offered; if it is merged, what all of them owe and are offered. */
export interface ShownEntity {
  id: string
  /** The entities that are read as one, itself among them; absent if it is not merged. */
  merged?: string[]
  external_id: string
  display_name: string | null
  type: string | null
  country: string | null
  created_at: string
  updated_at: string
  open_credits: ShownCredits[]
  open_offers: OfferedCredit[]
}

/** Shows an entity, named by its id or by the caller's own. */
export const showEntity = permitted(
  'see the console',
  async ({ stores, nowMs }, { organizationId, environment }: EnvironmentAct, name: string): Promise<ShownEntity> => {
    const store = stores[environment]
    const entity = await findEntity(store, organizationId, name)
    const { id, external_id, display_name, type, country, created_at, updated_at } = entity
    const members = await membersOf(store, organizationId, entity)
    const { history } = combineStates(members.map(stateOf))
    return {
      id,
      ...(members.length > 1 && { merged: members.map((member) => member.id) }),
      external_id,
      display_name,
      type,
      country,
      created_at,
      updated_at,
      open_credits: openCreditsOf(history),
      open_offers: offeredByCurrency(members.flatMap(offersOf), new Date(nowMs()).toISOString()),
    }
  },
)

/** The entity with this id, or with this id of the caller's. */
export async function findEntity(store: EnvironmentStore, organizationId: string, name: string): Promise<EntityRow> {
  const entity =
    (await store.entities.find({ organizationId, id: name })) ??
    (await store.entities.byExternalId({ organizationId, externalId: name }))
  if (!entity) throw notFound('entity_not_found', 'There is no such entity in this environment.')
  return entity
}

/** The open credits of an entity's history, by currency. */
export function openCreditsOf({ openCredits }: Pick<EntityState['history'], 'openCredits'>): ShownCredits[] {
  return Object.entries(openCredits)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, { credits, units }]) => ({ currency, credits, amount: moneyNumber(BigInt(units)) }))
}
