import {
  ACCOUNTS_MAX,
  type AccountsByKey,
  type AccountTerms,
} from '../../core/facts/cashflow/accounts/account-terms.ts'
import { ownProperty } from '../../core/stored-json.ts'
import type { Violation } from '../../http/violation.ts'
import { maskIdentifier } from '../../security/identifiers.ts'
import type { NewRow } from '../../store/schema/tables.ts'
import type { Account, IngestTransactionsRequest } from '../schemas/transaction.ts'

/** The accounts that a batch names, and what it says of them. */
export interface SaidOfAccounts {
  /** The key of an account: empty for the unnamed one. */
  keyOf(account: Account | undefined): string
  terms: AccountsByKey
  /** By key, for display. */
  masked: ReadonlyMap<string, string>
  violations: Violation[]
}

/** Gathers what a batch says of accounts, in its order; saying two things of one account is refused. */
export function saidOfAccounts(
  { transactions, balances = [] }: Pick<IngestTransactionsRequest, 'transactions' | 'balances'>,
  accountKey: (id: string) => string,
): SaidOfAccounts {
  const keys = new Map<string, string>()
  const terms: Record<string, AccountTerms> = {}
  const masked = new Map<string, string>()
  const violations: Violation[] = []
  const places = [
    ...transactions.map(({ account }, index) => ({ account, place: `/transactions/${index}/account` })),
    ...balances.map(({ account }, index) => ({ account, place: `/balances/${index}/account` })),
  ]
  for (const { account, place } of places) {
    if (!account) continue
    const { id, ...said } = account
    const key = keys.get(id) ?? accountKey(id)
    keys.set(id, key)
    const before = terms[key] ?? {}
    violations.push(...contradictions(place, said, before))
    terms[key] = { ...before, ...said }
    masked.set(key, masked.get(key) ?? maskIdentifier('bank_account', id))
  }
  return { keyOf: (account) => (account ? keys.get(account.id)! : ''), terms, masked, violations }
}

function contradictions(place: string, said: AccountTerms, before: AccountTerms): Violation[] {
  return (['kind', 'holders'] as const).flatMap((name) => {
    if (said[name] === undefined || before[name] === undefined || said[name] === before[name]) return []
    const message = `${name} is ${said[name]} here and ${before[name]} where the request names this account before. Give one of them.`
    return [{ param: `${place}/${name}`, message }]
  })
}

/** The rows of accounts that are new, or of which something else is known after a batch. */
export function changedAccounts(
  { terms, masked }: SaidOfAccounts,
  { before, after }: { before: AccountsByKey; after: AccountsByKey },
  { entity_id, now: updated_at }: { entity_id: string; now: string },
): NewRow<'bank_accounts'>[] {
  return Object.keys(terms)
    .filter((account) => ownProperty(before, account) !== ownProperty(after, account))
    .map((account) => {
      const { kind = null, holders = null } = after[account]!
      return { entity_id, account, masked: masked.get(account)!, kind, holders, updated_at }
    })
}

/** The violation of more accounts than an entity can have; none if it has fewer. */
export function tooManyAccounts(accounts: AccountsByKey, param: string): Violation[] {
  const count = Object.keys(accounts).length
  if (count <= ACCOUNTS_MAX) return []
  const message = `With the accounts named before, the entity would have ${count} accounts; it can have ${ACCOUNTS_MAX}. Leave out the accounts that matter least.`
  return [{ param, message }]
}
