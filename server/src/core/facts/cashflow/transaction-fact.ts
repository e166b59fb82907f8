import type { SourceKind, TransactionDirection } from '../../vocabularies.ts'

/** One transaction of an entity; the caller has already removed duplicates. */
export interface TransactionFact {
  /** The key of its account; absent if the caller named none. */
  account?: string
  occurredAt: string
  externalId: string
  amount: number
  currency: string
  direction: TransactionDirection
  balanceAfter?: number
  /** Any text; `transaction-categories.ts` lists the categories that change how the transaction counts. */
  category?: string
  description?: string
  /** The id or the name of the counterparty. */
  counterparty?: string
  /** Who provided it; absent if the caller did not say. */
  providedBy?: SourceKind
}
