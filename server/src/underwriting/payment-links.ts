import type { CashflowState } from '../core/facts/cashflow-state.ts'
import type { EntityState } from '../core/facts/entity-state.ts'
import { formatMoney, type Money, moneyOf } from '../core/money.ts'
import type { RowOf } from '../store/tables.ts'

/** A payment to or from another entity of the organization. */
export interface PaymentBetween {
  counterpartyId: string
  currency: string
  amount: number
}

/** What has gone between an entity and its counterparties, with the new payments added. */
export function addFlows(
  known: readonly RowOf<'payment_flows'>[],
  payments: readonly PaymentBetween[],
  of: { org_id: string; entity_id: string },
): RowOf<'payment_flows'>[] {
  const flows = new Map<string, { counterpartyId: string; currency: string; amount: Money }>()
  for (const { counterparty_id: counterpartyId, currency, amount } of known)
    flows.set(`${counterpartyId} ${currency}`, { counterpartyId, currency, amount: moneyOf(Number(amount)) })
  for (const { counterpartyId, currency, amount } of payments) {
    const key = `${counterpartyId} ${currency}`
    flows.set(key, { counterpartyId, currency, amount: (flows.get(key)?.amount ?? 0n) + moneyOf(amount) })
  }
  return [...flows.values()].map(({ counterpartyId, currency, amount }) => ({
    ...of,
    counterparty_id: counterpartyId,
    currency,
    amount: formatMoney(amount),
  }))
}

/** How large a part of an entity's cash flow goes through one counterparty, 0 to 1, in the currency where it is largest. */
export function flowShare(
  counterpartyId: string,
  flows: readonly RowOf<'payment_flows'>[],
  { cashflow }: EntityState,
): number {
  const shares = flows
    .filter(({ counterparty_id }) => counterparty_id === counterpartyId)
    .map(({ currency, amount }) => {
      const total = totalFlow(cashflow, currency)
      return total === 0n ? 0 : Math.min(1, Number((moneyOf(Number(amount)) * 1_000_000n) / total) / 1_000_000)
    })
  return Math.max(0, ...shares)
}

function totalFlow({ currencies }: CashflowState, currency: string): Money {
  const months = Object.hasOwn(currencies, currency) ? Object.values(currencies[currency]!.months) : []
  return months.reduce((sum, { inflow, outflow }) => sum + BigInt(inflow) + BigInt(outflow), 0n)
}
