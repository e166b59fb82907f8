import { CATEGORY_SPELLINGS, TRANSACTION_CATEGORIES, type TransactionCategory } from './transaction-categories.ts'

/** The categories that are known and change nothing: the transaction is ordinary income or spending. */
export const ORDINARY_CATEGORIES = [
  'salary',
  'pension',
  'benefits',
  'interest',
  'dividends',
  'sales',
  'rent',
  'utilities',
  'insurance',
  'groceries',
  'taxes',
  'fees',
  'purchases',
  'cash_withdrawal',
  'cash_deposit',
  'credit_card_payment',
  'other',
] as const

/**
 * How Plaid's personal-finance categories are read: each maps to one of ours, or to an ordinary transaction. A detailed
 * category that is not listed is read as its primary category, the longest listed name that it starts with.
 *
 * Money that comes in from another account is not income. Money that goes out to another account is spending, because it
 * may be a rent or a bill; only savings and investments are the entity's own.
 */
export const PLAID_CATEGORIES: Readonly<Record<string, TransactionCategory | 'ordinary'>> = {
  INCOME: 'ordinary',
  TRANSFER_IN: 'ordinary',
  TRANSFER_IN_ACCOUNT_TRANSFER: 'own_transfer',
  TRANSFER_IN_SAVINGS: 'own_transfer',
  TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS: 'own_transfer',
  TRANSFER_IN_CASH_ADVANCES_AND_LOANS: 'loan_proceeds',
  TRANSFER_OUT: 'ordinary',
  TRANSFER_OUT_SAVINGS: 'own_transfer',
  TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS: 'own_transfer',
  LOAN_DISBURSEMENTS: 'loan_proceeds',
  LOAN_PAYMENTS: 'loan_repayment',
  LOAN_PAYMENTS_CREDIT_CARD_PAYMENT: 'ordinary',
  BANK_FEES: 'ordinary',
  BANK_FEES_INSUFFICIENT_FUNDS: 'returned_payment',
  ENTERTAINMENT: 'ordinary',
  FOOD_AND_DRINK: 'ordinary',
  GENERAL_MERCHANDISE: 'ordinary',
  HOME_IMPROVEMENT: 'ordinary',
  MEDICAL: 'ordinary',
  PERSONAL_CARE: 'ordinary',
  GENERAL_SERVICES: 'ordinary',
  GOVERNMENT_AND_NON_PROFIT: 'ordinary',
  TRANSPORTATION: 'ordinary',
  TRAVEL: 'ordinary',
  RENT_AND_UTILITIES: 'ordinary',
}

const RECOGNIZED = new Map<string, TransactionCategory | 'ordinary'>([
  ...ORDINARY_CATEGORIES.map((name) => [name, 'ordinary'] as const),
  ...Object.entries(PLAID_CATEGORIES).map(([name, category]) => [name.toLowerCase(), category] as const),
  ...(Object.keys(TRANSACTION_CATEGORIES) as TransactionCategory[]).flatMap((name) =>
    [name, ...CATEGORY_SPELLINGS[name]].map((spelling) => [spelling, name] as const),
  ),
])

/**
 * The category that a caller's text names, however it is spelled: `Loan Repayment`, `loan-repayment`, `loanRepayment` and
 * Plaid's `LOAN_PAYMENTS_CAR_PAYMENT` are all a loan repayment. Undefined if it is not recognized.
 */
export function recognizeCategory(text: string): TransactionCategory | 'ordinary' | undefined {
  // Most texts are spelled as documented.
  const exact = RECOGNIZED.get(text)
  if (exact !== undefined) return exact
  let name = plainName(text)
  while (name !== '') {
    const category = RECOGNIZED.get(name)
    if (category !== undefined && (name === plainName(text) || isPlaidPrimary(name))) return category
    name = name.slice(0, Math.max(0, name.lastIndexOf('_')))
  }
  return undefined
}

/** Only Plaid's names have details appended: `rent_deposit` of another vocabulary is not our `rent`. */
function isPlaidPrimary(name: string): boolean {
  return Object.hasOwn(PLAID_CATEGORIES, name.toUpperCase())
}

function plainName(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
}

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
