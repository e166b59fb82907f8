import { recognizeCategory } from './recognize-category.ts'
import type { TransactionCategory } from './transaction-categories.ts'

/** Words by which a debit is recognized as the repayment of a loan if its category does not say so. */
const LENDER = /\b(loans?|lending|mortgage|instal?lments?|kredit|darlehen|hypothek)\b/i

/** How a transaction counts: the category that its own category spells, or a payment to a recognized lender. */
export function kindOf(transaction: {
  category?: string
  direction: string
  counterparty?: string
  description?: string
}): TransactionCategory | undefined {
  const { category, direction, counterparty = '', description = '' } = transaction
  const recognized = category === undefined ? undefined : recognizeCategory(category)
  const kind = recognized === 'ordinary' ? undefined : recognized
  if (kind !== undefined || direction !== 'debit') return kind
  return LENDER.test(counterparty) || LENDER.test(description) ? 'loan_repayment' : undefined
}
