import type { CashflowState } from '../core/facts/cashflow/cashflow-state.ts'
import { dayOf } from '../core/graph/decay.ts'
import { type MergedEntities, withMerged } from '../core/graph/merged-nodes.ts'
import type { EntityRow } from '../store/environment/entities.ts'
import type { EnvironmentStore } from '../store/environment/environment-store.ts'
import type { TransactionName } from '../store/environment/transactions.ts'
import type { NewRow } from '../store/schema/tables.ts'
import type { Change } from '../store/write-path/change.ts'
import { stateOf } from './facts-of.ts'
import { readNodes } from './graph-nodes.ts'
import {
  addFlows,
  flowShare,
  flowsByPartner,
  makesLink,
  monthsOf,
  type PaymentBetween,
  paymentLinkRows,
} from './payment-links.ts'

/** An entity with its updated cash flow, and the payments that are new in it or taken back. */
export interface ChangedCashflow {
  organizationId: string
  entity: EntityRow
  payments: readonly PaymentBetween[]
  /** The recorded transactions that are corrected or voided. */
  corrected: readonly TransactionName[]
  /** The mark of the causes that are queued. */
  mark: string
  now: string
}

/**
 * Computes the changes to the payment links of an entity: weak links, by the payments' share in the cash flow of each end.
 * Every transaction changes that share, so the links are computed again with every ingest, not only with payments between
 * entities.
 */
export async function updatePaymentLinks(
  store: EnvironmentStore,
  { organizationId, entity, payments, corrected, mark, now }: ChangedCashflow,
): Promise<Pick<Change, 'links' | 'removedLinks' | 'paymentFlows' | 'consequences'>> {
  const entityId = entity.id
  const { cashflow } = stateOf(entity)
  const partners = await store.graph.paymentPartners(organizationId, entityId, monthsOf(cashflow))
  const paid = payments.map(({ counterpartyId }) => counterpartyId)
  const candidates = new Set([...paid, ...partners.map(({ id }) => id)])
  const known = await store.graph.paymentFlows(organizationId, entityId, [...candidates])
  const paymentFlows = addFlows(known, payments, entityId)
  const flows = flowsByPartner(entityId, [...known, ...paymentFlows])
  const linked = partners.filter(({ isLinked }) => isLinked).map(({ id }) => id)
  const large = [...flows].filter(([, between]) => makesLink(flowShare(between, cashflow))).map(([id]) => id)
  const others = [...new Set([...paid, ...linked, ...large])]
  if (others.length === 0) return { paymentFlows }

  const { merged, adverse } = await readNodes(store, organizationId, [entityId, ...others])
  const ends = { organizationId, entityId, others, merged, adverse }
  const links = await linksBetween(store, ends, { cashflow, flows, payments, corrected, today: dayOf(now) })
  // Only a partner with earlier payments can have a link that ends now.
  const before = new Set([...linked, ...flowsByPartner(entityId, known).keys()])
  const isAlive = new Set(links.map(({ entity_id }) => entity_id))
  const ended = others.filter((id) => before.has(id) && !isAlive.has(id))
  const changed = [...isAlive, ...(ended.length > 0 ? [entityId, ...ended] : [])]
  const affected = changed.length === 0 ? [] : [...changed, ...(await exposedThroughEnds(store, ends, dayOf(now)))]
  return {
    paymentFlows,
    links,
    removedLinks: ended.flatMap((id) => [
      { entity_id: entityId, neighbour_id: id, type: 'payment', claim: '' },
      { entity_id: id, neighbour_id: entityId, type: 'payment', claim: '' },
    ]),
    consequences: [...new Set(affected)].map((id) => ({ kind: 'exposure', entity_id: id, mark })),
  }
}

/** An entity, its payment partners, and which of all these are merged, and adverse. */
interface Ends {
  organizationId: string
  entityId: string
  others: readonly string[]
  merged: MergedEntities
  adverse: ReadonlySet<string>
}

async function linksBetween(
  store: EnvironmentStore,
  { organizationId, entityId, others, adverse }: Ends,
  {
    cashflow,
    flows,
    payments,
    corrected,
    today,
  }: {
    cashflow: CashflowState
    flows: ReadonlyMap<string, NewRow<'payment_flows'>[]>
    payments: readonly PaymentBetween[]
    corrected: readonly TransactionName[]
    today: number
  },
): Promise<NewRow<'graph_links'>[]> {
  const newest = await store.graph.newestPayments(organizationId, entityId, others, corrected)
  for (const { counterpartyId, occurredAt, amount } of payments) {
    if (!amount.startsWith('-') && occurredAt > (newest.get(counterpartyId) ?? ''))
      newest.set(counterpartyId, occurredAt)
  }
  const entities = await Promise.all(others.map((id) => store.entities.find({ organizationId, id })))
  return entities.flatMap((other) => {
    const newestAt = other && newest.get(other.id)
    if (!other || !newestAt) return []
    const between = flows.get(other.id) ?? []
    const ends = [
      { id: entityId, share: flowShare(between, cashflow) },
      { id: other.id, share: flowShare(between, stateOf(other).cashflow) },
    ] as const
    return paymentLinkRows({ ends, adverse, newestAt, today })
  })
}

/** The entities that have a path through an end to an adverse entity; payments are never verified, so they carry no support. */
async function exposedThroughEnds(
  store: EnvironmentStore,
  { organizationId, entityId, others, merged, adverse }: Ends,
  today: number,
): Promise<string[]> {
  const ends = [...(others.some((id) => adverse.has(id)) ? [entityId] : []), ...(adverse.has(entityId) ? others : [])]
  const links = await store.graph.followedLinks(organizationId, withMerged(ends, merged), today)
  return [...links.values()].flatMap(({ ranked, beyondFanOut }) =>
    [...ranked, ...beyondFanOut].map(({ neighbour }) => neighbour),
  )
}
