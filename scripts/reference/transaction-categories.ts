import { ORDINARY_CATEGORIES, PLAID_CATEGORIES } from '../../server/src/core/facts/cashflow/recognize-category.ts'
import {
  CATEGORY_SPELLINGS,
  TRANSACTION_CATEGORIES,
  type TransactionCategory,
} from '../../server/src/core/facts/cashflow/transaction-categories.ts'
import { code, codes, type Page, table } from './markdown.ts'

/** The transaction categories that are recognized, and how those of Plaid are read. */
export function transactionCategoriesPage(): Page {
  return {
    title: 'Transaction categories',
    lists: 'the values of `category` that are recognized in transactions',
    source: 'server/src/core/facts/cashflow/recognize-category.ts',
    body: [
      'Without a category, a credit is income and a debit is spending. A text that is not recognized changes nothing either; `unrecognized_categories` in the answer counts such texts. Capitals, spaces and hyphens make no difference: `Loan Repayment` is `loan_repayment`.',
      '## Which categories change how a transaction counts?',
      table(
        ['category', 'meaning', 'other spellings'],
        Object.entries(TRANSACTION_CATEGORIES).map(([name, meaning]) => [
          code(name),
          meaning,
          CATEGORY_SPELLINGS[name as TransactionCategory].map(code).join(', '),
        ]),
      ),
      '## Which categories are recognized and change nothing?',
      `${codes(ORDINARY_CATEGORIES)}.`,
      '## How are Plaid’s categories read?',
      'Send the detailed or the primary personal-finance category as `category`. A detailed category that is not listed is read as its primary category.',
      table(
        ['Plaid', 'read as'],
        Object.entries(PLAID_CATEGORIES).map(([name, category]) => [
          code(name),
          category === 'ordinary' ? 'ordinary income or spending' : code(category),
        ]),
      ),
      'Money from another account is not income. Money to another account (`TRANSFER_OUT_ACCOUNT_TRANSFER`) is spending, because it may pay a rent or a bill. The payment of a credit card is spending and not debt service. A debit without any of these categories counts as `loan_repayment` if its counterparty or description names a loan, a mortgage or an instalment.',
    ],
  }
}
