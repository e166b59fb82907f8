/** The categories that change how a transaction counts; with any other it is ordinary income or spending. */
export const TRANSACTION_CATEGORIES = {
  own_transfer: 'Money moved between accounts of the same entity: neither income nor spending.',
  loan_proceeds: 'Borrowed money that comes in: not income. On a debit the category has no effect.',
  loan_repayment: 'An instalment of an existing loan: spending, and also debt service. On a credit it has no effect.',
  returned_payment: 'A payment that bounced: neither income nor spending, but counted as a returned payment.',
} as const

/** A category that changes how a transaction counts. */
export type TransactionCategory = keyof typeof TRANSACTION_CATEGORIES

/** Whether a transaction has a category; a category that is not in the table does not compile. */
export function hasCategory(transaction: { category?: string }, category: TransactionCategory): boolean {
  return transaction.category === category
}
