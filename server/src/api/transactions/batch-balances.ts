import type { StatementBalanceFact } from '../../core/facts/cashflow/accounts/statement-balances.ts'
import { unitsOf } from '../../core/facts/units.ts'
import { dayOf } from '../../core/graph/decay.ts'
import { formatMoney, moneyOf, moneyOfText } from '../../core/money.ts'
import type { BalanceKind } from '../../core/vocabularies.ts'
import type { Violation } from '../../http/violation.ts'
import type { BalanceName, StatementBalanceRow } from '../../store/environment/transactions.ts'
import type { Account, StatementBalance } from '../schemas/transaction.ts'

/** What the row of a balance has besides what was sent of it. */
export type BalanceContext = Pick<StatementBalanceRow, 'entity_id' | 'batch_id' | 'entity_version' | 'provided_by'>

/** The rows of the balances of a batch, each once. */
export function balanceRows(
  balances: readonly StatementBalance[],
  keyOf: (account: Account | undefined) => string,
  context: BalanceContext,
): StatementBalanceRow[] {
  const rows = balances.map(({ account, currency, as_of, kind, amount }) => ({
    ...context,
    account: keyOf(account),
    currency,
    as_of,
    kind,
    amount: formatMoney(moneyOf(amount)),
  }))
  return [...new Map(rows.map((row) => [nameOfBalance(row), row])).values()]
}

/** Those of the balances that are not recorded as they are. */
export function newBalances(
  sent: readonly StatementBalanceRow[],
  recorded: readonly StatementBalanceRow[],
): StatementBalanceRow[] {
  const known = new Map(recorded.map((row) => [nameOfBalance(row), moneyOfText(row.amount)]))
  return sent.filter((row) => known.get(nameOfBalance(row)) !== moneyOfText(row.amount))
}

/** The balance of a row, as the state takes it. */
export function balanceFact(row: StatementBalanceRow): StatementBalanceFact {
  return {
    ...(row.account !== '' && { account: row.account }),
    currency: row.currency,
    day: dayOf(row.as_of),
    kind: row.kind as BalanceKind,
    units: unitsOf(moneyOfText(row.amount)),
  }
}

/** What is wrong with the balances of a batch: a day to come, or two amounts of one day. */
export function checkBalances(
  balances: readonly StatementBalance[],
  keyOf: (account: Account | undefined) => string,
  now: string,
): Violation[] {
  const first = new Map<string, { index: number; amount: number }>()
  return balances.flatMap(({ account, currency, as_of, kind, amount }, index) => {
    // Days are those of the bank, where it may be tomorrow.
    if (dayOf(as_of) > dayOf(now) + 1)
      return [
        { param: `/balances/${index}/as_of`, message: `as_of is in the future. Today is ${now.slice(0, 10)} (UTC).` },
      ]
    const name = nameOfBalance({ account: keyOf(account), currency, as_of, kind })
    const before = first.get(name) ?? { index, amount }
    first.set(name, before)
    if (before.amount === amount) return []
    const message = `amount differs from that of balances[${before.index}], which is the ${kind} balance of the same day. Give one of them.`
    return [{ param: `/balances/${index}/amount`, message }]
  })
}

function nameOfBalance({ account, currency, as_of, kind }: BalanceName): string {
  return `${account} ${currency} ${as_of} ${kind}`
}
