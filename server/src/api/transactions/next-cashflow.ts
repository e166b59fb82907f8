import { setImmediate } from 'node:timers/promises'
import type { AccountsByKey } from '../../core/facts/cashflow/accounts/account-terms.ts'
import type { StatementBalanceFact } from '../../core/facts/cashflow/accounts/statement-balances.ts'
import {
  CashflowCorrection,
  planCorrection,
  type TransactionChange,
} from '../../core/facts/cashflow/correct-cashflow.ts'
import { applyCashflow, type EntityState, type TransactionFact } from '../../core/facts/entity-state.ts'
import { dayOf } from '../../core/graph/decay.ts'
import type { SourceKind } from '../../core/vocabularies.ts'
import type { Violation } from '../../http/violation.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import type { KnownSource, TransactionRow } from '../../store/environment/transactions.ts'
import { balanceFact } from './batch-balances.ts'
import type { BatchPlan, ChangedTransaction } from './plan-batch.ts'
import { type SourceKinds, transactionFact } from './transaction-row.ts'

/** What a batch changes in the state of an entity. */
export interface BatchFacts {
  plan: Pick<BatchPlan, 'added' | 'changed'>
  /** The sources that the batch names. */
  sources: readonly KnownSource[]
  balances: readonly StatementBalanceFact[]
  accounts: AccountsByKey
}

/** An entity and its state before a batch. */
interface Before {
  organizationId: string
  entityId: string
  state: EntityState
}

/**
 * The state of an entity after a batch: first with what it corrects, then with what it adds; or the violation of a batch that
 * corrects more days than can be read at once.
 */
export async function nextCashflow(
  store: EnvironmentStore,
  before: Before,
  { plan: { added, changed }, sources, balances, accounts }: BatchFacts,
): Promise<{ state: EntityState } | { violations: Violation[] }> {
  const kinds = kindsOf(changed.length === 0 ? sources : [...(await recordedSources(store, before)), ...sources])
  const counted = changed.filter((one) => one.before.void_batch_id === null)
  const cashflow =
    counted.length === 0 ? before.state.cashflow : await correct(store, before, { changed: counted, kinds })
  if (cashflow === undefined) return { violations: [TOO_MUCH_TO_READ] }
  const revived = changed.filter((one) => one.before.void_batch_id !== null).map(({ after }) => after)
  const fresh = [...added, ...revived].filter((row) => row.void_batch_id === null).map(factWith(kinds))
  return { state: await addByCurrency({ ...before.state, cashflow }, { transactions: fresh, balances, accounts }) }
}

/** How many transactions are read for one batch with corrections: the recorded ones of all days that it touches. */
export const TRANSACTIONS_READ_MAX = 100_000
const DAYS_PER_READ = 10
/** How many recorded transactions are added to their days before other requests get their turn. */
const TRANSACTIONS_PER_TURN = 1_000

const TOO_MUCH_TO_READ: Violation = {
  param: '/transactions',
  message: `On the days of the transactions that this request corrects or voids, more than ${TRANSACTIONS_READ_MAX} are recorded. Correct those of fewer days in one request.`,
}

/** Derives the touched days again, from what is recorded on them; undefined if that is more than can be read. */
async function correct(
  store: EnvironmentStore,
  { organizationId, entityId, state }: Before,
  { changed, kinds }: { changed: readonly ChangedTransaction[]; kinds: SourceKinds },
): Promise<EntityState['cashflow'] | undefined> {
  const toFact = factWith(kinds)
  const changes = changed.map(
    ({ before, after }): TransactionChange => ({
      before: toFact(before),
      after: after.void_batch_id === null ? toFact(after) : null,
    }),
  )
  const plan =
    planCorrection(state.cashflow, changes) ??
    planCorrection(state.cashflow, changes, await newestDay(store, { organizationId, entityId }, changed))!
  const { days, uncovered } = plan
  const correction = new CashflowCorrection(state.cashflow, changes, plan)
  let left = TRANSACTIONS_READ_MAX
  for (let first = 0; first < days.length; first += DAYS_PER_READ) {
    const read = { days: days.slice(first, first + DAYS_PER_READ), max: left + 1 }
    const rows = await store.transactions.ofDays(organizationId, entityId, read)
    left -= rows.length
    if (left < 0) return undefined
    for (let turn = 0; turn < rows.length; turn += TRANSACTIONS_PER_TURN) {
      if (turn > 0) await setImmediate()
      correction.add({
        transactions: rows.slice(turn, turn + TRANSACTIONS_PER_TURN).map(toFact),
        balances: [],
      })
    }
  }
  if (uncovered.length > 0) {
    const balances = await store.transactions.balancesOfDays(organizationId, entityId, uncovered)
    correction.add({ transactions: [], balances: balances.map(balanceFact) })
  }
  return correction.close()
}

async function recordedSources(
  store: EnvironmentStore,
  { organizationId, entityId }: Before,
): Promise<readonly KnownSource[]> {
  const known = await store.transactions.knownSources(organizationId, entityId)
  return known.filter(({ provides }) => provides === 'transactions')
}

function kindsOf(sources: readonly KnownSource[]): SourceKinds {
  return new Map(sources.map(({ id, kind }) => [id, kind as SourceKind]))
}

function factWith(kinds: SourceKinds): (row: TransactionRow) => TransactionFact {
  return (row) => transactionFact(row, kinds)
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
