import type { Facts } from '../core/facts/facts.ts'
import type { HistoryState } from '../core/facts/history-state.ts'
import { combineStates } from '../core/facts/merged/combine-states.ts'
import { type OpenOffer, offeredByCurrency, openAt } from '../core/facts/open-offers.ts'
import { numberOf } from '../core/facts/read-fact.ts'
import { moneyNumber, moneyOf } from '../core/money.ts'
import { ownProperty } from '../core/stored-json.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import { offersOf } from './entity-offers.ts'
import { stateOf } from './facts-of.ts'
import { membersOf } from './read-entity.ts'

/** What an entity, and those that it is merged with, owe and are offered at an instant. */
export interface StandingCredit {
  /** The entities that are read as one, sorted by id. */
  members: readonly EntityRow[]
  openCredits: HistoryState['openCredits']
  /** The open offers of all members. */
  offers: readonly OpenOffer[]
  now: string
}

/** Reads what an entity owes and is offered; undefined if it was erased. */
export async function readStandingCredit(
  store: EnvironmentStore,
  { organizationId, entityId, now }: { organizationId: string; entityId: string; now: string },
): Promise<StandingCredit | undefined> {
  const entity = await store.entities.find({ organizationId, id: entityId })
  if (!entity) return undefined
  const members = await membersOf(store, organizationId, entity)
  const { openCredits } = combineStates(members.map(stateOf)).history
  return { members, openCredits, offers: openAt(members.flatMap(offersOf), now), now }
}

/**
 * By how much what is owed and offered in a currency has grown since a decision was made on these facts: what it could lend then has
 * to be lowered by it. What was repaid or has expired since leaves room for what came instead, and no more than there was.
 */
export function takenSince(
  { openCredits, offers, now }: StandingCredit,
  { features }: Facts,
  currency: string,
): number {
  const offered = offeredByCurrency(offers, now).find((each) => each.currency === currency)?.amount ?? 0
  const owed = BigInt(ownProperty(openCredits, currency)?.units ?? 0)
  const before = (['history.outstanding', 'offers.open_amount'] as const).map((name) => numberOf(features, name) ?? 0)
  const grown = owed + moneyOf(offered) - before.reduce((sum, amount) => sum + moneyOf(amount), 0n)
  return grown > 0n ? moneyNumber(grown) : 0
}
