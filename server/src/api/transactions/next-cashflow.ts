import { setImmediate } from 'node:timers/promises'
import type { AccountsByKey } from '../../core/facts/cashflow/accounts/account-terms.ts'
import type { StatementBalanceFact } from '../../core/facts/cashflow/accounts/statement-balances.ts'
import { correctCashflow, planCorrection, type TransactionChange } from '../../core/facts/cashflow/correct-cashflow.ts'
import { applyCashflow, type EntityState, type TransactionFact } from '../../core/facts/entity-state.ts'
import { dayOf } from '../../core/graph/decay.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import { balanceFact } from './batch-balances.ts'
import type { BatchPlan, ChangedTransaction } from './plan-batch.ts'
import { transactionFact } from './transaction-row.ts'

/** What a batch changes in the state of an entity. */
export interface BatchFacts {
  plan: Pick<BatchPlan, 'added' | 'changed'>
  balances: readonly StatementBalanceFact[]
  accounts: AccountsByKey
}

/** The state of an entity after a batch: first with what it corrects, then with what it adds. */
export async function nextCashflow(
  store: EnvironmentStore,
  { organizationId, entityId, state }: { organizationId: string; entityId: string; state: EntityState },
  { plan: { added, changed }, balances, accounts }: BatchFacts,
): Promise<EntityState> {
  const counted = changed.filter(({ before }) => before.void_batch_id === null)
  const corrected = counted.length === 0 ? state : await correct(store, { organizationId, entityId, state }, counted)
  const revived = changed.filter(({ before }) => before.void_batch_id !== null).map(({ after }) => after)
  const fresh = [...added, ...revived].filter((row) => row.void_batch_id === null).map(transactionFact)
  return addByCurrency(corrected, { transactions: fresh, balances, accounts })
}

/** Derives the touched days again, from what is recorded on them. */
async function correct(
  store: EnvironmentStore,
  { organizationId, entityId, state }: { organizationId: string; entityId: string; state: EntityState },
  changed: readonly ChangedTransaction[],
): Promise<EntityState> {
  const changes = changed.map(
    ({ before, after }): TransactionChange => ({
      before: transactionFact(before),
      after: after.void_batch_id === null ? transactionFact(after) : null,
    }),
  )
  const plan =
    planCorrection(state.cashflow, changes) ??
    planCorrection(state.cashflow, changes, await newestDay(store, { organizationId, entityId }, changed))!
  const { days, uncovered } = plan
  const [transactions, balances] = await Promise.all([
    store.transactions.ofDays(organizationId, entityId, days),
    uncovered.length === 0 ? [] : store.transactions.balancesOfDays(organizationId, entityId, uncovered),
  ])
  const recorded = { transactions: transactions.map(transactionFact), balances: balances.map(balanceFact) }
  return { ...state, cashflow: correctCashflow(state.cashflow, changes, { plan, recorded }) }
}

/** The newest day of what is recorded, as the changes leave it. */
async function newestDay(
  store: EnvironmentStore,
  { organizationId, entityId }: { organizationId: string; entityId: string },
  changed: readonly ChangedTransaction[],
): Promise<number | null> {
  const unchanged = await store.transactions.newestDay(
    organizationId,
    entityId,
    changed.map(({ before }) => before),
  )
  const after = changed.filter((one) => one.after.void_batch_id === null).map((one) => dayOf(one.after.occurred_at))
  return [...after, ...(unchanged === null ? [] : [unchanged])].reduce(
    (newest: number | null, day) => Math.max(newest ?? day, day),
    null,
  )
}

/**
 * Adds to a state by currency. Each takes milliseconds, so other requests get their turn in between; the newest day comes
 * first, because it moves the window of all currencies.
 */
async function addByCurrency(
  state: EntityState,
  {
    transactions,
    balances,
    accounts,
  }: {
    transactions: readonly TransactionFact[]
    balances: readonly StatementBalanceFact[]
    accounts: AccountsByKey
  },
): Promise<EntityState> {
  const currencies = new Set([...transactions, ...balances].map(({ currency }) => currency))
  const parts = Array.from(currencies, (name) => {
    const part = {
      transactions: transactions.filter(({ currency }) => currency === name),
      balances: balances.filter(({ currency }) => currency === name),
    }
    const days = [
      ...part.transactions.map(({ occurredAt }) => dayOf(occurredAt)),
      ...part.balances.map(({ day }) => day),
    ]
    return { ...part, newestDay: days.reduce((newest, day) => Math.max(newest, day)) }
  })
  let next = applyCashflow(state, { accounts })
  for (const [index, part] of parts.sort((a, b) => b.newestDay - a.newestDay).entries()) {
    if (index > 0) await setImmediate()
    next = applyCashflow(next, part)
  }
  return next
}
