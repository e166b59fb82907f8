import type { CashflowState } from '../core/facts/cashflow/cashflow-state.ts'
import { turnoverByMonth } from '../core/facts/cashflow/turnover-by-month.ts'
import { dayOf } from '../core/graph/decay.ts'
import { expiryDay, type Link, linkOf, STRENGTH_MIN_PPM } from '../core/graph/link.ts'
import { formatMoney, type Money, moneyOfText } from '../core/money.ts'
import type { FlowMonth } from '../store/environment/payment-flows.ts'
import type { NewRow } from '../store/schema/tables.ts'

/** A payment to or from another entity of the organization; below zero if it is taken back. */
export interface PaymentBetween {
  counterpartyId: string
  currency: string
  /** Decimal text. */
  amount: string
  occurredAt: string
}

type Flow = NewRow<'payment_flows'>

/** Adds new payments to the monthly flows that an entity has reported; returns the months that change. */
export function addFlows(known: readonly Flow[], payments: readonly PaymentBetween[], entityId: string): Flow[] {
  const flows = new Map(known.map((flow) => [keyOf(flow), flow]))
  const changed = new Map<string, Flow>()
  for (const { counterpartyId, currency, amount, occurredAt } of payments) {
    const flow = {
      entity_id: entityId,
      counterparty_id: counterpartyId,
      currency,
      month: occurredAt.slice(0, 7),
      amount: '0',
    }
    const key = keyOf(flow)
    const before = moneyOfText((changed.get(key) ?? flows.get(key) ?? flow).amount)
    changed.set(key, { ...flow, amount: formatMoney(before + moneyOfText(amount)) })
  }
  return [...changed.values()]
}

/** Groups the flows that an entity and its partners have reported by partner. */
export function flowsByPartner(entityId: string, flows: readonly Flow[]): Map<string, Flow[]> {
  return Map.groupBy(flows, ({ entity_id, counterparty_id }) => (entity_id === entityId ? counterparty_id : entity_id))
}

/** The months of a cash flow, for each currency. */
export function monthsOf({ currencies }: CashflowState): FlowMonth[] {
  return Object.entries(currencies).flatMap(([currency, cashflow]) =>
    Array.from(turnoverByMonth(cashflow).keys(), (month) => ({ currency, month })),
  )
}

/** The share of an entity's cash flow that goes to and from one partner, 0 to 1, in the currency where it is largest. */
export function flowShare(between: readonly Flow[], cashflow: CashflowState): number {
  const byCurrency = Map.groupBy(between, ({ currency }) => currency)
  return Math.max(0, ...Array.from(byCurrency, ([currency, flows]) => shareIn(currency, flows, cashflow)))
}

/** Counts both over the months that the state keeps, so that payments older than the kept income do not count. */
function shareIn(currency: string, flows: readonly Flow[], { currencies }: CashflowState): number {
  const months = Object.hasOwn(currencies, currency) ? turnoverByMonth(currencies[currency]!) : new Map<string, Money>()
  const total = [...months.values()].reduce((sum, turnover) => sum + turnover, 0n)
  const between = new Map<string, Money>()
  for (const { month, amount } of flows) {
    const [reported, other] = [moneyOfText(amount), between.get(month) ?? 0n]
    // Both ends may report the same payments. Adding the reports would count them twice, so the larger one counts.
    if (months.has(month)) between.set(month, reported > other ? reported : other)
  }
  const sum = [...between.values()].reduce((all, amount) => all + amount, 0n)
  return total === 0n ? 0 : Math.min(1, Number((sum * 1_000_000n) / total) / 1_000_000)
}

/** Whether payments of this share make a link strong enough to be followed, on the day they are made. */
export function makesLink(share: number): boolean {
  return linkBy(share, { neighbour: '', since: 0 }).basePpm >= STRENGTH_MIN_PPM
}

function linkBy(share: number, end: Pick<Link, 'neighbour' | 'since'>): Link {
  return linkOf({ ...end, type: 'payment', verification: 'unverified', share })!
}

/**
 * The rows of the link that payments make, one from each end; none if the link has expired. Each end is exposed by the
 * payments' share in its own cash flow: a shop may matter much to its customers, and a customer little to the shop. An end
 * with a share of zero keeps its row, because outcomes spread along it.
 */
export function paymentLinkRows({
  ends,
  adverse,
  newestAt,
  today,
}: {
  ends: readonly [{ id: string; share: number }, { id: string; share: number }]
  adverse: ReadonlySet<string>
  /** The time of the newest payment. */
  newestAt: string
  today: number
}): NewRow<'graph_links'>[] {
  const since = dayOf(newestAt)
  const links = ends.map(({ share }, end) => linkBy(share, { neighbour: ends[1 - end]!.id, since }))
  const expires = Math.max(...links.map(expiryDay))
  if (expires <= today) return []
  return links.map(({ neighbour, type, verified, basePpm }, end) => ({
    entity_id: ends[end]!.id,
    neighbour_id: neighbour,
    type,
    verified,
    base_ppm: basePpm,
    since,
    expires,
    to_adverse: adverse.has(neighbour),
    claim: '',
  }))
}

function keyOf({ entity_id, counterparty_id, currency, month }: Omit<Flow, 'amount'>): string {
  return `${entity_id} ${counterparty_id} ${currency} ${month}`
}
