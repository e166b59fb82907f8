import { combineAccounts } from '../../core/facts/cashflow/accounts/combine-accounts.ts'
import type { CashflowState } from '../../core/facts/cashflow/cashflow-state.ts'
import { ACCOUNT_KINDS, type AccountKind } from '../../core/vocabularies.ts'
import type { NewRow } from '../../store/schema/tables.ts'

/** What an account holds in one currency. */
export interface AccountBalance {
  currency: string
  transactions: number
  last_balance: number | null
}

/** An account of an entity. */
export interface ShownAccount {
  /** The end of the caller's id; null for what belongs to no named account. */
  masked: string | null
  kind: AccountKind
  holders: number
  currencies: AccountBalance[]
}

const ALL_DAYS = { after: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }
const UNITS_PER_MAJOR = 10_000

/** Describes the accounts of an entity; none if everything belongs to one unnamed account. */
export function describeAccounts(
  { accounts: terms, currencies }: CashflowState,
  rows: readonly NewRow<'bank_accounts'>[],
): ShownAccount[] {
  if (rows.length === 0) return []
  const balancesOf = (key: string) =>
    Object.entries(currencies).flatMap(([currency, { accounts }]): AccountBalance[] => {
      const account = Object.hasOwn(accounts, key) ? accounts[key] : undefined
      if (!account) return []
      const alone = combineAccounts({ accounts: { [key]: account }, streams: [] }, { terms, range: ALL_DAYS })
      const last = alone.accounts[0]!.lastBalance
      const last_balance = last === undefined ? null : last / UNITS_PER_MAJOR
      return [{ currency, transactions: account.transactions, last_balance }]
    })
  const named = rows.map(({ account, masked, kind, holders }) => ({
    masked,
    kind: ACCOUNT_KINDS.find((known) => known === kind) ?? 'current',
    holders: holders ?? 1,
    currencies: balancesOf(account),
  }))
  const unnamed = balancesOf('')
  if (unnamed.length === 0) return named
  return [...named, { masked: null, kind: 'current', holders: 1, currencies: unnamed }]
}
