import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyTransactions, emptyState } from '../../core/facts/entity-state.ts'
import { dayOf } from '../../core/graph/decay.ts'
import type { EnvironmentStore } from '../../store/environment/environment-store.ts'
import type { TransactionRow } from '../../store/environment/transactions.ts'
import { nextCashflow } from './next-cashflow.ts'
import { transactionFact } from './transaction-row.ts'

const NO_SOURCES = new Map()
const DAYS = 25
const PER_DAY = 250

const rows: TransactionRow[] = Array.from({ length: DAYS * PER_DAY }, (_, index) => ({
  entity_id: 'ent_1',
  account: '',
  external_id: `t-${index}`,
  batch_id: 'txb_1',
  occurred_at: new Date(Date.UTC(2026, 9, 1 + (index % DAYS), 12)).toISOString(),
  amount: '12.3400',
  currency: 'EUR',
  direction: index % 3 === 0 ? 'credit' : 'debit',
  balance_after: null,
  category: null,
  description: null,
  counterparty_name: null,
  counterparty_entity_id: null,
  provided_by: null,
  void_batch_id: null,
}))

/** A store that has these transactions, and answers at once. */
function storeOf(recorded: readonly TransactionRow[]) {
  const reads: { days: number; rows: number }[] = []
  const transactions = {
    async ofDays(_: string, __: string, { days, max }: { days: readonly number[]; max: number }) {
      const found = recorded.filter(({ occurred_at }) => days.includes(dayOf(occurred_at))).slice(0, max)
      reads.push({ days: days.length, rows: found.length })
      return found
    },
    async knownSources() {
      return []
    },
  }
  return { store: { transactions } as unknown as EnvironmentStore, reads }
}

test('a correction of many days reads some at a time, lets others have their turn, and equals a state from scratch', async () => {
  const state = applyTransactions(
    emptyState(),
    rows.map((row) => transactionFact(row, NO_SOURCES)),
  )
  const changed = rows.slice(0, DAYS).map((before) => ({ before, after: { ...before, amount: '99.0000' } }))
  const { store, reads } = storeOf(rows)
  let turns = 0
  let isDone = false
  const takeTurn = () => {
    turns += 1
    if (!isDone) setImmediate(takeTurn)
  }
  setImmediate(takeTurn)
  const facts = { plan: { added: [], changed }, sources: [], balances: [], accounts: {} }
  const next = await nextCashflow(store, { organizationId: 'org_1', entityId: 'ent_1', state }, facts)
  isDone = true
  assert.deepEqual(
    reads.map(({ days }) => days),
    [10, 10, 5],
  )
  assert.ok(turns >= 4, `${turns} turns of others`)
  const corrected = [...changed.map(({ after }) => after), ...rows.slice(DAYS)]
  assert.deepEqual(next, {
    state: applyTransactions(
      emptyState(),
      corrected.map((row) => transactionFact(row, NO_SOURCES)),
    ),
  })
})
