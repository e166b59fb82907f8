import { dayOf } from '../../graph/decay.ts'
import type { AccountsByKey } from './accounts/account-terms.ts'
import type { StatementBalanceFact } from './accounts/statement-balances.ts'
import type { CashflowState } from './cashflow-state.ts'
import { OpenCashflow } from './open-cashflow.ts'
import type { TransactionFact } from './transaction-fact.ts'

/** What a batch adds to a cash flow. */
export interface CashflowFacts {
  transactions?: readonly TransactionFact[]
  balances?: readonly StatementBalanceFact[]
  /** What the batch says of accounts. */
  accounts?: AccountsByKey
}

/** Adds transactions, statement balances and what is known of accounts. */
export function addToCashflow(
  state: CashflowState,
  { transactions = [], balances = [], accounts = {} }: CashflowFacts,
): CashflowState {
  const open = new OpenCashflow(state)
  open.addTerms(accounts)
  for (const transaction of transactions) open.add(transaction)
  for (const balance of balances) open.addStatement(balance)
  const days = [...transactions.map(({ occurredAt }) => dayOf(occurredAt)), ...balances.map(({ day }) => day)]
  return open.close(days.reduce((newest: number | null, day) => Math.max(newest ?? day, day), state.newestDay))
}
