import type { TransactionDirection } from '../vocabularies.ts'

/** One transaction of the entity's account; the caller has already removed duplicates. */
export interface TransactionFact {
  occurredAt: string
  externalId: string
  amount: number
  currency: string
  direction: TransactionDirection
  balanceAfter?: number
  /**
   * Four categories change how a transaction counts; any other is ordinary income or spending.
   * `own_transfer`: between accounts of the same entity, neither income nor spending.
   * `loan_proceeds`: borrowed money, not income.
   * `loan_repayment`: an instalment of an existing loan, which is spending and also debt service.
   * `returned_payment`: a payment that bounced; counted separately, neither income nor spending.
   */
  category?: string
}
