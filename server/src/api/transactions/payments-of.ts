import type { TransactionRow } from '../../store/environment/transactions.ts'
import type { PaymentBetween } from '../../underwriting/payment-links.ts'
import type { BatchPlan } from './plan-batch.ts'

/** The payments between entities that a batch adds; those that it takes back have a negative amount. */
export function paymentsOf({ added, changed }: Pick<BatchPlan, 'added' | 'changed'>): PaymentBetween[] {
  return [
    ...[...added, ...changed.map(({ after }) => after)].flatMap((row) => paymentOf(row)),
    ...changed.flatMap(({ before }) => paymentOf(before, { isTakenBack: true })),
  ]
}

function paymentOf(row: TransactionRow, { isTakenBack = false } = {}): PaymentBetween[] {
  const { counterparty_entity_id, currency, occurred_at, void_batch_id } = row
  if (counterparty_entity_id === null || void_batch_id !== null) return []
  const amount = isTakenBack ? `-${row.amount}` : row.amount
  return [{ counterpartyId: counterparty_entity_id, currency, amount, occurredAt: occurred_at }]
}
