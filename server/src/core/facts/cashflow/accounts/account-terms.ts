import type { AccountKind } from '../../../vocabularies.ts'

/** What is known of an account; the last that a caller said counts. */
export interface AccountTerms {
  /** Without one it is a current account. */
  kind?: AccountKind
  /** How many people it belongs to; one if nothing was said. */
  holders?: number
}

/** What is known of the accounts that transactions name, by the key of the account. */
export type AccountsByKey = Readonly<Record<string, AccountTerms>>

/** What the transactions of a caller that names no account belong to. */
export const UNNAMED = ''

/** The most accounts that an entity can have: each has days of its own in the state. */
export const ACCOUNTS_MAX = 64

/** What counts of an account for one of its holders: a joint account belongs to them in equal parts. */
export function shareOf({ holders = 1 }: AccountTerms): number {
  return 1 / holders
}

/** Whether the balance of an account is money of its holder; that of a card or a loan is a debt. */
export function holdsMoney({ kind }: AccountTerms): boolean {
  return kind !== 'card' && kind !== 'loan'
}
