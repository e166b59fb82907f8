import type { CashflowState } from '../core/facts/cashflow-state.ts'
import { dayOf } from '../core/graph/decay.ts'
import { expiryDay, linkOf } from '../core/graph/link.ts'
import { formatMoney, type Money, moneyOf, moneyOfText } from '../core/money.ts'
import type { RowOf } from '../store/tables.ts'

/** A payment to or from another entity of the organization. */
export interface PaymentBetween {
  counterpartyId: string
  currency: string
  amount: number
  occurredAt: string
}

/** What has gone between an entity and its counterparties by month, with the new payments added. */
export function addFlows(
  known: readonly RowOf<'payment_flows'>[],
  payments: readonly PaymentBetween[],
  of: { org_id: string; entity_id: string },
): RowOf<'payment_flows'>[] {
  const flows = new Map(known.map((flow) => [keyOf(flow), flow]))
  for (const { counterpartyId, currency, amount, occurredAt } of payments) {
    const flow = { ...of, counterparty_id: counterpartyId, currency, month: occurredAt.slice(0, 7), amount: '0' }
    const before = moneyOfText(flows.get(keyOf(flow))?.amount ?? '0')
    flows.set(keyOf(flow), { ...flow, amount: formatMoney(before + moneyOf(amount)) })
  }
  return [...flows.values()]
}

/** How large a part of an entity's cash flow goes through one counterparty, 0 to 1, in the currency where it is largest. */
export function flowShare(
  counterpartyId: string,
  flows: readonly RowOf<'payment_flows'>[],
  cashflow: CashflowState,
): number {
  const own = flows.filter(({ counterparty_id }) => counterparty_id === counterpartyId)
  const shares = [...new Set(own.map(({ currency }) => currency))].map((currency) => shareIn(currency, own, cashflow))
  return Math.max(0, ...shares)
}

/** Both over the months that the state keeps, so that old payments weigh no more than old income. */
function shareIn(currency: string, flows: readonly RowOf<'payment_flows'>[], { currencies }: CashflowState): number {
  const months = Object.hasOwn(currencies, currency) ? currencies[currency]!.months : {}
  const total = Object.values(months).reduce((sum, { inflow, outflow }) => sum + BigInt(inflow) + BigInt(outflow), 0n)
  const between = flows
    .filter((flow) => flow.currency === currency && Object.hasOwn(months, flow.month))
    .reduce((sum: Money, { amount }) => sum + moneyOfText(amount), 0n)
  return total === 0n ? 0 : Math.min(1, Number((between * 1_000_000n) / total) / 1_000_000)
}

/**
 * The link that payments make, from both ends. Each end is exposed by the payments' share in its own cash flow: a shop is
 * not its customers' fate because it is theirs. An end without a share keeps its row, because outcomes spread along it.
 */
export function paymentLinkRows({
  organizationId,
  ends,
  adverse,
  now,
}: {
  organizationId: string
  ends: readonly [{ id: string; share: number }, { id: string; share: number }]
  adverse: ReadonlySet<string>
  now: string
}): RowOf<'graph_links'>[] {
  const since = dayOf(now)
  const links = ends.map(
    ({ share }, end) =>
      linkOf({ neighbour: ends[1 - end]!.id, type: 'payment', verification: 'unverified', share, since })!,
  )
  const expires = Math.max(...links.map(expiryDay))
  if (expires <= since) return []
  return links.map(({ neighbour, type, verified, basePpm }, end) => ({
    org_id: organizationId,
    entity_id: ends[end]!.id,
    neighbour_id: neighbour,
    type,
    verified,
    base_ppm: basePpm,
    since,
    expires,
    to_adverse: adverse.has(neighbour),
  }))
}

function keyOf({
  counterparty_id,
  currency,
  month,
}: Pick<RowOf<'payment_flows'>, 'counterparty_id' | 'currency' | 'month'>): string {
  return `${counterparty_id} ${currency} ${month}`
}
