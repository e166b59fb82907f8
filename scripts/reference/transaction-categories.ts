import { TRANSACTION_CATEGORIES } from '../../server/src/core/facts/transaction-categories.ts'
import { code, type Page, table } from './markdown.ts'

/** The transaction categories that change how a transaction counts. */
export function transactionCategoriesPage(): Page {
  return {
    title: 'Transaction categories',
    lists: 'the values of `category` that change how a transaction counts',
    source: 'server/src/core/facts/transaction-categories.ts',
    body: [
      'Without a category, or with any other text, a credit is income and a debit is spending.',
      table(
        ['category', 'meaning'],
        Object.entries(TRANSACTION_CATEGORIES).map(([name, meaning]) => [code(name), meaning]),
      ),
    ],
  }
}
